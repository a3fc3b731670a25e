//===- DirectConvolution.cpp - a convolution as sums of products ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"
#include "passes/paths/Path.h"

#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
/// What the operation is by itself.
struct DirectConvolution : public Path {
  explicit DirectConvolution(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "direct"; }

  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override {
    auto convolve = dyn_cast<ConvolveOp>(op);
    Type type = convolve ? convolve.getType().getElementType() : Type();
    if (!convolve || !(type.isF32() || type.isInteger(32)) || findK4Panels(op))
      return std::nullopt;
    ProductShape shape = *getProductShape(op);
    double compute = shape.getProducts() / machine.getMultiplyAdds(sizeof(float));
    if (convolve.getChannelsLast())
      compute /= policy.directShare;
    else
      compute *= std::max(1.0, policy.firstLoadProducts * shape.groups / shape.columns) / policy.firstShare;
    // Vectors run along the last dimension of the result, filters or pixels: lanes are wasted if there are fewer of
    // them than lanes, or if the last vector is partial.
    if (shape.groups == 1 || shape.groups == shape.columns || !convolve.getChannelsLast()) {
      double vectors = getLastExtent(convolve) / getLanes(machine);
      compute *= std::ceil(vectors) / vectors;
    }
    return std::max(compute, machine.getReadCycles(shape.getWeights() * getElementBytes(op)));
  }

  double measureError(Operation *) const override { return kSumError; }

  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }

private:
  static double getLanes(const Machine &machine) { return static_cast<double>(machine.vectorBytes) / sizeof(float); }

  static double getLastExtent(ConvolveOp op) {
    return estimateExtent(SizeHints(op->getParentOfType<func::FuncOp>()), getDims(op.getType()).back());
  }

  PathPolicy policy;
};
} // namespace

std::unique_ptr<Path> tenon::createDirectConvolution(const PathPolicy &policy) {
  return std::make_unique<DirectConvolution>(policy);
}
