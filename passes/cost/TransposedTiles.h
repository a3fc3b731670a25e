//===- TransposedTiles.h - how the result of a transpose is tiled ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_TRANSPOSEDTILES_H
#define TENON_PASSES_COST_TRANSPOSEDTILES_H

#include "passes/cost/ContractionTiles.h"
#include "passes/cost/TransposePolicy.h"

namespace tenon {

/// The layout of an elementwise operation's operand relative to its result. Dimensions are those of the result,
/// innermost first, without dimensions of 1.
struct TransposedDims {
  llvm::SmallVector<unsigned> units;           ///< innermost in both, and few elements in all
  llvm::SmallVector<unsigned> operand, result; ///< the dimensions around them, as each is stored
};

/// The number of elements of each dimension of the result in a tile of a transpose: some cache lines along what is
/// contiguous in the operand, too, so that no line is read twice, and so that registers can transpose blocks. A short
/// dimension is taken whole, with some of the next one; so is a dynamic one, which may be 1. `hints` are the extents of
/// the result, with size hints for dynamic ones. `target` counts elements of 32 bits: of narrower ones, a tile has
/// more.
llvm::SmallVector<int64_t> chooseTransposedTile(llvm::ArrayRef<Extent> hints, const TransposedDims &transposed,
                                                int64_t target, int64_t elementBits,
                                                const TransposePolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_TRANSPOSEDTILES_H
