//===- PathPolicy.h - how fast the paths of an operation are -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_PATHPOLICY_H
#define TENON_PASSES_COST_PATHPOLICY_H

#include <cstdint>

namespace tenon {

/// The coefficients of the cost estimates of paths (passes/paths). A share is that of the peak which a path reaches.
struct PathPolicy {
  /// Direct convolutions: border blocks, loads, and sums that begin again for each window.
  double directShare = 0.75;
  /// Matmuls with a packed weight: borders, and panels that are read from L2.
  double panelShare = 0.9;
  /// Matmuls without a packed operand: rows of a matrix are far apart, so that few of them are in L1 at a time.
  double plainShare = 0.7;
  /// Int8 matmuls in vectors: sums that begin again, and the epilogue.
  double int8Share = 0.75;
  /// A factor for int8 dot products of several instructions, which wait for each other now and then.
  double int8SequenceShare = 0.8;
  /// Products that vpmaddubsw and the additions, which have a port of their own, compute in a lane for a
  /// multiplication.
  double pmaddUbswProducts = 2;
  /// Matmuls of pairs of bf16 in vectors.
  double bf16Share = 0.9;
  /// The same for convolutions, whose sums begin again for each window.
  double bf16WindowShare = 0.8;
  /// Cycles of a separate kernel that splits or pads rows.
  double bf16SplitLaunch = 20000;
  /// Weights of fixed-point numbers: cycles in which a vector of integers is converted.
  double fixedVectorCycles = 1.5;
  /// AMX: cycles of an instruction that multiplies two tiles, and of storing the sums of a tile, for int8 and bf16.
  double amxProductCycles = 16, amxInt8SumCycles = 48, amxBf16SumCycles = 64;
  /// AMX with bf16: cycles to split an element into bf16 terms in a kernel of its own, and in that of the matmul.
  double amxSplitCycles = 1, amxSplitOnLoadCycles = 0.2;
  /// AMX with bf16: cycles until the first product, and the share of the instructions' peak that was measured.
  double amxBeginCycles = 20000, amxShare = 0.5;
  /// AMX with bf16: rows of a tile, each of which splits the weight again, and columns of one if sums are long.
  double amxTileRows = 512, amxTileColumns = 192;
  /// Winograd with three spatial dimensions: cycles to concatenate the channels of frames, for each byte.
  double frameCyclesPerByte = 0.4;
  /// A path that is less exact than the default one is taken if all operations together save this share of cycles.
  double minSavedShare = 0.01;
};

} // namespace tenon

#endif // TENON_PASSES_COST_PATHPOLICY_H
