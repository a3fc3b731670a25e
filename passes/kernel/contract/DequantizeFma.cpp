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
/// Dequantizes each weight right before it is multiplied with few rows.
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

/// The sums of a block of steps that have one scale are apart from those of all steps, and stored weights are in
/// registers while they are converted.
void DequantizeFma::limitBlock(BlockProblem &block) const {
  block.registers = block.registers / 2 - 2;
  block.rows = std::min(block.rows, kMaxRowsInRegisters);
}

/// A single row has few sums: it reads whole panels, in the order of memory.
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

static std::optional<int64_t> getMaxRows(const ContractionProblem &) { return kMaxRowsInRegisters; }

const MicroKernelEntry tenon::kDequantizeFma = {
    .name = kernel::MicroKernel::dequantize_fma,
    .fits = fits,
    .create = createMicroKernel<DequantizeFma>,
    .getMaxRows = getMaxRows,
};
