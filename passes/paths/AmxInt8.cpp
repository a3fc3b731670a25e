//===- AmxInt8.cpp - int8 products in AMX tiles ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A product of two AMX tiles takes as many cycles as it has rows or groups of four int8,
// whichever are more, and at least 16 between loads of other tiles, as measured (Intel 64
// and IA-32 Architectures Optimization Reference Manual, chapter 20, says the same).
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/Tenon.h"
#include "passes/Kernel.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
struct AmxInt8Path : public Path {
  explicit AmxInt8Path(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return kAmxInt8Path; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  /// Sums of integers are exact.
  double measureError(Operation *) const override { return 0; }
  bool isAsExact() const override { return true; }
  Operation *take(Operation *op, const Machine &machine, RewriterBase &rewriter) const override;

private:
  PathPolicy policy;
};
} // namespace

std::optional<double> AmxInt8Path::estimateCycles(Operation *op, const Machine &machine) const {
  // Rows and columns of an AMX tile, and bytes per row.
  constexpr double kRows = 16, kColumns = 16, kDepth = 64; // format: of AMX
  if (!machine.amxInt8 || !findK4Panels(op))
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  if (shape.depth < 4 || cast<RankedTensorType>(op->getResult(0).getType()).getRank() < 2)
    return std::nullopt;
  double tiles =
      shape.rows / shape.neighbours * std::ceil(shape.neighbours / kRows) * std::ceil(shape.columns / kColumns);
  double products = shape.repetitions * std::ceil(shape.depth / kDepth),
         cycles = tiles * (products * policy.getAmxStepCycles(1, 1, 1) + policy.amxInt8SumCycles);
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && hasPadding(convolve))
    cycles += shape.rows * shape.depth / machine.llcBytesPerCycle;
  return std::max(cycles, machine.getReadCycles(shape.getWeights()));
}

/// All rows of an AMX tile read the whole window.
Operation *AmxInt8Path::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && hasPadding(convolve))
    padWithZeros(rewriter, convolve);
  return op;
}

std::unique_ptr<Path> tenon::createAmxInt8Path(const PathPolicy &policy) {
  return std::make_unique<AmxInt8Path>(policy);
}
