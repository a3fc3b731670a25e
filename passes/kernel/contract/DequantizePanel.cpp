//===- DequantizePanel.cpp - weights that are dequantized a panel at a time -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/BlockLoops.h"
#include "passes/kernel/contract/DequantizeOnLoad.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
/// Dequantizes a panel to scratch once for many rows, which are then multiplied with it.
class DequantizePanel : public BroadcastKernel {
public:
  explicit DequantizePanel(const EmitterParts &parts)
      : BroadcastKernel(parts), dequantize(nest, problem, /*inRegisters=*/false) {}
  void emit() override { BlockLoops(parts, *this).emitBlocks(); }
  void limitBlock(BlockProblem &block) const override { block.columns = std::min(block.columns, contraction.panel); }
  void beginBlocks(RegisterBlock block) override {
    parts.operands.setRhs(dequantize.beginPanels(block.vectors * lanes));
  }
  void endBlocks() override { parts.operands.reset(); }
  void packColumns(int64_t vectors) override { dequantize.packPanel(vectors); }

protected:
  Value multiplyAdd(Value sum, Value lhs, Value rhs) override { return vector::FMAOp::create(b, loc, lhs, rhs, sum); }

private:
  DequantizeOnLoad dequantize;
};
} // namespace

static bool fits(const ContractionProblem &problem) { return problem.contraction.dequantization.has_value(); }

const MicroKernelEntry tenon::kDequantizePanel = {
    .name = kernel::MicroKernel::dequantize_panel,
    .fits = fits,
    .create = createMicroKernel<DequantizePanel>,
};
