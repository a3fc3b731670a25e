//===- Int8Groups.cpp - rows rounded to int8 for quantized weights --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights of 4 or 8 bits with a scale for each group along the sum are multiplied as
// integers, if the rows are rounded to integers with a scale for each group, too
// (dynamic quantization; the groups of llama.cpp). An instruction then sums four products
// in each lane, and nothing is dequantized but sums of groups. Weights of floats are
// quantized first, where the error budget allows it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/IntegerGroups.h"
#include "passes/paths/Path.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

/// Neighbours of a row with one scale: of fewer, sums of products are scaled more often; of more, errors grow.
static constexpr int64_t kRowGroup = 32; // format: of the weights of most models

namespace {
struct GroupProduct {
  OpOperand *rows, *matrix;
  MatrixAxes axes;
  int64_t group;   ///< neighbours of a row with one scale
  int64_t bits;    ///< of an element of the matrix as it is multiplied
  WeightOp floats; ///< a matrix that has yet to be quantized; null if it is
};

struct Int8Groups : public Path {
  explicit Int8Groups(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return kRoundedInt8GroupsPath; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *op) const override;
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override;

private:
  PathPolicy policy;
};
} // namespace

/// True if integers less their zero points fit i8: those of 4 bits do with any.
static bool fitBytes(DequantizeOp op) {
  Type type = getElementTypeOrSelf(op.getInput());
  return type.isUnsignedInteger(4) || (type.isSignlessInteger(8) && !op.getZero());
}

static OpOperand &getRows(OpOperand &matrix) { return matrix.getOwner()->getOpOperand(1 - matrix.getOperandNumber()); }

static std::optional<GroupProduct> matchQuantized(OpOperand &operand) {
  auto matrix = operand.get().getDefiningOp<DequantizeOp>();
  auto weight = matrix ? matrix.getInput().getDefiningOp<WeightOp>() : WeightOp();
  std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
  std::optional<PackedDims> packed = axes ? getPackedDims(matrix.getInputMutable()) : std::nullopt;
  if (!packed || !packed->packedI32Axis || !fitBytes(matrix) || static_cast<int64_t>(matrix.getAxis()) != axes->depth)
    return std::nullopt;
  int64_t depth = weight.getType().getDimSize(axes->depth), block = std::min<int64_t>(matrix.getBlock(), depth);
  int64_t group = block % kRowGroup == 0 ? kRowGroup : block;
  constexpr int64_t kMaxGroup = 256; // limit: sums of larger groups could exceed i32, and rounding loses more
  constexpr int64_t kWholeWords = 8; // format: integers of 4 bits in an i32
  if (depth % block != 0 || group % kWholeWords != 0 || group > kMaxGroup)
    return std::nullopt;
  return GroupProduct{&getRows(operand), &operand, *axes, group, weight.getType().getElementTypeBitWidth(), {}};
}

/// Matches a constant matrix of floats that only products read.
static std::optional<GroupProduct> matchFloats(OpOperand &operand) {
  WeightOp weight = findFloatWeight(operand, [](Operation *user) { return isa<ContractOp>(user); });
  std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
  RankedTensorType type = axes ? weight.getType() : RankedTensorType();
  if (!type || type.getRank() != 2 || type.getDimSize(axes->depth) == 0 ||
      type.getDimSize(axes->depth) % kRowGroup != 0 || type.getDimSize(axes->columns) < kFewColumns)
    return std::nullopt;
  return GroupProduct{&getRows(operand), &operand, *axes, kRowGroup, 8, weight};
}

static std::optional<GroupProduct> findProduct(Operation *op) {
  if (!isa<ContractOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op))
    return std::nullopt;
  for (auto match : {matchQuantized, matchFloats})
    for (OpOperand &operand : op->getOpOperands())
      if (std::optional<GroupProduct> product = match(operand))
        return product;
  return std::nullopt;
}

static QuantizedMatrix quantize(const GroupProduct &product) {
  WeightOp weight = product.floats;
  auto [columns, depth] = product.axes;
  QuantizedMatrix made(weight.getType(), /*bits=*/8, depth, product.group);
  FloatMatrix matrix = getFloatMatrix(weight, product.axes);
  SmallVector<int64_t> scaleStrides = computeStrides(made.scalesType.getShape());
  QuantizedStorage storage{made.numbers.getMutableData().data(), made.scales.getMutableData().data(), /*zeros=*/nullptr,
                           scaleStrides[columns], scaleStrides[depth]};
  made.error = quantizeRows(matrix, 0, matrix.rows, {product.bits, product.group}, storage);
  return made;
}

std::optional<double> Int8Groups::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<GroupProduct> product = machine.int8Dot == Int8Dot::vnni ? findProduct(op) : std::nullopt;
  if (!product)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  double perCycle = machine.getMultiplyAdds(sizeof(int32_t)) * static_cast<int64_t>(Int8Dot::vnni);
  double cycles = std::max(shape.getProducts() / perCycle / policy.int8GroupShare.get(machine),
                           machine.getReadCycles(shape.getWeights() * static_cast<double>(product->bits) / 8));
  return cycles + machine.launchCycles + shape.rows * shape.depth * shape.repetitions * policy.int8RoundCycles;
}

/// An element of a row is off by an equally distributed part of a step, which is the group's largest magnitude by 127;
/// of `group` normal numbers that is about sqrt(2 ln(group)) times their root mean square. Sums of products keep this
/// ratio.
static double getRowError(int64_t group) {
  return std::sqrt(2 * std::log(static_cast<double>(group))) / 127 / std::sqrt(12.0);
}

double Int8Groups::measureError(Operation *op) const {
  GroupProduct product = *findProduct(op);
  QuantizationError error = product.floats ? quantize(product).error : QuantizationError();
  return getRoundingError(getRowError(product.group), error);
}

double Int8Groups::getLeastError(Operation *op) const { return kSumError + getRowError(findProduct(op)->group); }

Operation *Int8Groups::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  GroupProduct product = *findProduct(op);
  constexpr double kLargest = 127; // math: of bytes with signs
  RowIntegers integers{rewriter.getIntegerType(8, /*isSigned=*/false), kLargest, kInt8GroupsZero};
  Value rows = roundToGroups(rewriter, product.rows->get(), product.group, integers);
  rewriter.setInsertionPoint(op);
  Value matrix = product.matrix->get();
  if (product.floats)
    matrix = createGroups(rewriter, product.floats, quantize(product));
  setFactors(rewriter, *product.rows, rows, *product.matrix, matrix);
  return op;
}

std::unique_ptr<Path> tenon::createInt8Groups(const PathPolicy &policy) { return std::make_unique<Int8Groups>(policy); }
