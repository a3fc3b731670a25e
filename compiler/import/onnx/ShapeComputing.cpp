//===- ShapeComputing.cpp - known elements through arithmetic -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/ShapeEvaluator.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

template <ElementFunction function, bool isTest = false> Values evaluateBinary(Node &n) {
  SmallVector<const ShapeValue *> inputs = knownInputs(n);
  if (inputs.empty() || n.getOpset() < 7)
    return {};
  Type type = inputs[0]->type;
  std::optional<Ints> shape = broadcastShapes(inputs);
  if (!shape || llvm::any_of(inputs, [&](const ShapeValue *v) { return v->type != type; }))
    return {};
  return build(*shape, isTest ? n.i1() : type, [&](IntsRef index) {
    Element result = elementAt(*inputs[0], index);
    for (const ShapeValue *input : ArrayRef(inputs).drop_front()) {
      const Element &other = elementAt(*input, index);
      result = result.isKnown() && other.isKnown() ? function(result, other, type) : Element();
    }
    return isTest ? result : castElement(result, type, type);
  });
}

/// Records the sizes for which the indicators in some values are valid.
Values requireIndicators(Node &n, Values values) {
  for (ShapeValue &value : values)
    for (Element &element : value.elements)
      if (element.expr)
        element.expr.walk([&](AffineExpr part) {
          if (AffineExpr indicated = getIndicated(part))
            n.requireIndicatorRange(indicated);
        });
  return values;
}

template <ElementFunction function> Values evaluateByCases(Node &n) {
  return requireIndicators(n, evaluateBinary<function>(n));
}

/// True if a quotient of the dividend may use floor division, as if it were non-negative. Exporters compute the length
/// of a convolution's result this way; sizes for which the dividend is negative are too small for the convolution, and
/// are rejected.
bool isRoundedDown(Node &n, AffineExpr dividend) {
  if (n.importer.getFacts().isNotNegative(dividend))
    return true;
  if (n.importer.dependsOnData(dividend) || !n.importer.isUsuallyNotNegative(dividend))
    return false;
  n.require(dividend, "divides a size that is negative");
  return true;
}

Values evaluateDiv(Node &n) {
  SmallVector<const ShapeValue *> inputs = knownInputs(n);
  std::optional<Ints> divisor = constantsAt(n, 1);
  if (inputs.size() != 2 || !isa<IntegerType>(inputs[0]->type) || !divisor || divisor->size() != 1 ||
      divisor->front() <= 0)
    return evaluateByCases<divElements>(n);
  if (n.getOpset() < 7 || inputs[0]->type != inputs[1]->type || inputs[1]->shape.size() > inputs[0]->shape.size())
    return {};
  const Element &by = inputs[1]->elements.front();
  Type type = inputs[0]->type;
  Values values = build(inputs[0]->shape, type, [&](IntsRef index) {
    const Element &element = elementAt(*inputs[0], index);
    AffineExpr dividend = element.getInteger();
    if (dividend && !getConstant(dividend) && !isNonNegative(dividend) && isRoundedDown(n, dividend))
      return makeInteger(divDims(dividend, by.expr));
    return element.isKnown() ? castElement(divElements(element, by, type), type, type) : Element();
  });
  return requireIndicators(n, std::move(values));
}

template <Element (*function)(const Element &)> Values evaluateUnary(Node &n) {
  const ShapeValue *value = n.known(0);
  if (!value)
    return {};
  return build(value->shape, value->type, [&](IntsRef index) { return function(elementAt(*value, index)); });
}

Values evaluateNeg(Node &n) {
  const ShapeValue *value = n.known(0);
  if (!value || value->type.isUnsignedInteger())
    return {};
  return build(value->shape, value->type, [&](IntsRef index) {
    const Element &element = elementAt(*value, index);
    return element.isKnown() ? subElements(makeNumber(0, n.getContext()), element, value->type) : Element();
  });
}

Values evaluateReciprocal(Node &n) {
  const ShapeValue *value = n.known(0);
  if (!value)
    return {};
  return build(value->shape, value->type, [&](IntsRef index) {
    const Element &element = elementAt(*value, index);
    return element.isKnown() ? divElements(makeNumber(1, n.getContext()), element, value->type) : Element();
  });
}

Values evaluateSqrt(Node &n) {
  const ShapeValue *value = n.known(0);
  if (!value)
    return {};
  return build(value->shape, value->type,
               [&](IntsRef index) { return sqrtElement(elementAt(*value, index), value->type); });
}

