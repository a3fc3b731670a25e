//===- TileLoop.h - the loop over the tiles of a call ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TILELOOP_H
#define TENON_PASSES_KERNEL_TILELOOP_H

#include "mlir/IR/Builders.h"
#include <optional>

namespace tenon {

/// The offsets of a part of a kernel's argument; none where it is something else, which may change from tile
/// to tile.
std::optional<llvm::SmallVector<mlir::Value>> findTileOffsets(mlir::Value memory);

/// Whether some of `places`, which are computed in the loop over tiles that `op` stands in, are others than
/// they were for the tile that the thread computed before this one, in this call of the kernel or in the one
/// before it: what scratch memory has of that tile is of no use then. Null where this cannot be told.
mlir::Value emitIsNew(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange places);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TILELOOP_H
