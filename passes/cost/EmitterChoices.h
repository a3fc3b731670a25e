//===- EmitterChoices.h - numbers that shape the loops of a contraction ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_EMITTERCHOICES_H
#define TENON_PASSES_COST_EMITTERCHOICES_H

#include "passes/cost/EmitterPolicy.h"
#include "passes/cost/PackingPolicy.h"
#include <optional>

namespace tenon {

/// The innermost summed loop of a register block.
struct InnerLoop {
  std::optional<int64_t> steps; ///< none if they are not known
  int64_t products;             ///< vector multiply-adds of a step
  bool isWindow;                ///< true if it is one of several summed loops, as those of a convolution are
  bool hasFewRegisters;         ///< true if the sums take nearly all registers of the target
};

/// Chooses how many steps of the loop are unrolled, so that the loop control and prefetches cost little beside the
/// products of a step. On targets with few registers the factor is small: a short loop is unrolled fully, and a
/// remainder loop follows a longer one. On other targets the factor divides the number of steps, and windows are not
/// unrolled, because unrolling slowed them down.
int64_t chooseUnrolledSteps(const InnerLoop &loop, const EmitterPolicy &policy = {});

/// The blocks of a summed loop: all but the last one have `size` iterations, and the last one may have fewer.
struct KBlocks {
  int64_t count, size;
};

/// Returns the K-blocks of a sum of `steps` elements of `elementBytes` bytes in a row; none if one block is enough. A
/// block has an even number of steps.
std::optional<KBlocks> chooseKBlocks(int64_t steps, int64_t elementBytes, const EmitterPolicy &policy = {});

/// True if the pixels of a depthwise convolution, `pixelBytes` apart, fall into so few sets of L1 that a register block
/// with a window of `taps` taps evicts its own lines. Some columns are packed then.
bool sharesFewSets(int64_t pixelBytes, int64_t taps, const PackingPolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_EMITTERCHOICES_H
