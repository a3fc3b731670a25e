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
// in each lane, and nothing is dequantized but sums of groups.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/WeightBytes.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

/// Neighbours of a row with one scale: of fewer, sums of products are scaled more often; of more, errors grow.
static constexpr int64_t kRowGroup = 32; // format: of the weights of most models

namespace {
struct GroupProduct {
  OpOperand *rows;
  DequantizeOp matrix;
  int64_t group; ///< neighbours of a row with one scale
};

struct Int8Groups : public Path {
  explicit Int8Groups(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return kRoundedInt8GroupsPath; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *op) const override { return measureError(op); }
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

static std::optional<GroupProduct> findProduct(Operation *op) {
  if (!isa<ContractOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    auto matrix = operand.get().getDefiningOp<DequantizeOp>();
    auto weight = matrix ? matrix.getInput().getDefiningOp<WeightOp>() : WeightOp();
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
    std::optional<PackedDims> packed = axes ? getPackedDims(matrix.getInputMutable()) : std::nullopt;
    if (!packed || !packed->packedI32Axis || !fitBytes(matrix) || static_cast<int64_t>(matrix.getAxis()) != axes->depth)
      continue;
    int64_t depth = weight.getType().getDimSize(axes->depth), block = std::min<int64_t>(matrix.getBlock(), depth);
    int64_t group = block % kRowGroup == 0 ? kRowGroup : block;
    constexpr int64_t kMaxGroup = 256; // limit: sums of larger groups could exceed i32, and rounding loses more
    constexpr int64_t kWholeWords = 8; // format: integers of 4 bits in an i32
    if (depth % block == 0 && group % kWholeWords == 0 && group <= kMaxGroup)
      return GroupProduct{&op->getOpOperand(1 - operand.getOperandNumber()), matrix, group};
  }
  return std::nullopt;
}

std::optional<double> Int8Groups::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<GroupProduct> product = machine.int8Dot == Int8Dot::vnni ? findProduct(op) : std::nullopt;
  if (!product)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  double perCycle = machine.getMultiplyAdds(sizeof(int32_t)) * static_cast<int64_t>(Int8Dot::vnni);
  double bytes = getElementTypeOrSelf(product->matrix.getInput()).getIntOrFloatBitWidth() / 8.0;
  double cycles = std::max(shape.getProducts() / perCycle / policy.int8GroupShare,
                           machine.getReadCycles(shape.getWeights() * bytes));
  return cycles + machine.launchCycles + shape.rows * shape.depth * shape.repetitions * policy.int8RoundCycles;
}

/// The weights are exact. An element of a row is off by an equally distributed part of a step, which is the group's
/// largest magnitude by 127; of `group` normal numbers that is about sqrt(2 ln(2 group)) times their root mean square.
/// Sums of products keep this ratio.
double Int8Groups::measureError(Operation *op) const {
  double group = static_cast<double>(findProduct(op)->group);
  return kSumError + std::sqrt(2 * std::log(2 * group)) / 127 / std::sqrt(12.0);
}

namespace {
/// Builds elementwise operations.
struct Arithmetic {
  OpBuilder &b;
  Location loc;

  template <typename Op, typename... Operands> Value make(Type type, Operands... operands) const {
    return Op::create(b, loc, type, operands...);
  }
  Value number(double value) const {
    return WeightOp::create(
        b, loc, DenseElementsAttr::get(RankedTensorType::get({}, b.getF32Type()), static_cast<float>(value)));
  }
};
} // namespace

/// Rounds rows `x` to bytes in groups that have a scale each, and returns what tenon.dequantize makes of these.
/// Products with the same rows have the same operations, which CSE merges.
static Value roundRows(RewriterBase &rewriter, Value x, int64_t group) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  Arithmetic on{rewriter, x.getLoc()};
  MLIRContext *context = x.getContext();
  Type f32 = rewriter.getF32Type(), u8 = rewriter.getIntegerType(8, /*isSigned=*/false);
  Dims dims = getDims(x), ofGroups = dims;
  ofGroups.back() = getDimConstant(context, *getConstant(dims.back()) / group);
  Dims ofSteps = ofGroups;
  ofGroups.push_back(getDimConstant(context, group));
  ofSteps.push_back(getDimConstant(context, 1));
  int64_t last = static_cast<int64_t>(dims.size()) - 1;
  Type groups = getTensorType(ofGroups, f32);
  Value rows = on.make<ReshapeOp>(groups, x);
  Value largest =
      ReduceOp::create(rewriter, on.loc, ReduceKind::max, on.make<AbsOp>(groups, rows), last + 1, /*keepdims=*/false);
  Type scalars = largest.getType();
  constexpr double kLargest = 127, kTiny = 1e-30; // math: of numbers with signs; a scale is neither zero nor denormal
  Value positive = on.make<MaxOp>(scalars, largest, on.number(kTiny));
  Value steps = on.make<MulOp>(scalars, positive, on.number(1 / kLargest));
  Value ofGroup = on.make<ReshapeOp>(getTensorType(ofSteps, f32), steps);
  Value numbers = on.make<RoundOp>(groups, on.make<DivOp>(groups, rows, ofGroup));
  Value shifted = on.make<AddOp>(groups, numbers, on.number(kInt8GroupsZero));
  Value bytes = on.make<CastOp>(getTensorType(ofGroups, u8), shifted);
  Value zero = WeightOp::create(rewriter, on.loc,
                                DenseElementsAttr::get(RankedTensorType::get(SmallVector<int64_t>(dims.size(), 1), u8),
                                                       APInt(8, kInt8GroupsZero)));
  return DequantizeOp::create(rewriter, on.loc, on.make<ReshapeOp>(getTensorType(dims, u8), bytes), steps, zero, last,
                              group, TypeAttr::get(f32));
}

Operation *Int8Groups::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  GroupProduct product = *findProduct(op);
  Value rounded = roundRows(rewriter, product.rows->get(), product.group);
  rewriter.modifyOpInPlace(op, [&] { product.rows->set(rounded); });
  return op;
}

std::unique_ptr<Path> tenon::createInt8Groups(const PathPolicy &policy) { return std::make_unique<Int8Groups>(policy); }
