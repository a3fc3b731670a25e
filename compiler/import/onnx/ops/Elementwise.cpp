//===- Elementwise.cpp - arithmetic, comparison, logic and casts ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Tensors.h"
#include "compiler/import/onnx/ops/StringCasts.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

using Unary = Value (GraphBuilder::*)(Value);
using Binary = Value (GraphBuilder::*)(Value, Value);

template <Unary method> static LogicalResult importUnary(Node &n) { return n.setResult((n.*method)(n.input(0))); }

/// Before opset 7, the second operand broadcasts only if `broadcast` is set: its dimensions are those of the first
/// operand from `axis` on, or the last ones.
static Value alignLegacyOperand(Node &n, Value x, Value y) {
  if (n.getOpset() >= 7 || !n.getBool("broadcast", false) || !n.hasAttr("axis"))
    return y;
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  if (!axis)
    return {};
  Dims shape = n.dims(y);
  if (*axis + n.rank(y) > n.rank(x)) {
    (void)n.invalid("its second operand has " + Twine(n.rank(y)) + " dimensions, which do not fit into " +
                    Twine(n.rank(x)) + " from axis " + Twine(*axis) + " on");
    return {};
  }
  shape.append(n.rank(x) - *axis - n.rank(y), n.constantDim(1));
  return n.reshape(y, shape);
}

template <Binary method> static LogicalResult importBinary(Node &n) {
  Value x = n.input(0);
  return n.setResult((n.*method)(x, alignLegacyOperand(n, x, n.input(1))));
}

/// Operators of any number of operands.
template <Binary method> static Value foldInputs(Node &n) {
  SmallVector<Value> values = n.allInputs();
  Value result = values.empty() ? n.input(0) : values[0];
  for (Value value : ArrayRef(values).drop_front())
    result = (n.*method)(result, value);
  return result;
}
template <Binary method> static LogicalResult importVariadic(Node &n) { return n.setResult(foldInputs<method>(n)); }

static LogicalResult importMean(Node &n) {
  Value sum = foldInputs<&GraphBuilder::add>(n);
  return n.setResult(n.div(sum, n.scalarLike(static_cast<double>(n.getNumInputs()), sum)));
}

static LogicalResult importMod(Node &n) {
  Value x = n.input(0), y = n.input(1);
  return n.setResult(n.getBool("fmod", false) ? n.rem(x, y) : n.mod(x, y));
}

/// The exponent may have another type; the result has the base's type.
static LogicalResult importPow(Node &n) {
  Value x = n.input(0), y = alignLegacyOperand(n, n.input(0), n.input(1));
  Type type = n.elementType(x);
  if (n.isInteger(x) && n.isFloat(y))
    return n.setResult(n.cast(n.pow(n.cast(x, n.f64()), n.cast(y, n.f64())), type));
  return n.setResult(n.pow(x, n.cast(y, type)));
}

