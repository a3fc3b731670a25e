//===- TileAccess.h - what the tiles of a kernel read and write ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LAUNCHES_TILEACCESS_H
#define TENON_PASSES_LAUNCHES_TILEACCESS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// True if each tile of `second`, a tiled kernel on tensors, reads no more of its argument `read` than the tile of
/// `first` with the same number writes of its destination `written`. Both kernels have the same number of tiles, and
/// both arguments the same type. False where it is not known.
bool readsOwnTile(mlir::func::FuncOp first, unsigned written, mlir::func::FuncOp second, unsigned read);

} // namespace tenon

#endif // TENON_PASSES_LAUNCHES_TILEACCESS_H
