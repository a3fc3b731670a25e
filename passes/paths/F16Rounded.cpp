//===- F16Rounded.cpp - products of floats rounded to f16 -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Multiply-adds of f16 (AVX512-FP16, Arm's FEAT_FP16) have twice the rate of those of
// f32. Both factors are rounded to f16: the matrix at compile time, scaled by a power of
// two; rows at run time, each scaled by a power of two that its largest magnitude gives. A
// window has elements of many pixels, so all of an image have one scale.
// Sums are f16 within short blocks, which cannot overflow by these scales, and f32 beyond
// (f16/F16Blocks.h, kernel/contract/F16Fma.cpp). The operation keeps its meaning for
// every other kernel: a product of f32 that are widened f16.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/TenonBuilder.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/RegisterBlock.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/LargestMagnitude.h"
#include "passes/paths/Path.h"
#include "passes/paths/PowerScales.h"
#include "passes/paths/SplitProduct.h"
#include "passes/paths/f16/F16Blocks.h"
#include "passes/precision/ConstantMatrices.h"
#include <cassert>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;

namespace {
/// A matmul of rows, or a convolution of images, with a constant matrix of floats.
struct F16Product {
  OpOperand *rows, *matrix;
  WeightOp weight; ///< the matrix as it is stored, in floats of any width
  MatrixAxes axes;
  int64_t firstSummed; ///< the dimension of the rows from which on elements share a scale
};

struct F16Rounded : public Path {
  explicit F16Rounded(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return kRoundedF16Path; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *op) const override;
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override;

private:
  PathPolicy policy;
};

/// A matrix of f16, which is 2^exponent times that of the product.
struct F16Matrix {
  AsmResourceBlob numbers;
  std::vector<double> squares, errors; ///< sums over each column
  int exponent;
  bool fits; ///< f16 has all elements but for rounding
};
} // namespace

/// Matches a contraction, or a convolution with channels last and one group, of f32 with a matrix of floats that only
/// such read.
static std::optional<F16Product> findProduct(Operation *op) {
  if (!isa<ContractOp, ConvolveOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op))
    return std::nullopt;
  auto contract = dyn_cast<ContractOp>(op);
  for (OpOperand &matrix : op->getOpOperands()) {
    WeightOp weight = findFloatWeight(matrix, [](Operation *user) { return isa<ContractOp, ConvolveOp>(user); });
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(matrix) : std::nullopt;
    RankedTensorType type = axes ? weight.getType() : RankedTensorType();
    if (!type || type.getNumElements() == 0 || type.getDimSize(axes->columns) < kFewColumns)
      continue;
    OpOperand &rows = op->getOpOperand(1 - matrix.getOperandNumber());
    if (contract && (type.getRank() != 2 || !keepsRows(contract, rows)))
      continue;
    int64_t last = cast<RankedTensorType>(rows.get().getType()).getRank() - 1;
    return F16Product{&rows, &matrix, weight, *axes, contract ? last : 1};
  }
  return std::nullopt;
}

/// Returns the number of products that are summed without a gap: of a convolution, the channels of a pixel.
static int64_t getDepth(const F16Product &product) {
  return WeightOp(product.weight).getType().getDimSize(product.axes.depth);
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// A vector of f16 has twice the elements of one of f32. Few rows take as long as it takes to read the matrix, which
/// other paths store in fewer bits.
std::optional<double> F16Rounded::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<F16Product> product = machine.f16Fma ? findProduct(op) : std::nullopt;
  if (!product)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  if (shape.rows <= kMaxRowsInRegisters)
    return std::nullopt;
  // A sum that is shorter than a block, or what is left of one, ends with the conversion of a block, too.
  auto depth = static_cast<double>(getDepth(*product));
  double blocks = isa<ConvolveOp>(op) ? std::ceil(depth / kF16BlockProducts) : depth / kF16BlockProducts;
  double instructions = 1 + policy.f16BlockInstructions * blocks / depth;
  double share = (isa<ConvolveOp>(op) ? policy.f16WindowShare : policy.f16Share).get(machine);
  double cycles = std::max(shape.getProducts() / (2 * machine.getMultiplyAdds(sizeof(float))) * instructions / share,
                           machine.getReadCycles(shape.getWeights() * sizeof(uint16_t)));
  // Kernels find the largest magnitudes, make scales of these, and round; those of images are found line by line first,
  // and the reciprocals of scales are stored.
  const double launches = isa<ConvolveOp>(op) ? 5 : 3; // math: those
  return cycles + launches * machine.launchCycles +
         countRoundedElements(op, shape) * getRoundingCycles(op, policy.f16RoundedElementCycles, policy);
}

