//===- DequantizeFma.cpp - weights that are dequantized in registers ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/kernel/contract/BlockLoops.h"
#include "passes/kernel/contract/DequantizeOnLoad.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
/// Dequantizes each weight in registers right before it is multiplied with few rows.
class DequantizeFma : public VectorKernel {
public:
  explicit DequantizeFma(const EmitterParts &parts)
      : VectorKernel(parts), dequantize(nest, problem, /*inRegisters=*/true) {}
  void emit() override { BlockLoops(parts, *this).emitBlocks(); }
  void limitBlock(BlockProblem &block) const override;
  RegisterBlock adjustBlock(RegisterBlock chosen) const override;
  bool allowsPackedRows() const override { return false; }
  bool emitsLoop(unsigned) const override { return true; }
  SmallVector<Value> emitLoops(Reduction &reduction, ArrayRef<unsigned> loops, const SumBlock &block,
                               ArrayRef<int64_t> rows, ValueRange sums) override;

private:
  DequantizeOnLoad dequantize;
};
} // namespace

/// Registers are reserved for stored weights during their conversion and, if steps share a scale, for the sums of such
/// a block of steps, which are separate from the total sums.
void DequantizeFma::limitBlock(BlockProblem &block) const {
  constexpr int64_t kConverted = 2; // limit: stored weights that are being converted
  bool hasSums = contraction.dequantization->scale && block.rows <= kMaxScaledSums;
  block.registers = (hasSums ? block.registers / 2 : block.registers) - kConverted;
  block.rows = std::min(block.rows, getMaxRowsInRegisters(contraction));
}

/// With a single row there are few sums, so a block spans whole panels, which are read in memory order.
RegisterBlock DequantizeFma::adjustBlock(RegisterBlock chosen) const {
  if (contraction.rowLoop && !isConstantIntValue(nest.getExtent(*contraction.rowLoop), 1))
    return chosen;
  return {1, contraction.panel / lanes};
}

SmallVector<Value> DequantizeFma::emitLoops(Reduction &, ArrayRef<unsigned>, const SumBlock &block,
                                            ArrayRef<int64_t> rows, ValueRange sums) {
  return dequantize.emitProducts(block.vectors, rows, sums,
                                 [&](int64_t row) { return parts.operands.loadElement(row, block.rows); });
}

static bool fits(const ContractionProblem &problem) { return problem.contraction.dequantization.has_value(); }

static std::optional<int64_t> getMaxRows(const ContractionProblem &problem) {
  return getMaxRowsInRegisters(problem.contraction);
}

const MicroKernelEntry tenon::kDequantizeFma = {
    .name = kernel::MicroKernel::dequantize_fma,
    .fits = fits,
    .create = createMicroKernel<DequantizeFma>,
    .getMaxRows = getMaxRows,
};
