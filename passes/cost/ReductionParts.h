//===- ReductionParts.h - parts of long sums ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_REDUCTIONPARTS_H
#define TENON_PASSES_COST_REDUCTIONPARTS_H

#include "passes/cost/TilePolicy.h"

namespace tenon {

/// A matmul whose sums may be computed in parts (split-K).
struct LongSums {
  double rows, columns; ///< of the result
  int64_t depth;        ///< the extent of the summed dimension that is split
  double products;      ///< for each element along that dimension
};

/// Returns the number of tiles that the result of a matmul has at least.
double countReductionTiles(double rows, double columns, const TilePolicy &policy = {});

/// Returns into how many equal parts the sums are split, each with enough products for a tile of its own; 1 if the
/// result has tiles for all threads anyway, of which there are `numTiles`, if no part would be large enough, if the
/// partial results would be large beside the operands, or if the depth has no divisor of about the right size.
int64_t chooseReductionParts(const LongSums &sums, double numTiles, const TilePolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_REDUCTIONPARTS_H
