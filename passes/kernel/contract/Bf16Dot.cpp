//===- Bf16Dot.cpp - dot products of two bf16: vdpbf16ps -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane of a vector adds two products of bf16 to its f32 (vdpbf16ps, AVX512-BF16).
// Columns are stored in pairs of rows, as AMX tiles load them (tenon.unpack_terms).
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/Bf16Dot.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Kernel.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/VectorKernel.h"

using namespace mlir;
using namespace tenon;

namespace {
class Bf16Dot : public VectorKernel {
public:
  using VectorKernel::VectorKernel;
  bool emitsLoop(unsigned loop) const override { return loop == contraction.terms->loop; }
  SmallVector<Value> emitLoops(Reduction &reduction, ArrayRef<unsigned> loops, const SumBlock &block,
                               ArrayRef<int64_t> rows, ValueRange sums) override;

private:
  SmallVector<Value> emitPair(int64_t vectors, ArrayRef<int64_t> rows, Value pair, ValueRange sums);
};
} // namespace

Value tenon::addBf16Dots(OpBuilder &b, Location loc, Value sums, Value x, Value y) {
  return LLVM::CallIntrinsicOp::create(b, loc, sums.getType(), b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
                                       ValueRange{sums, x, y})
      .getResult(0);
}

/// Adds the products of pair `pair` in the current step.
SmallVector<Value> Bf16Dot::emitPair(int64_t vectors, ArrayRef<int64_t> rows, Value pair, ValueRange sums) {
  auto bf16s = VectorType::get({2 * lanes}, b.getBF16Type()), floats = VectorType::get({lanes}, type);
  SmallVector<Value> columns, results(sums);
  for (int64_t v = 0; v < vectors; ++v) {
    SmallVector<Value> indices = nest.getIndices(contraction.rhs, 0, v * lanes);
    indices.end()[-2] = pair;
    columns.push_back(vector::LoadOp::create(b, loc, bf16s, contraction.rhs.memory, indices));
  }
  for (int64_t row : rows) {
    SmallVector<Value> indices = nest.getIndices(contraction.lhs, row, 0);
    indices.back() = nest.compute(b.getAffineSymbolExpr(0) * 2, {pair});
    Value both = vector::LoadOp::create(b, loc, VectorType::get({2}, b.getBF16Type()), contraction.lhs.memory, indices);
    Value pairBits = vector::BitCastOp::create(b, loc, VectorType::get({1}, type), both);
    Value factor =
        vector::BroadcastOp::create(b, loc, floats, vector::ExtractOp::create(b, loc, pairBits, ArrayRef<int64_t>{0}));
    factor = vector::BitCastOp::create(b, loc, bf16s, factor);
    for (int64_t v = 0; v < vectors; ++v) {
      Value &sum = results[row * vectors + v];
      sum = addBf16Dots(b, loc, sum, factor, columns[v]);
    }
  }
  return results;
}

/// Both operands are padded with zeros beyond the summed dimension.
SmallVector<Value> Bf16Dot::emitLoops(Reduction &, ArrayRef<unsigned>, const SumBlock &block, ArrayRef<int64_t> rows,
                                      ValueRange sums) {
  const FactorTerms &terms = *contraction.terms;
  int64_t depth = *nest.getStaticExtent(terms.loop), pairs = terms.step / 2;
  assert(pairs > 0 && terms.step % 2 == 0 && "an instruction multiplies pairs of bf16");
  auto steps = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(llvm::divideCeil(depth, terms.step)),
                                  nest.constant(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(steps.getBody());
  nest.moveTo(terms.loop, nest.compute(b.getAffineSymbolExpr(0) * terms.step, {steps.getInductionVar()}));
  int64_t unrolled = pairs % 2 == 0 ? 2 : 1;
  auto inner = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(pairs), nest.constant(unrolled),
                                  steps.getRegionIterArgs());
  scf::YieldOp::create(b, loc, inner.getResults());
  b.setInsertionPointToStart(inner.getBody());
  SmallVector<Value> results(inner.getRegionIterArgs());
  for (int64_t i = 0; i < unrolled; ++i)
    results =
        emitPair(block.vectors, rows, nest.compute(b.getAffineSymbolExpr(0) + i, {inner.getInductionVar()}), results);
  scf::YieldOp::create(b, loc, results);
  return steps.getResults();
}

/// Both operands are one bf16 term, with whole vectors of columns in a panel.
static bool fits(const ContractionProblem &problem) {
  const Contraction &contraction = problem.contraction;
  return problem.schedule.getMicroKernel() == kernel::MicroKernel::bf16_dot && contraction.terms &&
         !contraction.terms->areIntegers && !contraction.terms->splitsRhs() && contraction.terms->lhs.size() == 1 &&
         contraction.terms->rhs.size() == 1 && problem.lanes == kBf16DotLanes && contraction.panel > 0 &&
         contraction.panel % kBf16DotLanes == 0;
}

static bool implements(StringRef path, const Contraction &) {
  return path == kBf16Dot2Path || path == kRoundedBf16Dot2Path;
}

const MicroKernelEntry tenon::kBf16Dot = {
    .name = kernel::MicroKernel::bf16_dot,
    .fits = fits,
    .create = createMicroKernel<Bf16Dot>,
    .implements = implements,
    .rowStep = 32,
};
