//===- MicrosoftQuantization.cpp - quantised operators of domain com.microsoft ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/Quantization.h"
#include "compiler/import/onnx/ops/Window.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

// The handlers follow the descriptions in ONNX Runtime (docs/ContribOperators.md).

namespace {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// A vector of one number becomes a scalar; a longer one has a number for each column.
Value asNumber(Node &n, Value x) { return getConstant(n.dim(x, 0)) == 1 ? n.reshape(x, IntsRef()) : x; }

/// Dequantizes input i, which is followed by its scale and its optional zero point.
Value dequantize(Node &n, size_t i) {
  Value x = n.cast(n.input(i), n.f32());
  if (n.hasInput(i + 2))
    x = n.sub(x, n.cast(asNumber(n, n.input(i + 2)), n.f32()));
  return n.mul(x, asNumber(n, n.input(i + 1)));
}

Value saturate(Node &n, Value x, Type type) {
  int64_t bits = type.getIntOrFloatBitWidth();
  double low = type.isUnsignedInteger() ? 0 : -std::ldexp(1.0, bits - 1), high = low + std::ldexp(1.0, bits) - 1;
  return n.cast(n.min(n.max(x, n.scalarLike(low, x)), n.scalarLike(high, x)), type);
}

/// Quantizes by the scale at input i and the zero point after it, which defaults to 0 of type `fallback`.
Value quantize(Node &n, Value x, size_t i, Type fallback) {
  Value rounded = n.round(n.div(x, asNumber(n, n.input(i))));
  if (!n.hasInput(i + 1))
    return saturate(n, rounded, fallback);
  Value zero = asNumber(n, n.input(i + 1));
  return saturate(n, n.add(rounded, n.cast(zero, n.f32())), n.elementType(zero));
}

/// Operands a and b, each with scale and zero point, are followed by those of the result.
template <Value (GraphBuilder::*method)(Value, Value)> LogicalResult importBinary(Node &n) {
  Value result = (n.*method)(dequantize(n, 0), dequantize(n, 3));
  return n.setResult(quantize(n, result, 6, n.elementType(n.input(0))));
}

LogicalResult setQuantized(Node &n, Value y) { return n.setResult(quantize(n, y, 3, n.elementType(n.input(0)))); }

LogicalResult importSigmoid(Node &n) { return setQuantized(n, n.sigmoid(dequantize(n, 0))); }

LogicalResult importLeakyRelu(Node &n) {
  Value x = dequantize(n, 0), slope = n.scalarLike(n.getFloat("alpha", 0.01), x);
  return setQuantized(n, n.select(n.less(x, n.scalarLike(0, x)), n.mul(x, slope), x));
}

/// Before opset 13, a softmax is over all dimensions from its axis on.
LogicalResult importSoftmax(Node &n) {
  Value x = dequantize(n, 0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", -1), n.rank(x));
  if (!axis)
    return failure();
  if (n.getInt("opset", 13) >= 13)
    return setQuantized(n, n.softmax(x, *axis));
  Dims shape = n.dims(x);
  AffineExpr rows = getElementCount(n.getContext(), ArrayRef(shape).take_front(*axis));
  AffineExpr columns = getElementCount(n.getContext(), ArrayRef(shape).drop_front(*axis));
  return setQuantized(n, n.reshape(n.softmax(n.reshape(x, {rows, columns}), 1), shape));
}

LogicalResult importReduceMean(Node &n) {
  Value x = dequantize(n, 0);
  std::optional<Ints> axes = n.normalizeAxes(n.getInts("axes").value_or(rangeOf(0, n.rank(x))), n.rank(x));
  return axes ? setQuantized(n, n.reduceMean(x, *axes, n.getBool("keepdims", true))) : failure();
}

LogicalResult importWhere(Node &n) {
  Value result = n.select(n.input(0), dequantize(n, 1), dequantize(n, 4));
  return n.setResult(quantize(n, result, 7, n.elementType(n.input(1))));
}

/// The result's scale and zero point come first, then each operand with its own.
LogicalResult importConcat(Node &n) {
  SmallVector<Value> values;
  for (size_t i = 2; i + 1 < n.getNumInputs(); i += 3)
    values.push_back(dequantize(n, i));
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), values.empty() ? 0 : n.rank(values[0]));
  return axis ? n.setResult(quantize(n, n.concat(values, *axis), 0, n.elementType(n.input(2)))) : failure();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Moves channels from the last dimension to dimension 1, or back.
Value moveChannels(Node &n, Value x, bool toFront) {
  Ints order = rangeOf(0, n.rank(x));
  if (!n.getBool("channels_last", false) || order.size() < 3)
    return x;
  std::rotate(order.begin() + 1, toFront ? order.end() - 1 : order.begin() + 2, order.end());
  return n.transpose(x, order);
}

LogicalResult importAveragePool(Node &n) {
  Value x = moveChannels(n, dequantize(n, 0), true);
  std::optional<Window> w = readPoolWindow(n, x);
  if (!w)
    return failure();
  Value y = n.poolAverage(x, *w, n.getBool("ceil_mode", false), n.getBool("count_include_pad", false));
  return setQuantized(n, moveChannels(n, y, false));
}

LogicalResult importGlobalAveragePool(Node &n) {
  Value x = moveChannels(n, dequantize(n, 0), true);
  return setQuantized(n, moveChannels(n, n.reduceMean(x, rangeOf(2, n.rank(x))), false));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Returns x minus its zero point, which may have a number per column, in 32 bits.
Value centre(Node &n, Value x, Value zero) {
  x = n.cast(x, n.i32());
  return zero ? n.sub(x, n.cast(asNumber(n, zero), n.i32())) : x;
}

/// Returns the exact product of two centred matrices as floats, scaled, with a bias.
Value scaleProduct(Node &n, Value a, Value b, Value scale, Value bias) {
  Value product = n.mul(n.cast(n.matmul(a, b), n.f32()), scale);
  return bias ? n.add(product, bias) : product;
}

LogicalResult importMatMulIntegerToFloat(Node &n) {
  Value a = centre(n, n.input(0), n.optionalInput(4)), b = centre(n, n.input(1), n.optionalInput(5));
  Value scale = n.mul(asNumber(n, n.input(2)), asNumber(n, n.input(3)));
  return n.setResult(scaleProduct(n, a, b, scale, n.optionalInput(6)));
}

/// The first operand is quantized to its own range, from 0 to 255.
LogicalResult importDynamicQuantizeMatMul(Node &n) {
  Value x = n.input(0);
  Ints axes = rangeOf(0, n.rank(x));
  auto number = [&](double value) { return n.scalarLike(value, x); };
  Value low = n.min(n.reduceMin(x, axes, false), number(0)), high = n.max(n.reduceMax(x, axes, false), number(0));
  Value scale = n.div(n.sub(high, low), number(255));
  scale = n.select(n.equal(scale, number(0)), number(1), scale);
  Value zero = n.round(n.min(n.max(n.div(n.neg(low), scale), number(0)), number(255)));
  Value quantized = n.min(n.max(n.add(n.round(n.div(x, scale)), zero), number(0)), number(255));
  Value a = n.cast(n.sub(quantized, zero), n.i32()), b = centre(n, n.input(1), n.optionalInput(3));
  return n.setResult(scaleProduct(n, a, b, n.mul(scale, asNumber(n, n.input(2))), n.optionalInput(4)));
}

/// Computes alpha * (a @ b + c), in floats if the result has no scale.
LogicalResult importGemm(Node &n) {
  Value a = centre(n, n.input(0), n.input(2)), b = n.input(3);
  if (n.rank(a) != 2 || n.rank(b) != 2)
    return n.invalid("needs two matrices, found " + dimsToString(n.dims(a)) + " and " + dimsToString(n.dims(b)));
  if (n.getBool("transA", false))
    a = n.transpose(a, {1, 0});
  // Scale and zero point have a number for each column of the product.
  if (n.getBool("transB", false))
    b = n.transpose(b, {1, 0});
  Value sum = n.matmul(a, centre(n, b, n.input(5)));
  if (n.hasInput(6))
    sum = n.add(sum, n.input(6));
  Value scale = n.mul(asNumber(n, n.input(1)), asNumber(n, n.input(4)));
  Value y = n.mul(n.cast(sum, n.f32()), n.mul(scale, n.scalarLike(n.getFloat("alpha", 1), scale)));
  return n.setResult(n.hasInput(7) ? quantize(n, y, 7, n.elementType(n.input(0))) : y);
}

} // namespace

ArrayRef<OpEntry> onnx_import::getMicrosoftQuantizationOps() {
  static const OpEntry ops[] = {
      {"DequantizeLinear", importDequantizeLinear},
      {"DynamicQuantizeMatMul", importDynamicQuantizeMatMul},
      {"MatMulIntegerToFloat", importMatMulIntegerToFloat},
      {"QGemm", importGemm},
      {"QLinearAdd", importBinary<&GraphBuilder::add>},
      {"QLinearAveragePool", importAveragePool},
      {"QLinearConcat", importConcat},
      {"QLinearGlobalAveragePool", importGlobalAveragePool},
      {"QLinearLeakyRelu", importLeakyRelu},
      {"QLinearMul", importBinary<&GraphBuilder::mul>},
      {"QLinearReduceMean", importReduceMean},
      {"QLinearSigmoid", importSigmoid},
      {"QLinearSoftmax", importSoftmax},
      {"QLinearWhere", importWhere},
      {"QuantizeLinear", importQuantizeLinear},
  };
  return ops;
}
