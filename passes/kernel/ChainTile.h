//===- ChainTile.h - what a tile reads of the loop nest before --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CHAINTILE_H
#define TENON_PASSES_KERNEL_CHAINTILE_H

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::func {
class FuncOp;
}

namespace tenon {

/// Returns the reshape between the two loop nests of a kernel (passes/fusion/Chains.h): a tensor.expand_shape or
/// tensor.collapse_shape whose attribute has the tile; null if there is only one loop nest.
mlir::Operation *findLink(mlir::func::FuncOp kernel);

/// Returns how many of `extent` lines of images a contraction reads for a tile of `lines` lines of its result, before
/// it is tiled; none if they cannot be told.
std::optional<int64_t> countLinesOfTile(kernel::ContractOp reader, int64_t lines, int64_t extent);

/// Fuses the first loop nest, which stands before the loop over tiles, into the loop: each iteration computes the part
/// that its tile reads, in memory of constant size. Fails if a tile reads anything but whole lines of one image.
mlir::LogicalResult computeLinkInTiles(mlir::RewriterBase &rewriter, mlir::scf::ForOp tiles, mlir::Operation *link);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CHAINTILE_H
