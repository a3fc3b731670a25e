//===- ByteVectors.cpp - products of bytes in vector registers ----------===//
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
  llvm::StringRef getName() const override { return "quads"; }

  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override {
    if (!findK4Panels(op))
      return std::nullopt;
    // Sums that begin again and what is done to results leave this much of the peak.
    constexpr double kShare = 0.75;
    ProductShape shape = *getProductShape(op);
    // Where sums of several products are several instructions, these wait for each other now and then, but have ports
    // of their own.
    constexpr double kSeveral = 0.8;
    int64_t perLane = static_cast<int64_t>(machine.int8Dot);
    double perCycle = machine.getMultiplyAdds(sizeof(int32_t)) * perLane * (perLane == 4 ? 1 : kSeveral);
    return std::max(shape.getProducts() / perCycle / kShare, machine.getReadCycles(shape.getWeights()));
  }

  /// Sums of integers are exact.
  double measureError(Operation *) const override { return 0; }

  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }
};
} // namespace

std::unique_ptr<Path> tenon::createByteVectors() { return std::make_unique<ByteVectors>(); }
