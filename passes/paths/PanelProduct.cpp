//===- PanelProduct.cpp - a product with a matrix in panels -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "passes/Kernel.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"

using namespace mlir;
using namespace tenon;

namespace {
/// What a product with a constant matrix of floats is by itself.
struct PanelProduct : public Path {
  llvm::StringRef getName() const override { return "panels"; }

  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override {
    if (!isa<ContractOp>(op) || !isProductOfFloats(op) || !findPanels(op))
      return std::nullopt;
    // Borders, and panels that come from the second cache, leave this much of the peak.
    constexpr double kShare = 0.9;
    return estimateFloats(op, machine, kShare);
  }

  double measureError(Operation *) const override { return kSumError; }
  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }
};
} // namespace

std::unique_ptr<Path> tenon::createPanelProduct() { return std::make_unique<PanelProduct>(); }
