//===- AmxBf16.cpp - products of f32 in AMX tiles ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three bf16 terms hold all bits of an f32, and the six largest of their products have
// a smaller error than a sum of f32. Two terms hold 16 bits; three products of these
// have an error of some 1e-6. A matrix or rows of bf16 are one term. Three terms take
// one and a half times the bytes of the f32, so most matrices are stored as f32 and
// split by the kernel. The policy's throughput was measured beside vector code: loads of
// tiles from L2 and products overlap only in part (docs/performance/amx.md).
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"
#include "passes/paths/SplitProduct.h"
#include "passes/paths/split/Bf16Terms.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
class AmxBf16Path : public Path {
public:
  AmxBf16Path(TermSplit split, const PathPolicy &policy)
      : split(split), policy(policy),
        name(split.rounds             ? "bf16_rounded"
             : split.matrixTerms == 1 ? "bf16"
                                      : "bf16x" + std::to_string(countTermProducts(split.matrixTerms))) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *) const override { return split.rounds ? getLeastRoundingError() : 0; }
  bool isAsExact() const override { return !split.rounds && split.matrixTerms != 2; }
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override {
    return rewriteSplitProduct(op, split, rewriter);
  }

private:
  TermSplit split;
  PathPolicy policy;
  std::string name;
};
} // namespace

std::optional<double> AmxBf16Path::estimateCycles(Operation *op, const Machine &machine) const {
  constexpr int64_t kPair = 2; // format: bf16 in 32 bits
  std::optional<SplitProduct> product = machine.amxBf16 ? findSplitProduct(op, split) : std::nullopt;
  if (!product)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  std::optional<AmxSums> sums = countAmxSums(shape, kPair);
  if (!sums)
    return std::nullopt;
  double step = policy.getAmxStepCycles(product->countProducts(), product->rowTerms, product->matrixTerms);
  double cycles = sums->tiles * (sums->steps * step + policy.amxBf16SumCycles);
  if (product->isSplitWhenRead())
    cycles += shape.getWeights() * std::ceil(shape.rows / policy.amxTileRows) * policy.amxSplitOnLoadCycles +
              machine.getReadCycles(shape.getWeights() * product->getMatrixBytes()) * policy.amxSplitReadShare;
  cycles = std::max(cycles, machine.getReadCycles(shape.getWeights() * product->getMatrixBytes()));
  double elements = shape.rows * shape.depth * (isa<ConvolveOp>(op) ? 1 : shape.repetitions);
  if (auto convolve = dyn_cast<ConvolveOp>(op)) {
    elements *= skipsPixels(convolve) ? 1 : computeProduct(convolve.getStrides());
    if (hasPadding(convolve))
      cycles += elements * sizeof(float) / machine.llcBytesPerCycle;
  }
  double times = shape.depth > kMaxSplitDepth ? std::ceil(shape.columns / policy.amxTileColumns) : 1;
  return cycles + policy.amxBeginCycles +
         elements * (product->areRowsSplitWhenRead() ? times * policy.amxSplitOnLoadCycles : policy.amxSplitCycles);
}

double AmxBf16Path::measureError(Operation *op) const {
  if (split.rounds)
    return measureRoundingError(*findSplitProduct(op, split));
  // Each factor is rounded to two terms; half of this error holds for arbitrary numbers.
  constexpr double kTwoTermError = 6e-6; // math: an error bound
  return split.matrixTerms == 2 ? kTwoTermError : kSumError;
}

std::unique_ptr<Path> tenon::createAmxBf16Path(int64_t numTerms, bool rounds, const PathPolicy &policy) {
  return std::make_unique<AmxBf16Path>(TermSplit{numTerms, rounds}, policy);
}
