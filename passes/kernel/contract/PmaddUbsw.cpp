//===- PmaddUbsw.cpp - dot products of two int8 that fit i16: vpmaddubsw --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel.h"
#include "passes/kernel/K4Groups.h"
#include "passes/kernel/contract/Int8Kernel.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
/// The sum of two products saturates at 16 bits, so this micro-kernel is only chosen by a path that has checked the
/// weights (passes/paths/Int8Dot2.cpp).
class PmaddUbsw : public Int8Kernel {
public:
  using Int8Kernel::Int8Kernel;

protected:
  Value addProducts(Value sum, Value lhs, Value rhs) override {
    auto pairs = VectorType::get({2 * lanes}, b.getI16Type());
    Value products = callX86Vector(
        b, loc, pairs, 32 * lanes,
        {"llvm.x86.avx512.pmaddubs.w.512", "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.ssse3.pmadd.ub.sw.128"}, {lhs, rhs});
    Value ones = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(pairs, b.getI16IntegerAttr(1)));
    return addPmaddWd(b, loc, sum, products, ones);
  }
};
} // namespace

static bool fits(const ContractionProblem &problem) {
  return problem.contraction.dot4Loop && problem.schedule.getMicroKernel() == kernel::MicroKernel::pmaddubsw;
}

static bool implements(StringRef path, const Contraction &) { return path == kInt8Dot2Path; }

const MicroKernelEntry tenon::kPmaddUbsw = {
    .name = kernel::MicroKernel::pmaddubsw,
    .fits = fits,
    .create = createMicroKernel<PmaddUbsw>,
    .implements = implements,
};
