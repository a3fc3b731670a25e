//===- AmxInt8Terms.cpp - products of int8 terms in AMX tiles -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of terms i and j count 256^-(i + j), so those of equal i + j are summed as integers, exactly, one power
// after the other: eight tiles have no room for the sums of several. The sums of all powers meet as f32.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/Amx.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/paths/split/Int8Terms.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
class AmxInt8Terms : public AmxKernel {
public:
  explicit AmxInt8Terms(const EmitterParts &parts) : AmxKernel(parts), terms(*contraction.terms) {}

private:
  int64_t getStepBytes() override { return terms.step; }
  unsigned getStepLoop() override { return terms.loop; }
  Type getSumType() override { return b.getI32Type(); }
  int64_t countSumBlocks() override { return countPowers(); }
  void emitBlock(ArrayRef<Rows> rows, int64_t vectors) override;
  void emitSteps(ArrayRef<Rows> rows, int64_t vectors) override {
    forTermSteps([&] { emitStep(rows, vectors); });
  }
  Value emitSum(const Rows &rows, Value ofTile, Value row, int64_t vector) override;
  void emitResults(const Rows &rows, Value ofTile, ValueRange sums, const SumBlock &block) override;
  int64_t countPowers() const { return static_cast<int64_t>(terms.lhs.size()); }
  void emitStep(ArrayRef<Rows> rows, int64_t vectors);
  Value getPlace(const Rows &rows, Value ofTile) { return arith::AddIOp::create(b, loc, rows.place, ofTile); }

  const FactorTerms &terms;
  int64_t power = 0; ///< i + j of the products that are summed
};
} // namespace

void AmxInt8Terms::emitBlock(ArrayRef<Rows> rows, int64_t vectors) {
  for (power = 0; power < countPowers(); ++power) {
    clearSums(rows, vectors);
    emitSums(rows, vectors);
    storeSums(power, rows, vectors);
  }
  finish(rows, vectors);
}

void AmxInt8Terms::emitStep(ArrayRef<Rows> rows, int64_t vectors) {
  Value rowBytes = getRowBytes(terms.lhs.front()), panelRow = nest.constant(contraction.panel * kInt8Neighbours);
  nest.moveTo(*contraction.rowLoop, rows.front().first);
  // The sums of the least power have most products to hide it behind.
  if (power + 1 == countPowers())
    parts.prefetch.prefetchTermPanels(vectors);
  for (int64_t term = 0; term <= power; ++term) {
    const ElementRead &lhs = terms.lhs[term], &rhs = terms.rhs[power - term];
    auto loadLhs = [&](int64_t i) {
      nest.moveTo(*contraction.rowLoop, rows[i].first);
      move("tileloadd64", kFirstLhs + i, lhs.memory, nest.getIndices(lhs, 0, 0), rowBytes);
    };
    multiplyTiles("tdpbssd", int64_t(rows.size()), vectors, loadLhs, [&](int64_t v) {
      move("tileloadd64", kFirstRhs + v, rhs.memory, nest.getIndices(rhs, 0, v * kColumns), panelRow);
    });
  }
}

/// Adds the sums of all powers, the largest last, to those of the K-blocks before.
Value AmxInt8Terms::emitSum(const Rows &rows, Value ofTile, Value row, int64_t vector) {
  auto vectorType = VectorType::get({lanes}, type);
  Value sum = getKBlocking() ? getKBlocking().loadSum(getPlace(rows, ofTile), 0, vector) : Value();
  for (int64_t i = countPowers(); i-- > 0;) {
    Value part = arith::SIToFPOp::create(b, loc, vectorType, loadSum(i, row, vector));
    if (i == 0) {
      sum = sum ? arith::AddFOp::create(b, loc, part, sum).getResult() : part;
      continue;
    }
    auto unit = DenseElementsAttr::get(vectorType, static_cast<float>(std::exp2(-kInt8TermBits * i)));
    Value factor = arith::ConstantOp::create(b, loc, unit);
    sum = sum ? vector::FMAOp::create(b, loc, part, factor, sum).getResult()
              : arith::MulFOp::create(b, loc, part, factor).getResult();
  }
  return sum;
}

void AmxInt8Terms::emitResults(const Rows &rows, Value ofTile, ValueRange sums, const SumBlock &block) {
  if (getKBlocking() && !getKBlocking().isLast())
    return getKBlocking().storeSums(getPlace(rows, ofTile), sums, block.vectors);
  AmxKernel::emitResults(rows, ofTile, sums, block);
}

/// Only this micro-kernel computes contractions of int8 terms, so a schedule need not name it.
static bool fits(const ContractionProblem &problem) {
  const Contraction &contraction = problem.contraction;
  constexpr int64_t kLanes = 16; // format: of panels for AMX tiles
  return contraction.terms && contraction.terms->areIntegers && problem.lanes == kLanes &&
         contraction.panel == kLanes && problem.isFromZero && contraction.rowLoop && hasConstantRowStride(contraction);
}

static bool implements(StringRef, const Contraction &contraction) {
  return contraction.terms && contraction.terms->areIntegers;
}

const MicroKernelEntry tenon::kAmxInt8Terms = {
    .name = kernel::MicroKernel::amx_i8_terms,
    .fits = fits,
    .create = createMicroKernel<AmxInt8Terms>,
    .implements = implements,
    .rowStep = 32,
};
