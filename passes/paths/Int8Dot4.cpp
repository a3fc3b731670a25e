//===- Int8Dot4.cpp - int8 products in vector registers ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"

using namespace mlir;
using namespace tenon;

namespace {
/// The default implementation: dot products by the instructions of the target (cost/Int8Dot.h).
struct Int8Dot4 : public Path {
  explicit Int8Dot4(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "int8_dot4"; }

  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override {
    if (!findK4Panels(op))
      return std::nullopt;
    ProductShape shape = *getProductShape(op);
    int64_t perLane = static_cast<int64_t>(machine.int8Dot);
    double perCycle =
        machine.getMultiplyAdds(sizeof(int32_t)) * perLane * (perLane == 4 ? 1 : policy.int8SequenceShare);
    return std::max(shape.getProducts() / perCycle / policy.int8Share, machine.getReadCycles(shape.getWeights()));
  }

  /// Sums of integers are exact.
  double measureError(Operation *) const override { return 0; }

  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }

private:
  PathPolicy policy;
};
} // namespace

std::unique_ptr<Path> tenon::createInt8Dot4(const PathPolicy &policy) { return std::make_unique<Int8Dot4>(policy); }
