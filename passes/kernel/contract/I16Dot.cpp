//===- I16Dot.cpp - dot products of two i16 -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/I16Pairs.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/VectorKernel.h"

using namespace mlir;
using namespace tenon;

namespace {
/// Multiplies pairs of i16 that are stored in an i32, as Winograd convolutions of int8 do.
class I16Dot : public BroadcastKernel {
public:
  using BroadcastKernel::BroadcastKernel;
  bool allowsKBlocks() const override { return true; }
  void limitBlock(BlockProblem &block) const override {
    // Products take registers before they are added.
    if (problem.int8Dot == Int8Dot::pmaddWd)
      block.registers -= 2;
  }

protected:
  Value multiplyAdd(Value sum, Value lhs, Value rhs) override {
    return addI16Dots(b, loc, problem.int8Dot, sum, lhs, rhs);
  }
};
} // namespace

static bool fits(const ContractionProblem &problem) { return problem.contraction.isPackedI16; }

const MicroKernelEntry tenon::kI16Dot = {
    .name = kernel::MicroKernel::i16_dot,
    .fits = fits,
    .create = createMicroKernel<I16Dot>,
};