Values evaluateMod(Node &n) { return n.getInt("fmod", 0) ? Values() : evaluateBinary<modElements>(n); }

Values evaluateCast(Node &n) {
  const ShapeValue *value = n.known(0);
  // Versions below 6 name the type by a string; no exporter computes shapes that way.
  if (!value || n.getOpset() < 6)
    return {};
  Type to = n.getOpType() == "CastLike" ? n.inputType(1).getElementType() : n.getDataType("to", value->type);
  if (!to || !to.isIntOrFloat() || (isa<FloatType>(to) && to.getIntOrFloatBitWidth() < 16))
    return {};
  return build(value->shape, to, [&](IntsRef index) { return castElement(elementAt(*value, index), value->type, to); });
}

Values evaluateWhere(Node &n) {
  SmallVector<const ShapeValue *> inputs = knownInputs(n);
  if (inputs.size() != 3 || inputs[1]->type != inputs[2]->type)
    return {};
  std::optional<Ints> shape = broadcastShapes(inputs);
  if (!shape)
    return {};
  return build(*shape, inputs[1]->type, [&](IntsRef index) {
    std::optional<double> condition = elementAt(*inputs[0], index).getNumber();
    const Element &x = elementAt(*inputs[1], index), &y = elementAt(*inputs[2], index);
    if (condition)
      return *condition != 0 ? x : y;
    return x.expr && x.expr == y.expr && x.divisor == y.divisor ? x : Element();
  });
}

template <ElementFunction function> Values evaluateReduce(Node &n) {
  const ShapeValue *value = n.known(0);
  std::optional<Ints> axes = n.hasInput(1) ? constantsAt(n, 1) : n.getInts("axes");
  if (!value || value->shape.size() != 1 || value->elements.empty() || (n.hasInput(1) && !axes) ||
      ((!axes || axes->empty()) && n.getBool("noop_with_empty_axes", false)))
    return {};
  // The handler says what is wrong with other axes.
  if (axes && !axes->empty() && (axes->size() > 1 || (axes->front() != 0 && axes->front() != -1)))
    return {};
  Type type = value->type;
  Element result = value->elements[0];
  for (const Element &element : ArrayRef(value->elements).drop_front())
    result =
        result.isKnown() && element.isKnown() ? castElement(function(result, element, type), type, type) : Element();
  Ints shape = n.getBool("keepdims", true) ? Ints{1} : Ints{};
  return build(shape, type, [&](IntsRef) { return result; });
}

} // namespace

llvm::ArrayRef<ShapeEvaluator> onnx_import::getComputingEvaluators() {
  static const ShapeEvaluator evaluators[] = {
      {"Abs", evaluateUnary<absElement>},
      {"Add", evaluateBinary<addElements>},
      {"And", evaluateBinary<andElements>},
      {"Cast", evaluateCast},
      {"CastLike", evaluateCast},
      {"Ceil", evaluateUnary<ceilElement>},
      {"Div", evaluateDiv},
      {"Equal", evaluateBinary<equalElements, true>},
      {"Floor", evaluateUnary<floorElement>},
      {"Greater", evaluateBinary<greaterElements, true>},
      {"GreaterOrEqual", evaluateBinary<greaterOrEqualElements, true>},
      {"Less", evaluateBinary<lessElements, true>},
      {"LessOrEqual", evaluateBinary<lessOrEqualElements, true>},
      {"Max", evaluateByCases<maxElements>},
      {"Min", evaluateByCases<minElements>},
      {"Mod", evaluateMod},
      {"Mul", evaluateBinary<mulElements>},
      {"Neg", evaluateNeg},
      {"Not", evaluateUnary<notElement>},
      {"Or", evaluateBinary<orElements>},
      {"Pow", evaluateBinary<powElements>},
      {"Reciprocal", evaluateReciprocal},
      {"ReduceMax", evaluateReduce<maxElements>},
      {"ReduceMin", evaluateReduce<minElements>},
      {"ReduceProd", evaluateReduce<mulElements>},
      {"ReduceSum", evaluateReduce<addElements>},
      {"Sqrt", evaluateSqrt},
      {"Sub", evaluateBinary<subElements>},
      {"Sum", evaluateBinary<addElements>},
      {"Where", evaluateWhere},
  };
  return evaluators;
}
