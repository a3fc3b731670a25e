//===- FmaColumnwise.cpp - multiply-adds of a depthwise convolution -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Both operands are loaded in vectors of columns. All taps of a small window are in registers together, so that each
// element of the input is loaded once for all rows that read it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/VectorKernel.h"

using namespace mlir;
using namespace tenon;

namespace {
class FmaColumnwise : public VectorKernel {
public:
  using VectorKernel::VectorKernel;
  bool emitsLoop(unsigned loop) const override { return parts.border.isWindow(loop) && parts.border.unrollsTaps(); }
  SmallVector<Value> emitLoops(Reduction &reduction, ArrayRef<unsigned> loops, const SumBlock &block,
                               ArrayRef<int64_t> rows, ValueRange sums) override;
  SmallVector<Value> emitStep(const SumBlock &block, ArrayRef<int64_t> rows, ValueRange sums) override;

private:
  Value loadRhs(int64_t vector, const SumBlock &block) {
    return parts.operands.loadVector(parts.operands.getRhs(), 0, vector, block);
  }
};
} // namespace

SmallVector<Value> FmaColumnwise::emitStep(const SumBlock &block, ArrayRef<int64_t> rows, ValueRange sums) {
  SmallVector<Value> results(sums);
  SmallVector<Value> columns =
      llvm::map_to_vector(llvm::seq(block.vectors), [&](int64_t v) { return loadRhs(v, block); });
  for (int64_t row : rows)
    for (int64_t v = 0; v < block.vectors; ++v) {
      Value &sum = results[row * block.vectors + v];
      Value element = parts.operands.loadVector(parts.operands.getLhs(), row, v, block);
      sum = vector::FMAOp::create(b, loc, element, columns[v], sum);
    }
  return results;
}

/// Emits all taps of the window, ordered by the elements that they read, each of which is loaded once.
SmallVector<Value> FmaColumnwise::emitLoops(Reduction &, ArrayRef<unsigned> loops, const SumBlock &block,
                                            ArrayRef<int64_t> rows, ValueRange sums) {
  struct Tap {
    int64_t place, row, number;
  };
  const WindowLoop &window = *problem.window;
  bool isDynamic = parts.border.getMode() == BorderMode::dynamicBorder;
  SmallVector<Tap> taps;
  for (int64_t row : rows) {
    auto [first, last] = isDynamic ? std::pair<int64_t, int64_t>(0, window.taps) : parts.border.getKnownRange(row);
    for (int64_t tap = first; tap < last; ++tap)
      taps.push_back({row * window.stride + tap * window.dilation, row, tap});
  }
  llvm::sort(taps, [](const Tap &a, const Tap &b) { return std::pair(a.place, a.row) < std::pair(b.place, b.row); });
  for (unsigned loop : loops)
    nest.moveTo(loop, nest.constant(0));
  SmallVector<Value> results(sums), pixel(block.vectors);
  llvm::SmallDenseMap<std::pair<int64_t, int64_t>, Value> columns;
  std::optional<int64_t> place;
  for (const Tap &tap : taps) {
    nest.moveTo(window.loop, nest.constant(tap.number));
    for (int64_t v = 0; v < block.vectors; ++v) {
      Value &column = columns[{tap.number, v}], &sum = results[tap.row * block.vectors + v];
      if (!column)
        column = loadRhs(v, block);
      if (place != tap.place)
        pixel[v] = parts.operands.loadVector(parts.operands.getLhs(), tap.row, v, block,
                                             isDynamic ? parts.border.isTapInBounds(tap.row) : Value());
      sum = vector::FMAOp::create(b, loc, pixel[v], column, sum);
    }
    place = tap.place;
  }
  return results;
}

static bool fits(const ContractionProblem &problem) { return problem.contraction.isColumnwise; }

const MicroKernelEntry tenon::kFmaColumnwise = {
    .name = kernel::MicroKernel::fma_columnwise,
    .fits = fits,
    .create = createMicroKernel<FmaColumnwise>,
};
