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

#include "dialects/tenon/WeightBytes.h"
#include "mlir/IR/AsmState.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/Numbers.h"
#include "passes/paths/Path.h"
#include "passes/precision/ConstantMatrices.h"
#include <cmath>
#include <limits>

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

namespace {
/// A matrix of floats as integers of 8 bits and scales of f32.
struct QuantizedMatrix {
  AsmResourceBlob numbers, scales;
  RankedTensorType scalesType;
  QuantizationError error;
};
} // namespace

static QuantizedMatrix quantize(const GroupProduct &product) {
  constexpr size_t kAlignment = 64; // format: of weights
  WeightOp weight = product.floats;
  RankedTensorType type = weight.getType();
  int64_t rows = type.getDimSize(product.axes.columns), depth = type.getDimSize(product.axes.depth);
  bool isAlongLast = product.axes.depth == 1;
  SmallVector<int64_t> shape(type.getShape());
  shape[product.axes.depth] /= product.group;
  QuantizedMatrix made{
      HeapAsmResourceBlob::allocate(type.getNumElements(), kAlignment, /*dataIsMutable=*/true),
      HeapAsmResourceBlob::allocate(shape[0] * shape[1] * sizeof(float), kAlignment, /*dataIsMutable=*/true),
      RankedTensorType::get(shape, Float32Type::get(type.getContext())),
      {}};
  FloatMatrix source{getBytes(weight.getValue())->data(),
                     *getFloatKind(type.getElementType()),
                     rows,
                     depth,
                     isAlongLast ? depth : 1,
                     isAlongLast ? 1 : rows};
  QuantizedStorage storage{made.numbers.getMutableData().data(), made.scales.getMutableData().data(), nullptr,
                           isAlongLast ? depth / product.group : 1, isAlongLast ? 1 : rows};
  made.error = quantizeRows(source, 0, rows, {product.bits, product.group}, storage);
  return made;
}

std::optional<double> Int8Groups::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<GroupProduct> product = machine.int8Dot == Int8Dot::vnni ? findProduct(op) : std::nullopt;
  if (!product)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  double perCycle = machine.getMultiplyAdds(sizeof(int32_t)) * static_cast<int64_t>(Int8Dot::vnni);
  double cycles = std::max(shape.getProducts() / perCycle / policy.int8GroupShare,
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
  if (!error.isFinite)
    return std::numeric_limits<double>::infinity();
  return kSumError + std::hypot(getRowError(product.group), error.getRelative());
}

double Int8Groups::getLeastError(Operation *op) const { return kSumError + getRowError(findProduct(op)->group); }

/// Rounds rows `x` to bytes in groups that have a scale each, and returns what tenon.dequantize makes of these. NaN
/// makes its group NaN. Products with the same rows have the same operations, which CSE merges.
static Value roundRows(RewriterBase &rewriter, Value x, int64_t group) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  Location loc = x.getLoc();
  MLIRContext *context = x.getContext();
  auto f32 = Float32Type::get(context);
  Type u8 = rewriter.getIntegerType(8, /*isSigned=*/false);
  auto number = [&](double value) { return createNumber(rewriter, loc, f32, value); };
  Dims dims = getDims(x), ofGroups = dims;
  ofGroups.back() = getDimConstant(context, *getConstant(dims.back()) / group);
  Dims ofDivisors = ofGroups;
  ofGroups.push_back(getDimConstant(context, group));
  ofDivisors.push_back(getDimConstant(context, 1));
  int64_t last = static_cast<int64_t>(dims.size()) - 1;
  Type groups = getTensorType(ofGroups, f32);
  Value rows = ReshapeOp::create(rewriter, loc, groups, x), sizes = AbsOp::create(rewriter, loc, groups, rows);
  Value largest = ReduceOp::create(rewriter, loc, ReduceKind::max, sizes, last + 1, /*keepdims=*/false);
  Type scalars = largest.getType();
  constexpr double kLargest = 127; // math: of bytes with signs
  constexpr double kTiny = 1e-30;  // limit: of scales, so that none is zero or denormal
  constexpr double kMax = std::numeric_limits<float>::max() / kLargest; // math: the largest scale of what is finite
  Value positive = MaxOp::create(rewriter, loc, scalars, largest, number(kTiny));
  Value scales = MulOp::create(rewriter, loc, scalars, positive, number(1 / kLargest));
  // Infinity divided by a finite number keeps its sign, which its scale makes an infinity again; the others are 0
  // beside it. Divisors have the elements' shape, so that the kernel of these computes them.
  Value ofGroup = ReshapeOp::create(rewriter, loc, getTensorType(ofDivisors, f32), scales);
  Value repeated = BroadcastOp::create(rewriter, loc, groups, ofGroup);
  Value divisors = MinOp::create(rewriter, loc, groups, repeated, number(kMax));
  Value numbers = RoundOp::create(rewriter, loc, groups, DivOp::create(rewriter, loc, groups, rows, divisors));
  Value shifted = AddOp::create(rewriter, loc, groups, numbers, number(kInt8GroupsZero));
  Value above = MaxOp::create(rewriter, loc, groups, shifted, number(kInt8GroupsZero - kLargest));
  Value limited = MinOp::create(rewriter, loc, groups, above, number(kInt8GroupsZero + kLargest));
  Value cast = CastOp::create(rewriter, loc, getTensorType(ofGroups, u8), limited);
  Value bytes = ReshapeOp::create(rewriter, loc, getTensorType(dims, u8), cast);
  auto zeroType = RankedTensorType::get(SmallVector<int64_t>(dims.size(), 1), u8);
  Value zero = WeightOp::create(rewriter, loc, DenseElementsAttr::get(zeroType, APInt(8, kInt8GroupsZero)));
  return DequantizeOp::create(rewriter, loc, bytes, scales, zero, last, group, TypeAttr::get(f32));
}

/// Replaces the matrix of floats by tenon.dequantize of its integers.
static Value quantizeMatrix(RewriterBase &rewriter, const GroupProduct &product) {
  WeightOp weight = product.floats;
  QuantizedMatrix made = quantize(product);
  auto makeWeight = [&](RankedTensorType type, StringRef how, AsmResourceBlob blob) {
    auto stored = WeightOp::create(rewriter, weight.getLoc(), createElements(type, how, std::move(blob)));
    stored.setNameAttr(deriveName(weight.getNameAttr(), how));
    return stored;
  };
  Value numbers = makeWeight(weight.getType().clone(rewriter.getI8Type()), "int8", std::move(made.numbers)),
        scales = makeWeight(made.scalesType, "scales", std::move(made.scales));
  return DequantizeOp::create(rewriter, weight.getLoc(), numbers, scales, Value(), product.axes.depth, product.group,
                              TypeAttr::get(rewriter.getF32Type()));
}

Operation *Int8Groups::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  GroupProduct product = *findProduct(op);
  Value rounded = roundRows(rewriter, product.rows->get(), product.group);
  rewriter.setInsertionPoint(op);
  Operation *floats = product.matrix->get().getDefiningOp();
  Value matrix = product.floats ? quantizeMatrix(rewriter, product) : product.matrix->get();
  rewriter.modifyOpInPlace(op, [&] {
    product.rows->set(rounded);
    product.matrix->set(matrix);
  });
  while (floats && isOpTriviallyDead(floats)) {
    Operation *source = floats->getNumOperands() ? floats->getOperand(0).getDefiningOp() : nullptr;
    rewriter.eraseOp(floats);
    floats = source;
  }
  return op;
}

std::unique_ptr<Path> tenon::createInt8Groups(const PathPolicy &policy) { return std::make_unique<Int8Groups>(policy); }
