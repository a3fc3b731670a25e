//===- Int8Mul.cpp - products of int8 by 32-bit multiplications -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/K4Groups.h"
#include "passes/kernel/contract/Int8Kernel.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
/// For targets without int8 or i16 dot products: extends one of the four i8 of a group at a time to 32 bits.
class Int8Mul : public Int8Kernel {
public:
  using Int8Kernel::Int8Kernel;
  /// The four extended elements of a group are in registers together.
  void limitBlock(BlockProblem &block) const override { block.registers -= 4; }

protected:
  VectorType getWideType() { return VectorType::get({lanes}, b.getI32Type()); }
  SmallVector<Value> splitRhs(Value groups) override { return splitSignedK4Groups(b, loc, getWideType(), groups); }
  SmallVector<Value> splitLhs(Value group) override {
    return splitUnsignedK4Groups(b, loc, getWideType(), broadcastK4Group(b, loc, group, lanes));
  }
  Value addProducts(Value sum, Value lhs, Value rhs) override {
    return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, lhs, rhs));
  }
};
} // namespace

static bool fits(const ContractionProblem &problem) { return problem.contraction.dot4Loop.has_value(); }

const MicroKernelEntry tenon::kInt8Mul = {
    .name = kernel::MicroKernel::i8_mul,
    .fits = fits,
    .create = createMicroKernel<Int8Mul>,
};
