//===- AmxFloats.cpp - products of f32 in tile registers -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three parts of bf16 have all bits of an f32, so that six products of parts are
// off by less than a sum of f32 is. Two have 16, and three products of these are off
// by some millionths. A matrix of bf16 is a part by itself, and so are rows. Three
// parts have half as many bytes again as the f32: most matrices are stored whole,
// and cut by the kernel. How fast that is was measured beside vectors, which run at
// a higher clock: half of what the instructions alone could do in the same time.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/PartProduct.h"
#include "passes/paths/Path.h"
#include "passes/paths/parts/FloatParts.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
class AmxFloats : public Path {
public:
  /// One part is for matrices of bf16 alone, the others are for those of f32.
  AmxFloats(int64_t numParts, const PathPolicy &policy)
      : numParts(numParts), policy(policy),
        name(numParts == 1 ? "bf16" : "bf16x" + std::to_string(countPartProducts(numParts))) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  bool isAsExact() const override { return numParts != 2; }
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override {
    return takePartProduct(op, numParts, rewriter);
  }

private:
  int64_t numParts;
  PathPolicy policy;
  std::string name;
};
} // namespace

std::optional<double> AmxFloats::estimateCycles(Operation *op, const Machine &machine) const {
  constexpr double kRows = 16; // format: rows of an AMX tile
  std::optional<PartProduct> product = machine.amxBf16 ? findPartProduct(op, numParts) : std::nullopt;
  if (!product || cast<RankedTensorType>(op->getResult(0).getType()).getRank() < 2)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  if (shape.depth < 1)
    return std::nullopt;
  double tiles =
      shape.rows / shape.neighbours * std::ceil(shape.neighbours / kRows) * std::ceil(shape.columns / kPartColumns);
  double steps = shape.repetitions * std::ceil(shape.depth / chooseStep(shape.depth));
  double cycles =
      tiles * (steps * product->countProducts() * policy.amxProductCycles / policy.amxShare + policy.amxBf16SumCycles);
  if (product->isCutWhenRead())
    cycles += shape.getWeights() * std::ceil(shape.rows / policy.amxTileRows) * policy.amxSplitOnLoadCycles;
  cycles = std::max(cycles, machine.getReadCycles(shape.getWeights() * product->getMatrixBytes()));
  double elements = shape.rows * shape.depth * (isa<ConvolveOp>(op) ? 1 : shape.repetitions);
  if (auto convolve = dyn_cast<ConvolveOp>(op)) {
    elements *= skipsPixels(convolve) ? 1 : computeProduct(convolve.getStrides());
    if (hasPadding(convolve))
      cycles += elements * sizeof(float) / machine.llcBytesPerCycle;
  }
  double times = shape.depth > kMaxCutDepth ? std::ceil(shape.columns / policy.amxTileColumns) : 1;
  return cycles + policy.amxBeginCycles +
         elements * (product->areRowsCutWhenRead() ? times * policy.amxSplitOnLoadCycles : policy.amxSplitCycles);
}

double AmxFloats::measureError(Operation *) const {
  // Each factor is rounded to two terms, which leaves half of this error, for any numbers.
  constexpr double kTwoTermError = 6e-6; // math: an error bound
  return numParts == 2 ? kTwoTermError : kSumError;
}

std::unique_ptr<Path> tenon::createAmxFloats(int64_t numParts, const PathPolicy &policy) {
  return std::make_unique<AmxFloats>(numParts, policy);
}
