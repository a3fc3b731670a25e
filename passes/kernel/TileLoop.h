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

/// Returns the offsets of a slice of a kernel's argument; none if `memory` is anything else, whose content may change
/// from tile to tile.
std::optional<llvm::SmallVector<mlir::Value>> findTileOffsets(mlir::Value memory);

/// Emits a condition that is true if some of `places`, which are computed in the loop over tiles around `op`, differ
/// from those of the tile that the thread computed before, in this or the preceding call of the kernel: then the
/// scratch data of that tile is stale. Null if this cannot be decided.
mlir::Value emitIsNew(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange places);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TILELOOP_H
