//===- Constant.cpp - constants, and tensors made of nothing but a shape --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Text.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

LogicalResult importConstant(Node &n) {
  if (std::optional<StringTensor> strings = n.getStringTensor("value"))
    return setStrings(n, 0, makeStrings(n, strings->texts, strings->shape));
  if (n.hasAttr("value_string"))
    return setStrings(n, 0, makeStrings(n, n.getString("value_string", ""), {}));
  if (std::optional<Texts> texts = n.getStrings("value_strings"))
    return setStrings(n, 0, makeStrings(n, *texts, static_cast<int64_t>(texts->size())));
  if (n.hasAttr("value"))
    return n.setConstant(n.getTensor("value"));
  if (n.hasAttr("value_float"))
    return n.setResult(n.scalar(n.getFloat("value_float", 0), n.f32()));
  if (n.hasAttr("value_int"))
    return n.setConstant(n.getInt("value_int", 0), {});
  if (std::optional<Ints> ints = n.getInts("value_ints"))
    return n.setConstant(*ints, static_cast<int64_t>(ints->size()));
  if (std::optional<SmallVector<double>> floats = n.getFloats("value_floats"))
    return n.setResult(n.constantFloats(*floats, static_cast<int64_t>(floats->size()), n.f32()));
  return n.unsupported("has a constant that is neither a dense tensor nor a list");
}

LogicalResult importConstantOfShape(Node &n) {
  std::optional<Dims> shape = n.sizesOperand(0, "shape");
  if (!shape)
    return failure();
  ElementsAttr tensor = n.hasAttr("value") ? n.getTensor("value") : ElementsAttr();
  if (n.hasAttr("value") && !tensor)
    return failure();
  if (tensor && tensor.getNumElements() != 1)
    return n.invalid("'value' has " + Twine(tensor.getNumElements()) + " elements, but has to have one");
  Value value = tensor ? n.reshape(n.weight(tensor), IntsRef()) : n.scalar(0, n.f32());
  return n.setResult(n.broadcast(value, *shape));
}

constexpr int64_t kMaxRange = int64_t(1) << 40, kTooMany = int64_t(1) << 62;

/// A range whose bounds data decides.
LogicalResult importRuntimeRange(Node &n) {
  auto scalar = [&](size_t i) { return n.reshape(n.input(i), IntsRef()); };
  Value start = scalar(0), limit = scalar(1), delta = scalar(2), count;
  Type type = n.elementType(start);
  requireAll(n, n.reshape(n.notEqual(delta, n.scalarLike(0, delta)), IntsRef(1)), "has a step of 0");
  if (isa<FloatType>(type)) {
    auto wide = [&](Value x) { return n.cast(x, n.f64()); };
    Value steps = n.ceil(n.div(n.sub(wide(limit), wide(start)), wide(delta)));
    // A number of steps that is too large or NaN would request too much memory.
    Value isFew = n.less(steps, n.scalar(static_cast<double>(kMaxRange), n.f64()));
    count = n.select(isFew, n.cast(steps, n.i64()), n.scalar(kTooMany, n.i64()));
  } else {
    // The distance may exceed any signed integer, but fits an unsigned one.
    Type unsignedType = IntegerType::get(n.getContext(), 64, IntegerType::Unsigned);
    auto wide = [&](Value x) { return n.cast(x, n.i64()); };
    Value begin = wide(start), end = wide(limit), step = wide(delta), zero = n.scalar(0, n.i64());
    Value isForward = n.greater(step, zero), isSome = n.select(isForward, n.less(begin, end), n.less(end, begin));
    Value distance = n.cast(n.select(isForward, n.sub(end, begin), n.sub(begin, end)), unsignedType);
    Value stride = n.cast(n.select(isForward, step, n.neg(step)), unsignedType), one = n.scalar(1, unsignedType);
    // The number of the last element: the largest number of strides below the distance.
    Value last = n.div(n.sub(n.max(distance, one), one), n.max(stride, one));
    last = n.min(last, n.scalar(kTooMany, unsignedType));
    count = n.select(isSome, n.add(n.cast(last, n.i64()), n.scalar(1, n.i64())), zero);
  }
  count = n.max(count, n.constantInts(0, {}, n.i64()));
  Dims size = n.bindSizes(n.reshape(count, IntsRef(1)));
  return n.setResult(n.add(n.mul(n.iota(size, 0, type), delta), start));
}

