//===- Bf16Pairs.cpp - dot products of pairs of bf16: vdpbf16ps ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both operands have pairs of bf16 along the sum, in 32 bits each: activations that a kernel rounds itself, as
// attention does, which are stored in no panels (Bf16Dot.cpp). Without the instruction, each pair takes two
// multiply-adds.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/Bf16Pairs.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/Bf16Dot.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/VectorKernel.h"

using namespace mlir;
using namespace tenon;

namespace {
class Bf16Pairs : public BroadcastKernel {
public:
  using BroadcastKernel::BroadcastKernel;
  bool allowsKBlocks() const override { return true; }
  void limitBlock(BlockProblem &block) const override {
    // The numbers of a pair take registers before they are multiplied.
    if (!hasInstruction())
      block.registers -= 4;
  }

protected:
  Value multiplyAdd(Value sum, Value lhs, Value rhs) override;

private:
  bool hasInstruction() const { return problem.bf16Pairs && lanes == kBf16DotLanes; }
};
} // namespace

Value Bf16Pairs::multiplyAdd(Value sum, Value lhs, Value rhs) {
  if (hasInstruction()) {
    auto bf16s = VectorType::get({2 * lanes}, b.getBF16Type());
    return addBf16Dots(b, loc, sum, vector::BitCastOp::create(b, loc, bf16s, lhs),
                       vector::BitCastOp::create(b, loc, bf16s, rhs));
  }
  auto [lowerLhs, upperLhs] = kernel::widenBf16Pair(b, loc, lhs);
  auto [lowerRhs, upperRhs] = kernel::widenBf16Pair(b, loc, rhs);
  sum = vector::FMAOp::create(b, loc, upperLhs, upperRhs, sum);
  return vector::FMAOp::create(b, loc, lowerLhs, lowerRhs, sum);
}

static bool fits(const ContractionProblem &problem) { return problem.contraction.isPackedBf16; }

const MicroKernelEntry tenon::kBf16Pairs = {
    .name = kernel::MicroKernel::bf16_pairs,
    .fits = fits,
    .create = createMicroKernel<Bf16Pairs>,
};
