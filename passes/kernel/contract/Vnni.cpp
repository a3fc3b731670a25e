//===- Vnni.cpp - dot products of four int8: vpdpbusd ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/kernel/contract/Int8Kernel.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
/// AVX-VNNI and AVX-512 VNNI.
class Vnni : public Int8Kernel {
public:
  using Int8Kernel::Int8Kernel;

protected:
  Value addProducts(Value sum, Value lhs, Value rhs) override {
    StringAttr name = b.getStringAttr("llvm.x86.avx512.vpdpbusd." + Twine(32 * lanes));
    return LLVM::CallIntrinsicOp::create(b, loc, sum.getType(), name, ValueRange{sum, lhs, rhs}).getResult(0);
  }
};
} // namespace

static bool fits(const ContractionProblem &problem) {
  return problem.contraction.dot4Loop && problem.int8Dot == Int8Dot::vnni;
}

const MicroKernelEntry tenon::kVnni = {
    .name = kernel::MicroKernel::vnni,
    .fits = fits,
    .create = createMicroKernel<Vnni>,
};
