//===- Bf16Dot2.cpp - dot products of two bf16 in vectors ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// vdpbf16ps (AVX512-BF16) adds two products of bf16 to each f32 of a vector. It
// reads columns in pairs of rows, as AMX tiles do. Factors of f32 are rounded where the
// error budget allows it.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "passes/Kernel.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"
#include "passes/paths/SplitProduct.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
class Bf16Dot2 : public Path {
public:
  Bf16Dot2(bool rounds, const PathPolicy &policy) : split{1, rounds}, policy(policy) {}
  llvm::StringRef getName() const override { return split.rounds ? kRoundedBf16Dot2Path : kBf16Dot2Path; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override {
    return split.rounds ? measureRoundingError(*findSplitProduct(op, split)) : kSumError;
  }
  double getLeastError(Operation *) const override { return split.rounds ? getLeastRoundingError() : kSumError; }
  bool isAsExact() const override { return !split.rounds; }
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override {
    return rewriteSplitProduct(op, split, rewriter);
  }

private:
  TermSplit split;
  PathPolicy policy;
};
} // namespace

std::optional<double> Bf16Dot2::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<SplitProduct> product = machine.bf16Pairs ? findSplitProduct(op, split) : std::nullopt;
  if (!product || product->rowTerms != 1)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  if (shape.depth < 1)
    return std::nullopt;
  int64_t depth = static_cast<int64_t>(shape.depth), step = chooseStep(depth);
  double steps = shape.repetitions * std::ceil(shape.depth / step);
  double cycles = shape.rows * shape.columns * steps * step / (2 * machine.getMultiplyAdds(sizeof(float)));
  cycles = std::max(cycles / (isa<ConvolveOp>(op) ? policy.bf16WindowShare : policy.bf16Share),
                    machine.getReadCycles(shape.getWeights() * product->getMatrixBytes()));
  // A separate kernel writes rows padded to whole steps, or images padded with a border of zeros.
  auto convolve = dyn_cast<ConvolveOp>(op);
  if (depth % step != 0 || (convolve && hasPadding(convolve)))
    cycles += policy.bf16SplitLaunch;
  return cycles;
}

std::unique_ptr<Path> tenon::createBf16Dot2(bool rounds, const PathPolicy &policy) {
  return std::make_unique<Bf16Dot2>(rounds, policy);
}