/// Rounds the matrix, scaled by a power of two.
static F16Matrix roundMatrix(const F16Product &product) {
  constexpr size_t kAlignment = 64; // format: of weights
  WeightOp weight = product.weight;
  RankedTensorType type = weight.getType();
  FloatKind kind = *getFloatKind(type.getElementType());
  const char *source = getBytes(weight.getValue())->data();
  int64_t count = type.getNumElements(), bytes = type.getElementTypeBitWidth() / 8,
          columns = type.getDimSize(product.axes.columns),
          stride = computeProduct(type.getShape().drop_front(product.axes.columns + 1));
  float largest = 0;
  bool isFinite = true;
  for (int64_t i = 0; i < count; ++i) {
    float magnitude = std::fabs(toFloat(kind, source + i * bytes));
    isFinite &= std::isfinite(magnitude);
    largest = std::max(largest, magnitude);
  }
  std::optional<int> exponent = isFinite ? chooseF16Exponent(largest) : std::nullopt;
  F16Matrix made{HeapAsmResourceBlob::allocate(count * sizeof(uint16_t), kAlignment, /*dataIsMutable=*/true),
                 std::vector<double>(columns), std::vector<double>(columns), exponent.value_or(0),
                 exponent.has_value()};
  auto *target = reinterpret_cast<uint16_t *>(made.numbers.getMutableData().data());
  for (int64_t i = 0; i < count; ++i) {
    float x = std::ldexp(toFloat(kind, source + i * bytes), made.exponent);
    target[i] = toF16Bits(x);
    double error = double(toFloat(FloatKind::f16, reinterpret_cast<const char *>(target + i))) - x;
    made.squares[i / stride % columns] += double(x) * x;
    made.errors[i / stride % columns] += error * error;
  }
  return made;
}

/// The squared error of a result relative to its square, but for the matrix: rows have mantissas of all kinds.
static double getOtherVariance(const F16Product &product) {
  double sums = getF16SumError(getDepth(product));
  return kF16RoundingError * kF16RoundingError + sums * sums;
}

double F16Rounded::measureError(Operation *op) const {
  F16Product product = *findProduct(op);
  F16Matrix matrix = roundMatrix(product);
  if (!matrix.fits)
    return std::numeric_limits<double>::infinity();
  double largest = *llvm::max_element(matrix.squares), worst = 0, others = getOtherVariance(product);
  for (auto [square, error] : llvm::zip_equal(matrix.squares, matrix.errors))
    worst = std::max(worst, error + square * others);
  return kSumError + (largest > 0 ? std::sqrt(worst / largest) : 0);
}

double F16Rounded::getLeastError(Operation *op) const {
  return kSumError + std::sqrt(getOtherVariance(*findProduct(op)));
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

namespace {
/// Rows of f16 as f32, images with their border, and what they are scaled by, which broadcasts against the result.
struct ScaledRows {
  Value rows, scale;
};
} // namespace

/// Scales each row, or each image, by the power of two below its largest magnitude, and rounds it. Products with the
/// same rows have the same operations, which CSE merges. What is not finite stays so: NaN and infinities make their
/// row's scale the largest, beside which its other elements may be 0.
static ScaledRows roundRows(RewriterBase &rewriter, const F16Product &product) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value x = product.rows->get();
  rewriter.setInsertionPointAfterValue(x);
  Location loc = x.getLoc();
  TenonBuilder build(rewriter, loc);
  Type f32 = rewriter.getF32Type();
  Dims dims = getDims(x);
  int64_t first = product.firstSummed;
  std::fill(dims.begin() + first, dims.end(), getDimConstant(rewriter.getContext(), 1));
  auto convolve = dyn_cast<ConvolveOp>(product.rows->getOwner());
  Value largest = emitLargestMagnitude(rewriter, loc, convolve ? skipTransposes(x) : x, first);
  // A view: what follows is computed where it is read, or once if that is cheaper.
  PowerScales scales = emitPowerScales(rewriter, loc, build.reshape(largest, dims));
  if (convolve && hasPadding(convolve))
    x = padInput(rewriter, convolve, x, build.scalar(f32, 0));
  Value scaled = MulOp::create(rewriter, loc, x, scales.reciprocals);
  return {build.cast(build.cast(scaled, rewriter.getF16Type()), f32), scales.powers};
}

/// product(x, w) -> product(f16(x / s), f16(w * 2^e)) * 2^-e * s
Operation *F16Rounded::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && skipsPixels(convolve))
    takeSteps(rewriter, convolve);
  F16Product product = *findProduct(op);
  F16Matrix made = roundMatrix(product);
  Operation *floats = product.matrix->get().getDefiningOp();
  ScaledRows rows = roundRows(rewriter, product);
  rewriter.setInsertionPoint(op);
  WeightOp source = product.weight;
  auto type = source.getType().clone(rewriter.getF16Type());
  auto weight = WeightOp::create(rewriter, source.getLoc(), createElements(type, "f16", std::move(made.numbers)));
  weight.setNameAttr(deriveName(source.getNameAttr(), "f16"));
  Value matrix = TenonBuilder(rewriter, source.getLoc()).cast(weight, rewriter.getF32Type());
  rewriter.modifyOpInPlace(op, [&] {
    product.rows->set(rows.rows);
    product.matrix->set(matrix);
    if (auto convolve = dyn_cast<ConvolveOp>(op)) {
      SmallVector<int64_t> none(convolve.getLow().size(), 0);
      convolve.setLow(none);
      convolve.setHigh(none);
    }
  });
  rewriter.setInsertionPointAfter(op);
  // One after the other: their product may be out of range where the result is not.
  Value unit = TenonBuilder(rewriter, op->getLoc()).scalar(rewriter.getF32Type(), std::ldexp(1.0, -made.exponent));
  auto unscaled = MulOp::create(rewriter, op->getLoc(), op->getResult(0), unit);
  auto result = MulOp::create(rewriter, op->getLoc(), unscaled, rows.scale);
  rewriter.replaceAllUsesExcept(op->getResult(0), result, unscaled);
  eraseUnread(rewriter, floats);
  return op;
}

std::unique_ptr<Path> tenon::createF16Rounded(const PathPolicy &policy) { return std::make_unique<F16Rounded>(policy); }