static LogicalResult importBitShift(Node &n) {
  std::string direction = n.getString("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return n.invalid("'direction' has to be LEFT or RIGHT, not '" + direction + "'");
  Value x = n.input(0), y = n.input(1);
  return n.setResult(direction == "LEFT" ? n.shiftLeft(x, y) : n.shiftRight(x, y));
}

static LogicalResult importWhere(Node &n) { return n.setResult(n.select(n.input(0), n.input(1), n.input(2))); }

//===----------------------------------------------------------------------===//
// Clip
//===----------------------------------------------------------------------===//

static LogicalResult importClip(Node &n) {
  Value x = n.input(0), low = n.optionalInput(1), high = n.optionalInput(2);
  if (n.hasAttr("min"))
    low = n.scalarLike(n.getFloat("min", 0), x);
  if (n.hasAttr("max"))
    high = n.scalarLike(n.getFloat("max", 0), x);
  auto asScalar = [&](Value bound) { return n.rank(bound) == 0 ? bound : n.reshape(bound, IntsRef()); };
  // With this order the upper bound takes precedence if the bounds cross, as the operator specifies.
  if (low)
    x = n.max(x, asScalar(low));
  if (high)
    x = n.min(x, asScalar(high));
  return n.setResult(x);
}

//===----------------------------------------------------------------------===//
// Tests of floats
//===----------------------------------------------------------------------===//

/// Eight-bit floats are tested as wider ones.
static Value widen(Node &n, Value x) { return n.elementType(x).getIntOrFloatBitWidth() < 16 ? n.cast(x, n.f32()) : x; }

static LogicalResult importIsNaN(Node &n) { return n.setResult(n.isNaN(widen(n, n.input(0)))); }

static LogicalResult importIsInf(Node &n) {
  Value x = widen(n, n.input(0)), zero = n.scalarLike(0, x);
  bool positive = n.getBool("detect_positive", true), negative = n.getBool("detect_negative", true);
  Value result = n.isInf(x);
  if (!positive)
    result = n.bitAnd(result, n.less(x, zero));
  if (!negative)
    result = n.bitAnd(result, n.greater(x, zero));
  return n.setResult(result);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Before opset 6 the type is a name.
static Type getLegacyCastType(Node &n) {
  std::string name = StringRef(n.getString("to", "")).lower();
  for (int dataType = 1; dataType < 17; ++dataType)
    if (Type type = getElementType(n.getContext(), dataType); type && getDataTypeName(dataType) == name)
      return type;
  (void)n.unsupported("cannot cast to '" + name + "'");
  return {};
}

/// Casts to types other than float8e8m0 round to nearest, whatever the node says.
static LogicalResult castTo(Node &n, Type to) {
  Value x = n.input(0);
  bool saturate = n.getBool("saturate", true);
  if (!isa<Float8E8M0FNUType>(to))
    return n.setResult(n.cast(x, to, saturate));
  std::string mode = n.getString("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    return n.invalid("'round_mode' has to be up, down or nearest, not '" + mode + "'");
  return n.setResult(n.cast(x, to, saturate, mode));
}

static LogicalResult importCast(Node &n) {
  if (n.getOpset() >= 9 && n.getInt("to", 0) == onnx::TensorProto::STRING)
    return castToStrings(n, n.input(0));
  Type to = n.getOpset() < 6 ? getLegacyCastType(n) : n.getDataType("to", {});
  return to ? castTo(n, to) : failure();
}

static LogicalResult importCastLike(Node &n) { return castTo(n, n.inputType(1).getElementType()); }

static LogicalResult importBitCast(Node &n) { return n.setResult(n.bitcast(n.input(0), n.getDataType("to", {}))); }

ArrayRef<OpEntry> onnx_import::getElementwiseOps() {
  using B = GraphBuilder;
  static const OpEntry ops[] = {
      {"Abs", importUnary<&B::abs>},
      {"Acos", importUnary<&B::acos>},
      {"Acosh", importUnary<&B::acosh>},
      {"Add", importBinary<&B::add>},
      {"And", importBinary<&B::bitAnd>},
      {"Asin", importUnary<&B::asin>},
      {"Asinh", importUnary<&B::asinh>},
      {"Atan", importUnary<&B::atan>},
      {"Atanh", importUnary<&B::atanh>},
      {"BitCast", importBitCast},
      {"BitShift", importBitShift},
      {"BitwiseAnd", importBinary<&B::bitAnd>},
      {"BitwiseNot", importUnary<&B::bitNot>},
      {"BitwiseOr", importBinary<&B::bitOr>},
      {"BitwiseXor", importBinary<&B::bitXor>},
      {"Cast", importCast},
      {"CastLike", importCastLike},
      {"Ceil", importUnary<&B::ceil>},
      {"Clip", importClip},
      {"Cos", importUnary<&B::cos>},
      {"Cosh", importUnary<&B::cosh>},
      {"Div", importBinary<&B::div>},
      {"Equal", importBinary<&B::equal>},
      {"Erf", importUnary<&B::erf>},
      {"Exp", importUnary<&B::exp>},
      {"Floor", importUnary<&B::floor>},
      {"Greater", importBinary<&B::greater>},
      {"GreaterOrEqual", importBinary<&B::greaterOrEqual>},
      {"IsInf", importIsInf},
      {"IsNaN", importIsNaN},
      {"Less", importBinary<&B::less>},
      {"LessOrEqual", importBinary<&B::lessOrEqual>},
      {"Log", importUnary<&B::log>},
      {"Max", importVariadic<&B::max>},
      {"Mean", importMean},
      {"Min", importVariadic<&B::min>},
      {"Mod", importMod},
      {"Mul", importBinary<&B::mul>},
      {"Neg", importUnary<&B::neg>},
      {"Not", importUnary<&B::bitNot>},
      {"Or", importBinary<&B::bitOr>},
      {"Pow", importPow},
      {"Reciprocal", importUnary<&B::reciprocal>},
      {"Round", importUnary<&B::round>},
      {"Sign", importUnary<&B::sign>},
      {"Sin", importUnary<&B::sin>},
      {"Sinh", importUnary<&B::sinh>},
      {"Sqrt", importUnary<&B::sqrt>},
      {"Sub", importBinary<&B::sub>},
      {"Sum", importVariadic<&B::add>},
      {"Tan", importUnary<&B::tan>},
      {"Tanh", importUnary<&B::tanh>},
      {"Where", importWhere},
      {"Xor", importBinary<&B::bitXor>},
  };
  return ops;
}
