//===- AmxBf16Pairs.cpp - products of pairs of bf16 in AMX tiles ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both operands have pairs of bf16 along the sum, in 32 bits each (Bf16Pairs.cpp): a row of 16 columns of the RHS is a
// row of an AMX tile. Those of the LHS are loaded as they are stored if pairs of a row are contiguous. The pairs of a
// sum are whole steps of equal length.
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/Amx.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
class AmxBf16Pairs : public AmxKernel {
public:
  using AmxKernel::AmxKernel;

private:
  int64_t getStepBytes() override;
  unsigned getStepLoop() override { return nest.getSummedLoops().back(); }
  void emitSteps(ArrayRef<Rows> rows, int64_t vectors) override;
};
} // namespace

/// Returns the number of steps of a sum of so many pairs.
static int64_t countSteps(int64_t pairs) {
  constexpr int64_t kMaxPairs = 16; // format: of a row of an AMX tile
  return llvm::divideCeil(pairs, kMaxPairs);
}

int64_t AmxBf16Pairs::getStepBytes() {
  constexpr int64_t kPairBytes = 4; // format: two bf16
  int64_t pairs = *nest.getStaticExtent(getStepLoop());
  return pairs / countSteps(pairs) * kPairBytes;
}

void AmxBf16Pairs::emitSteps(ArrayRef<Rows> rows, int64_t vectors) {
  unsigned loop = getStepLoop();
  const ElementRead &lhs = contraction.lhs, &rhs = contraction.rhs;
  Value lhsBytes = getRowBytes(lhs), rhsBytes = getStrideBytes(rhs, loop);
  int64_t pairs = *nest.getStaticExtent(loop);
  nest.forLoop(nest.constant(0), nest.constant(pairs), pairs / countSteps(pairs), [&](Value pair) {
    nest.moveTo(loop, pair);
    auto load = [&](int64_t tile, const ElementRead &read, int64_t column, Value rowBytes) {
      move("tileloadd64", tile, read.memory, nest.getIndices(read, 0, column), rowBytes);
    };
    auto loadLhs = [&](int64_t i) {
      nest.moveTo(*contraction.rowLoop, rows[i].first);
      load(kFirstLhs + i, lhs, 0, lhsBytes);
    };
    multiplyTiles("tdpbf16ps", int64_t(rows.size()), vectors, loadLhs,
                  [&](int64_t v) { load(kFirstRhs + v, rhs, v * kColumns, rhsBytes); });
  });
}

/// True if pairs of a row of the LHS follow one another in memory, and rows of the RHS are the same distance apart.
static bool areTilesInMemory(const Contraction &contraction, unsigned loop) {
  const ElementRead &lhs = contraction.lhs, &rhs = contraction.rhs;
  ArrayRef<AffineExpr> indices = lhs.map.getResults();
  return lhs.bounds.empty() && !indices.empty() && cast<MemRefType>(lhs.memory.getType()).isLastDimUnitStride() &&
         getStep(indices.back(), loop) == 1 &&
         llvm::none_of(indices.drop_back(), [&](AffineExpr index) { return index.isFunctionOfDim(loop); }) &&
         llvm::all_of(rhs.map.getResults(), [&](AffineExpr index) { return getStep(index, loop).has_value(); });
}

/// Tiles of the RHS have whole rows of columns, since no panel pads them.
static bool fits(const ContractionProblem &problem) {
  constexpr int64_t kLanes = 16; // format: columns of an AMX tile
  const Contraction &contraction = problem.contraction;
  kernel::ContractOp op = problem.op;
  if (problem.schedule.getMicroKernel() != kernel::MicroKernel::amx_bf16_pairs || !contraction.isPackedBf16 ||
      contraction.panel || problem.lanes != kLanes || !contraction.rowLoop || !hasConstantRowStride(contraction) ||
      op.getNumReductionLoops() != 1)
    return false;
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t pairs = extents[summed.front()], columns = extents[contraction.columnLoop];
  return !ShapedType::isDynamic(pairs) && pairs > 0 && pairs % countSteps(pairs) == 0 &&
         !ShapedType::isDynamic(columns) && columns % kLanes == 0 && areTilesInMemory(contraction, summed.front());
}

const MicroKernelEntry tenon::kAmxBf16Pairs = {
    .name = kernel::MicroKernel::amx_bf16_pairs,
    .fits = fits,
    .create = createMicroKernel<AmxBf16Pairs>,
    .rowStep = 32,
};
