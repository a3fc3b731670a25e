//===- DirectConvolution.cpp - a convolution as sums of products ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "passes/UsualSizes.h"
#include "passes/paths/Path.h"

using namespace mlir;
using namespace tenon;

namespace {
/// What the operation is by itself.
struct DirectConvolution : public Path {
  llvm::StringRef getName() const override { return "direct"; }

  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override {
    auto convolve = dyn_cast<ConvolveOp>(op);
    if (!convolve || !convolve.getType().getElementType().isF32())
      return std::nullopt;
    // Of an extent that is not known yet.
    constexpr int64_t kUsual = 64;
    // Border blocks, loads and sums that begin again for each window leave this much of the peak.
    constexpr double kShare = 0.75;
    UsualSizes usual(op->getParentOfType<func::FuncOp>());
    double products = 1, weights = 1;
    Dims result = getDims(convolve.getType()), filter = getDims(convolve.getFilter());
    for (AffineExpr dim : ArrayRef(result).drop_front())
      products *= usual.get(dim).value_or(kUsual);
    for (auto [i, dim] : llvm::enumerate(filter)) {
      weights *= usual.get(dim).value_or(kUsual);
      if (static_cast<int64_t>(i) != convolve.getFilterDim())
        products *= usual.get(dim).value_or(kUsual);
    }
    double compute = products / machine.getMultiplyAdds(sizeof(float)) / kShare;
    return std::max(compute, machine.getReadCycles(weights * sizeof(float)));
  }

  /// Of sums of some hundred products in f32.
  double measureError(Operation *) const override { return 4e-7; }

  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }
};
} // namespace

std::unique_ptr<Path> tenon::createDirectConvolution() { return std::make_unique<DirectConvolution>(); }
