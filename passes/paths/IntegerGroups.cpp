//===- IntegerGroups.cpp - factors as integers in groups with scales ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/IntegerGroups.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/Numbers.h"
#include "passes/precision/ConstantMatrices.h"
#include <cassert>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;

Value tenon::roundToGroups(RewriterBase &rewriter, Value x, int64_t group, const RowIntegers &integers) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  Location loc = x.getLoc();
  MLIRContext *context = x.getContext();
  auto f32 = Float32Type::get(context);
  auto number = [&](double value) { return createNumber(rewriter, loc, f32, value); };
  Dims dims = getDims(x), ofGroups = dims;
  assert(*getConstant(dims.back()) % group == 0 && "groups are whole");
  ofGroups.back() = getDimConstant(context, *getConstant(dims.back()) / group);
  Dims ofDivisors = ofGroups;
  ofGroups.push_back(getDimConstant(context, group));
  ofDivisors.push_back(getDimConstant(context, 1));
  int64_t last = static_cast<int64_t>(dims.size()) - 1;
  Type groups = getTensorType(ofGroups, f32);
  Value rows = ReshapeOp::create(rewriter, loc, groups, x), sizes = AbsOp::create(rewriter, loc, groups, rows);
  Value largest = ReduceOp::create(rewriter, loc, ReduceKind::max, sizes, last + 1, /*keepdims=*/false);
  Type scalars = largest.getType();
  double zero = static_cast<double>(integers.zero), most = integers.largest;
  constexpr double kTiny = 1e-30;                               // limit: of scales, so that none is zero or denormal
  const double kMax = std::numeric_limits<float>::max() / most; // math: the largest scale of what is finite
  Value positive = MaxOp::create(rewriter, loc, scalars, largest, number(kTiny));
  Value scales = MulOp::create(rewriter, loc, scalars, positive, number(1 / most));
  // Infinity divided by a finite number keeps its sign, which its scale makes an infinity again; the others are 0
  // beside it. Divisors have the elements' shape, so that the kernel of these computes them.
  Value ofGroup = ReshapeOp::create(rewriter, loc, getTensorType(ofDivisors, f32), scales);
  Value repeated = BroadcastOp::create(rewriter, loc, groups, ofGroup);
  Value divisors = MinOp::create(rewriter, loc, groups, repeated, number(kMax));
  Value numbers = RoundOp::create(rewriter, loc, groups, DivOp::create(rewriter, loc, groups, rows, divisors));
  if (integers.zero != 0)
    numbers = AddOp::create(rewriter, loc, groups, numbers, number(zero));
  Value above = MaxOp::create(rewriter, loc, groups, numbers, number(zero - most));
  Value limited = MinOp::create(rewriter, loc, groups, above, number(zero + most));
  Value cast = CastOp::create(rewriter, loc, getTensorType(ofGroups, integers.type), limited);
  Value stored = ReshapeOp::create(rewriter, loc, getTensorType(dims, integers.type), cast), zeroPoint;
  if (integers.zero != 0) {
    auto type = RankedTensorType::get(SmallVector<int64_t>(dims.size(), 1), integers.type);
    zeroPoint =
        WeightOp::create(rewriter, loc, DenseElementsAttr::get(type, APInt(integers.type.getWidth(), integers.zero)));
  }
  return DequantizeOp::create(rewriter, loc, stored, scales, zeroPoint, last, group, TypeAttr::get(f32));
}

static RankedTensorType getScalesType(RankedTensorType matrix, int64_t axis, int64_t group) {
  SmallVector<int64_t> shape(matrix.getShape());
  assert(shape[axis] % group == 0 && "groups are whole");
  shape[axis] /= group;
  return RankedTensorType::get(shape, Float32Type::get(matrix.getContext()));
}

static AsmResourceBlob allocateElements(RankedTensorType type) {
  constexpr size_t kAlignment = 64; // format: of weights
  return HeapAsmResourceBlob::allocate(type.getNumElements() * type.getElementTypeBitWidth() / 8, kAlignment,
                                       /*dataIsMutable=*/true);
}

QuantizedMatrix::QuantizedMatrix(RankedTensorType floats, unsigned bits, int64_t axis, int64_t group)
    : type(floats.clone(IntegerType::get(floats.getContext(), bits))), scalesType(getScalesType(floats, axis, group)),
      numbers(allocateElements(type)), scales(allocateElements(scalesType)), axis(axis), group(group) {}

FloatMatrix tenon::getFloatMatrix(WeightOp weight, const MatrixAxes &axes) {
  RankedTensorType type = weight.getType();
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  return {getBytes(weight.getValue())->data(),
          *getFloatKind(type.getElementType()),
          type.getDimSize(axes.columns),
          type.getDimSize(axes.depth),
          strides[axes.columns],
          strides[axes.depth]};
}

double tenon::getRoundingError(double ofRows, const QuantizationError &ofMatrix) {
  return ofMatrix.isFinite ? kSumError + std::hypot(ofRows, ofMatrix.getRelative())
                           : std::numeric_limits<double>::infinity();
}

Value tenon::createGroups(RewriterBase &rewriter, WeightOp source, QuantizedMatrix matrix) {
  auto makeWeight = [&](RankedTensorType type, StringRef how, AsmResourceBlob blob) {
    auto stored = WeightOp::create(rewriter, source.getLoc(), createElements(type, how, std::move(blob)));
    stored.setNameAttr(deriveName(source.getNameAttr(), how));
    return stored;
  };
  std::string how = "int" + std::to_string(matrix.type.getElementTypeBitWidth());
  Value numbers = makeWeight(matrix.type, how, std::move(matrix.numbers)),
        scales = makeWeight(matrix.scalesType, "scales", std::move(matrix.scales));
  return DequantizeOp::create(rewriter, source.getLoc(), numbers, scales, Value(), matrix.axis, matrix.group,
                              TypeAttr::get(rewriter.getF32Type()));
}

void tenon::setFactors(RewriterBase &rewriter, OpOperand &rows, Value newRows, OpOperand &matrix, Value newMatrix) {
  assert(rows.getOwner() == matrix.getOwner() && "both are factors of one product");
  Operation *old = matrix.get().getDefiningOp();
  rewriter.modifyOpInPlace(rows.getOwner(), [&] {
    rows.set(newRows);
    matrix.set(newMatrix);
  });
  eraseUnread(rewriter, old);
}
