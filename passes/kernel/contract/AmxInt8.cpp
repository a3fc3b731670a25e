//===- AmxInt8.cpp - int8 dot products in AMX tiles -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "passes/kernel/contract/Amx.h"

using namespace mlir;
using namespace tenon;

/// Groups of four int8 in a row of an AMX tile, at most.
static constexpr int64_t kMaxDots = 16;

namespace {
class AmxInt8 : public AmxKernel {
public:
  using AmxKernel::AmxKernel;

private:
  int64_t getStepBytes() override;
  unsigned getStepLoop() override { return *contraction.dot4Loop; }
  int64_t countSummed() override;
  void emitSteps(ArrayRef<Rows> rows, int64_t vectors) override;
  void emitStep(ArrayRef<Rows> rows, int64_t vectors);
};
} // namespace

/// Steps are of equal length, and leave fewer than four int8 for each of them.
int64_t AmxInt8::getStepBytes() {
  int64_t dots = *nest.getStaticExtent(*contraction.dot4Loop) / 4;
  return dots / llvm::divideCeil(dots, kMaxDots) * 4;
}

int64_t AmxInt8::countSummed() {
  int64_t step = getStepBytes();
  return *nest.getStaticExtent(*contraction.dot4Loop) / step * step;
}

void AmxInt8::emitSteps(ArrayRef<Rows> rows, int64_t vectors) {
  unsigned loop = *contraction.dot4Loop;
  nest.forLoop(nest.constant(0), nest.constant(countSummed() / 4), getStepBytes() / 4, [&](Value dot) {
    nest.moveTo(loop, affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) * 4), dot));
    emitStep(rows, vectors);
  });
}

void AmxInt8::emitStep(ArrayRef<Rows> rows, int64_t vectors) {
  Value panelRow = nest.constant(contraction.panel * 4), rowBytes = getRowBytes(contraction.lhs);
  for (int64_t v = 0; v < vectors; ++v)
    move("tileloadd64", kFirstRhs + v, contraction.rhs.memory, nest.getIndices(contraction.rhs, 0, v * kColumns),
         panelRow);
  for (auto [i, part] : llvm::enumerate(rows)) {
    nest.moveTo(*contraction.rowLoop, part.first);
    move("tileloadd64", kFirstLhs + i, contraction.lhs.memory, nest.getIndices(contraction.lhs, 0, 0), rowBytes);
    multiply("tdpbusd", i, vectors);
  }
}

bool tenon::fitsAmxInt8(const ContractionProblem &problem, const LoopBuilder &nest) {
  const Contraction &contraction = problem.contraction;
  constexpr int64_t kPanel = 32, kLanes = 16;
  if (!contraction.dot4Loop || contraction.panel != kPanel || problem.lanes != kLanes || !problem.isFromZero ||
      !contraction.rowLoop || *contraction.dot4Loop + 1 != contraction.columnLoop)
    return false;
  std::optional<int64_t> depth = nest.getStaticExtent(*contraction.dot4Loop);
  return depth && *depth >= 4 && nest.getStaticExtent(contraction.columnLoop) && hasConstantRowStride(contraction);
}

std::unique_ptr<AmxKernel> tenon::createAmxInt8(LoopBuilder &nest, const ContractionProblem &problem,
                                                KBlocking &kBlocking, AmxHost host) {
  return std::make_unique<AmxInt8>(nest, problem, kBlocking, std::move(host));
}
