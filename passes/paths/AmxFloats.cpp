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
  explicit AmxFloats(int64_t numParts)
      : numParts(numParts), name(numParts == 1 ? "bf16" : "bf16x" + std::to_string(countPartProducts(numParts))) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  bool isAsExact() const override { return numParts != 2; }
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override {
    return takePartProduct(op, numParts, rewriter);
  }

private:
  int64_t numParts;
  std::string name;
};
} // namespace

std::optional<double> AmxFloats::estimateCycles(Operation *op, const Machine &machine) const {
  // Of a tile register; cycles for a product, for what happens to the sums of a tile, for an element that
  // becomes parts, for one that the product's kernel cuts, and until it all begins; and what is reached of it all. A
  // tile of some rows reads all of the matrix, and where sums are long one of some columns cuts the rows again.
  constexpr double kRows = 16, kProduct = 16, kSums = 64, kSplit = 1, kCut = 0.2, kBegin = 20000, kShare = 0.5,
                   kRowsOfTile = 512, kColumnsOfTile = 192;
  std::optional<PartProduct> product = machine.amxBf16 ? findPartProduct(op, numParts) : std::nullopt;
  if (!product || cast<RankedTensorType>(op->getResult(0).getType()).getRank() < 2)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  if (shape.depth < 1)
    return std::nullopt;
  double tiles =
      shape.rows / shape.neighbours * std::ceil(shape.neighbours / kRows) * std::ceil(shape.columns / kPartColumns);
  double steps = shape.repetitions * std::ceil(shape.depth / chooseStep(shape.depth));
  double cycles = tiles * (steps * product->countProducts() * kProduct / kShare + kSums);
  if (product->isCutWhenRead())
    cycles += shape.getWeights() * std::ceil(shape.rows / kRowsOfTile) * kCut;
  cycles = std::max(cycles, machine.getReadCycles(shape.getWeights() * product->getMatrixBytes()));
  double elements = shape.rows * shape.depth * (isa<ConvolveOp>(op) ? 1 : shape.repetitions);
  if (auto convolve = dyn_cast<ConvolveOp>(op)) {
    elements *= skipsPixels(convolve) ? 1 : computeProduct(convolve.getStrides());
    if (hasPadding(convolve))
      cycles += elements * sizeof(float) / machine.llcBytesPerCycle;
  }
  double times = shape.depth > kMaxCutDepth ? std::ceil(shape.columns / kColumnsOfTile) : 1;
  return cycles + kBegin + elements * (product->areRowsCutWhenRead() ? times * kCut : kSplit);
}

double AmxFloats::measureError(Operation *) const {
  // Of sums of products of two parts each, with any numbers: half of what rounding leaves of each factor.
  constexpr double kOfTwoParts = 6e-6;
  return numParts == 2 ? kOfTwoParts : kSumError;
}

std::unique_ptr<Path> tenon::createAmxFloats(int64_t numParts) { return std::make_unique<AmxFloats>(numParts); }
