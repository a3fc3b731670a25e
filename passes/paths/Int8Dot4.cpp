//===- Int8Dot4.cpp - products of bytes in vector registers ----------===//
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
/// What the operation is by itself (cost/Int8Dot.h).
struct ByteVectors : public Path {
  explicit ByteVectors(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "quads"; }

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

std::unique_ptr<Path> tenon::createByteVectors(const PathPolicy &policy) {
  return std::make_unique<ByteVectors>(policy);
}
