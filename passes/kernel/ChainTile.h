//===- ChainTile.h - what a tile reads of the loop nest before --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CHAINTILE_H
#define TENON_PASSES_KERNEL_CHAINTILE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::func {
class FuncOp;
}

namespace tenon {

/// The reshape between two loop nests of a kernel (passes/fusion/Chains.h): a tensor.expand_shape or
/// tensor.collapse_shape, which says what tiles are to have; null where there is one loop nest.
mlir::Operation *findLink(mlir::func::FuncOp kernel);

/// Computes in each iteration of the loop over tiles what this tile reads of the first loop nest, which stands before
/// the loop; in memory of the tile's own, of constant size. Fails where it reads anything else than whole lines of one
/// image.
mlir::LogicalResult computeLinkInTiles(mlir::RewriterBase &rewriter, mlir::scf::ForOp tiles, mlir::Operation *link);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CHAINTILE_H
