//===- Fma.cpp - multiply-adds of floating-point vectors ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/PackTile.h"
#include "passes/kernel/contract/VectorKernel.h"

using namespace mlir;
using namespace tenon;

namespace {
class Fma : public BroadcastKernel {
public:
  using BroadcastKernel::BroadcastKernel;
  bool allowsKBlocks() const override { return true; }
  void emit() override;

protected:
  Value multiplyAdd(Value sum, Value lhs, Value rhs) override { return vector::FMAOp::create(b, loc, lhs, rhs, sum); }
};
} // namespace

void Fma::emit() {
  if (std::optional<ElementRead> packed = packTile(nest, problem))
    parts.operands.setLhs(*packed, /*group=*/1);
  BroadcastKernel::emit();
}

static bool fits(const ContractionProblem &problem) {
  const Contraction &contraction = problem.contraction;
  return isa<FloatType>(problem.type) && !contraction.isColumnwise && !contraction.dequantization &&
         !contraction.integerGroups && !contraction.terms && !contraction.isPackedBf16;
}

const MicroKernelEntry tenon::kFma = {
    .name = kernel::MicroKernel::fma,
    .fits = fits,
    .create = createMicroKernel<Fma>,
};
