//===- Chains.h - convolutions whose input is computed in the same kernel -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution of single pixels is a product of rows, and so has a reshape
// before it, and after it, where its neighbour is a convolution of images. What
// is between the two is read once: a kernel of both computes it tile by tile,
// in memory of its own.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FUSION_CHAINS_H
#define TENON_PASSES_FUSION_CHAINS_H

#include "dialects/tenon/Tenon.h"
#include "passes/cost/ChainPolicy.h"
#include "passes/cost/Machine.h"

namespace tenon {

/// Two loop nests that one kernel can compute.
struct ChainMatch {
  mlir::Operation *first;                        ///< the loop nest that comes first
  llvm::SmallVector<mlir::Operation *> elements; ///< elementwise operations on its result, in the order of the block
  ReshapeOp link;                                ///< between what they give and the second one
  mlir::Operation *second;
};

/// Returns the chain of the loop nests before and after a reshape, if there is one. The paths of both are chosen.
std::optional<ChainMatch> matchChain(ReshapeOp link, const ChainPolicy &policy);

/// A kernel of both loop nests, beside a kernel for each.
struct ChainPlan {
  llvm::SmallVector<int64_t> tile; ///< of the second one's result, how many elements of each dimension
  double cycles, separateCycles;   ///< of all cores, for all images
};

/// Returns the plan with the best tiles; none if no tile fits the cache, or sizes are not known.
std::optional<ChainPlan> planChain(const ChainMatch &match, const Machine &machine, const ChainPolicy &policy);

} // namespace tenon

#endif // TENON_PASSES_FUSION_CHAINS_H