/// Computes start + i * delta for i < ceil((limit - start) / delta).
LogicalResult importRange(Node &n) {
  Type type = n.inputType(0).getElementType();
  AffineExpr count;
  const ShapeValue *start = n.known(0), *limit = n.known(1), *delta = n.known(2);
  if (!start || !limit || !delta || start->elements.size() != 1 || limit->elements.size() != 1 ||
      delta->elements.size() != 1)
    return importRuntimeRange(n);
  auto s = start->getNumbers(), l = limit->getNumbers(), d = delta->getNumbers();
  auto si = start->getIntegers(), li = limit->getIntegers(), di = delta->getIntegers();
  if (s && l && d && (*d)[0] != 0) {
    double real = std::ceil(((*l)[0] - (*s)[0]) / (*d)[0]);
    // Infinite limits also count as too many steps. Doubles represent integers only up to 2^53.
    int64_t steps = real < static_cast<double>(kMaxRange) ? static_cast<int64_t>(std::max(real, 0.0)) : kMaxRange;
    if (si && li && di)
      steps = countSteps(*getConstant((*si)[0]), *getConstant((*li)[0]), *getConstant((*di)[0]), kMaxRange);
    if (steps == kMaxRange)
      return n.invalid("would make more than 2^40 elements");
    count = n.constantDim(steps);
  } else if (si && li && di && getConstant((*di)[0]).value_or(0) != 0) {
    int64_t step = *getConstant((*di)[0]);
    AffineExpr distance = step > 0 ? subDims((*li)[0], (*si)[0]) : subDims((*si)[0], (*li)[0]);
    distance = n.atLeast(distance, n.constantDim(0), "its limit lies before its start");
    // The distance fits INT64_MAX, which therefore replaces the magnitude of a step of -2^63.
    count = ceilDivDims(distance, n.constantDim(step == INT64_MIN ? INT64_MAX : std::abs(step)));
  } else {
    return importRuntimeRange(n);
  }
  auto scalar = [&](size_t i) { return n.reshape(n.input(i), IntsRef()); };
  bool isPlain = si && di && getConstant((*si)[0]) == 0 && getConstant((*di)[0]) == 1;
  Value steps = n.iota(count, 0, type);
  return n.setResult(isPlain ? steps : n.add(n.mul(steps, scalar(2)), scalar(0)));
}

LogicalResult importEyeLike(Node &n) {
  RankedTensorType like = n.inputType(0);
  Dims shape = getDims(like);
  if (shape.size() != 2)
    return n.invalid("needs an input of 2 dimensions, found " + dimsToString(shape));
  Type type = n.getDataType("dtype", like.getElementType());
  Value diagonal = n.sub(n.iota(shape, 1, n.i64()), n.iota(shape, 0, n.i64()));
  return n.setResult(n.cast(n.equal(diagonal, n.constantInts(n.getInt("k", 0), {}, n.i64())), type));
}

/// Shape and Size reach this handler if a dimension is data-dependent.
LogicalResult importShape(Node &n) { return n.unsupported("the shape of '" + n.inputName(0) + "' depends on data"); }

LogicalResult importIdentity(Node &n) {
  if (ImportedValue *value = n.imported(0); value && !value->isTensor()) {
    n.setImported(0, *value);
    return success();
  }
  return n.setResult(n.input(0));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getConstantOps() {
  static const OpEntry ops[] = {
      {"Constant", importConstant}, {"ConstantOfShape", importConstantOfShape},
      {"EyeLike", importEyeLike},   {"Identity", importIdentity},
      {"Range", importRange},       {"Shape", importShape},
      {"Size", importShape},
  };
  return ops;
}
