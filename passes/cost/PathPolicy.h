//===- PathPolicy.h - how fast the paths of an operation are -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_PATHPOLICY_H
#define TENON_PASSES_COST_PATHPOLICY_H

#include "passes/cost/Machine.h"
#include <cstdint>

namespace tenon {

/// The fraction of the peak that products of vectors reach.
struct VectorShare {
  double share;
  double l2Bound; ///< the same on targets whose products wait for L2

  double get(const Machine &machine) const { return machine.l2Bound ? l2Bound : share; }
};

/// The coefficients of the cost estimates of paths (passes/paths). A share is the fraction of the peak that a path
/// reaches.
struct PathPolicy {
  /// Direct convolutions: they lose cycles to border blocks, loads, and the latency at the start of each window's sum.
  double directShare = 0.75;
  /// Direct convolutions with channels first, whose input is padded in memory. A vector of pixels begins anywhere in a
  /// cache line; to load it takes as long as so many multiply-adds, of which there is one for each filter.
  double firstShare = 0.9, firstLoadProducts = 2;
  /// Matmuls with a packed weight: they lose cycles to border blocks and to panels that are read from L2.
  VectorShare panelShare{0.9, 0.78};
  /// Matmuls without a packed operand: the rows of a matrix are far apart, so that L1 holds few of them at a time.
  double plainShare = 0.7;
  /// Products of halves: the share of the peak of the seven products, which read panels from L2; what takes as long as
  /// so many multiply-adds of vectors: to sum a vector of each half of a pair of rows, to sum one of each half of a
  /// pair of panels, and to store and sum one of the products of both; and the share of these sums that a product must
  /// save for measurements to look at it.
  VectorShare strassenShare{0.91, 0.62};
  double strassenRowProducts = 30, strassenPanelProducts = 4, strassenResultProducts = 46, leastStrassenSums = 0.5;
  /// With fewer rows, reading panels again for each product takes longer than the products.
  int64_t leastStrassenRows = 16;
  /// Int8 matmuls in vectors: they lose cycles to the latency at the start of each sum, and to the epilogue.
  double int8Share = 0.75;
  /// A factor for int8 dot products that take several dependent instructions.
  double int8SequenceShare = 0.8;
  /// Int8 products of groups that have scales: they lose cycles to scaling, and cycles for each element of a row to
  /// rounding it.
  VectorShare int8GroupShare{0.55, 0.4};
  double int8RoundCycles = 1;
  /// Products of 16 bits in groups: the share of the peak, and the instructions for each group that scale its sums.
  VectorShare int16Share{0.92, 0.57};
  double int16GroupInstructions = 4;
  /// The same share for convolutions, which begin a sum for each window.
  VectorShare int16WindowShare{0.85, 0.5};
  /// Int8 products of images or rows with one scale: cycles for each element to find the scale and to round by it.
  double int8RoundedElementCycles = 0.75;
  /// Images of fewer channels are rounded pixel by pixel, not in vectors; the cycles for each element.
  int64_t fewChannels = 8;
  double fewChannelRoundCycles = 3.5;
  /// The largest magnitude of an image is that of its parts of so many elements, at least and at most: a tile each.
  int64_t leastMagnitudePart = 1024, mostMagnitudePart = 8192;
  /// The products per 32-bit lane that one vpmaddubsw replaces; the additions run on another port.
  double pmaddUbswProducts = 2;
  /// Matmuls of pairs of bf16 in vectors.
  double bf16Share = 0.9;
  /// The same for convolutions, which start a sum for each window.
  double bf16WindowShare = 0.8;
  /// Products of f16 in vectors, and instructions on the units of multiply-adds for each block of an f16 sum, which add
  /// its chains and convert it to f32 (docs/performance/f16-products.md).
  VectorShare f16Share{0.85, 0.57};
  double f16BlockInstructions = 11;
  /// The same share for convolutions, which convert a block for each pixel of a window at least.
  VectorShare f16WindowShare{0.8, 0.54};
  /// Cycles for each element of a row to find the scale and to round by it.
  double f16RoundedElementCycles = 0.75;
  /// Cycles of a separate kernel that splits or pads rows.
  double bf16SplitLaunch = 20000;
  /// Weights of fixed-point numbers: cycles to convert a vector of integers.
  double fixedVectorCycles = 1.5;
  /// AMX: cycles of an instruction that multiplies two tiles, of loading one from L2, and of storing the sums of one,
  /// for int8 and bf16.
  double amxProductCycles = 16, amxLoadCycles = 21, amxInt8SumCycles = 48, amxBf16SumCycles = 64;
  /// AMX with int8 terms: cycles to store and to convert the sums of a tile for each power, and, for each element of a
  /// row, cycles to find its scale and to split off a term.
  double amxInt8TermSumCycles = 100, amxMagnitudeCycles = 0.25, amxInt8SplitCycles = 0.5;
  /// AMX with bf16: cycles to split an element into bf16 terms in a kernel of its own, and in that of the matmul.
  double amxSplitCycles = 1, amxSplitOnLoadCycles = 0.2;
  /// The share of the time to read a matrix that the kernel splits, which products do not hide: rows are split as they
  /// arrive.
  double amxSplitReadShare = 0.5;
  /// AMX with bf16: start-up cycles of a kernel, and the measured share of the rate at which products and loads follow
  /// each other.
  double amxBeginCycles = 20000, amxShare = 0.75;
  /// AMX with bf16: rows of a tile, each of which splits the weight again, and columns of a tile if the sums are long.
  double amxTileRows = 256, amxTileColumns = 192;
  /// Winograd with three spatial dimensions: cycles per byte to concatenate the channels of frames.
  double frameCyclesPerByte = 0.4;
  /// A path that is less exact than the default one is taken if all operations together save this share of cycles.
  double minSavedShare = 0.01;

  /// AMX: cycles of a step of one tile of sums, which adds `products` to it. Each loaded tile is multiplied with two
  /// others, so a step has half a load for each term of either factor.
  double getAmxStepCycles(int64_t products, int64_t lhsTerms, int64_t rhsTerms) const {
    double loads = static_cast<double>(lhsTerms + rhsTerms) / 2;
    return (static_cast<double>(products) * amxProductCycles + loads * amxLoadCycles) / amxShare;
  }
};

} // namespace tenon

#endif // TENON_PASSES_COST_PATHPOLICY_H
