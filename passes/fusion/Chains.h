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

namespace tenon {

struct Chain {
  mlir::Operation *first;          ///< the loop nest that comes first
  ReshapeOp link;                  ///< between what it gives and the second one
  llvm::SmallVector<int64_t> tile; ///< of the second one's result, how many elements of each dimension
  double savedCycles;              ///< by a kernel of both
};

/// Returns the chains of a block that are faster as one kernel. An operation is in one of them at most.
llvm::SmallVector<Chain> findChains(mlir::Block &block, const ChainPolicy &policy);

} // namespace tenon

#endif // TENON_PASSES_FUSION_CHAINS_H
