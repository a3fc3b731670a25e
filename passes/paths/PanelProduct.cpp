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
/// The default implementation of a floating-point matmul with a constant matrix.
struct PanelProduct : public Path {
  explicit PanelProduct(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "panels"; }

  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override {
    if (!isa<ContractOp>(op) || !isProductOfFloats(op) || !findPanels(op))
      return std::nullopt;
    return estimateFloats(op, machine, policy.panelShare.get(machine));
  }

  double measureError(Operation *) const override { return kSumError; }
  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }

private:
  PathPolicy policy;
};
} // namespace

std::unique_ptr<Path> tenon::createPanelProduct(const PathPolicy &policy) {
  return std::make_unique<PanelProduct>(policy);
}
