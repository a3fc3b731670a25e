//===- Quantization.cpp - quantised tensors and products of them ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/Quantization.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/Window.h"
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Reshapes a scale or zero point to broadcast against x: a scalar, a vector along `axis`, or, with blocks, one number
/// for each `blockSize` elements along the axis.
Value alignParameter(Node &n, Value p, Value x, int64_t axis, int64_t blockSize) {
  if (n.rank(p) == 0)
    return p;
  if (n.rank(p) == 1 && getConstant(n.dim(p, 0)) == 1 && n.rank(x) != 1)
    return n.reshape(p, IntsRef());
  if (blockSize == 0)
    return n.rank(p) == 1 ? n.alongAxis(p, axis, n.rank(x)) : p;
  Value repeated = n.repeat(p, axis, n.constantDim(blockSize));
  // The last block may be cut short.
  return n.dim(repeated, axis) == n.dim(x, axis) ? repeated
                                                 : n.sliceAxis(repeated, axis, n.constantDim(0), n.dim(x, axis));
}

struct QuantizedAxis {
  int64_t axis = 0, blockSize = 0;
};

std::optional<QuantizedAxis> readAxis(Node &n, Value x, Value scale) {
  QuantizedAxis q;
  q.blockSize = n.getInt("block_size", 0);
  if (n.rank(scale) == 0)
    return q;
  // A vector of one number counts as a scalar, whatever the axis is.
  if (n.rank(scale) == 1 && getConstant(n.dim(scale, 0)) == 1 && q.blockSize == 0 && n.rank(x) < 2)
    return q;
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 1), n.rank(x));
  if (!axis)
    return std::nullopt;
  q.axis = *axis;
  return q;
}

/// Returns the type to compute in with a scale: its own, or f32, which holds 8-bit integers and powers of two.
Type getComputeType(Node &n, Value scale) {
  bool isComputed = n.isFloat(scale) && n.elementType(scale).getIntOrFloatBitWidth() >= 16;
  return isComputed ? n.elementType(scale) : n.f32();
}

std::pair<double, double> getIntegerRange(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (type.isUnsignedInteger())
    return {0, std::ldexp(1, width) - 1};
  return {-std::ldexp(1, width - 1), std::ldexp(1, width - 1) - 1};
}

/// round(x) + zero, clamped to the type.
Value saturate(Node &n, Value x, Value zero, Type type, bool saturates) {
  if (isa<FloatType>(type))
    return n.cast(zero ? n.add(x, zero) : x, type, saturates);
  // f32 cannot represent 32-bit integers, so the zero point is added in f32 before the result is clamped.
  Value rounded = n.round(x);
  if (zero)
    rounded = n.add(rounded, zero);
  auto [low, high] = getIntegerRange(type);
  return n.cast(n.min(n.max(rounded, n.scalarLike(low, x)), n.scalarLike(high, x)), type);
}

/// True for a constant of fewer than eight bits, or with blocks, which stays quantized and is dequantized by its users.
/// (An 8-bit constant may be an operand of an int8 matmul.)
bool staysNarrow(Node &n, Value x, Value scale, const QuantizedAxis &q) {
  bool isConstant = n.hasInput(0) && n.imported(0)->constant && n.isInteger(x);
  return isConstant && (q.blockSize > 0 || n.elementType(x).getIntOrFloatBitWidth() < 8) && n.rank(x) > 0 &&
         n.elementType(scale) == getComputeType(n, scale);
}

Value dequantizeNarrow(Node &n, Value x, Value scale, Value zero, const QuantizedAxis &q) {
  auto align = [&](Value p) {
    if (!p || n.rank(p) == n.rank(x))
      return p;
    return n.rank(p) == 1 && getConstant(n.dim(p, 0)) != 1 ? n.alongAxis(p, q.axis, n.rank(x))
                                                           : n.reshape(p, Ints(n.rank(x), 1));
  };
  return n.dequantize(x, align(scale), align(zero), q.axis, std::max<int64_t>(q.blockSize, 1));
}

} // namespace

LogicalResult onnx_import::importQuantizeLinear(Node &n) {
  Value x = n.input(0), scale = n.input(1), zero = n.optionalInput(2);
  std::optional<QuantizedAxis> q = readAxis(n, x, scale);
  if (!q)
    return failure();
  Type type = zero ? n.elementType(zero) : Type(IntegerType::get(n.getContext(), 8, IntegerType::Unsigned));
  if (!zero && n.getInt("output_dtype", 0) != 0)
    type = n.getDataType("output_dtype", type);
  Type compute = getComputeType(n, scale);
  if (n.getInt("precision", 0) != 0)
    compute = n.getDataType("precision", compute);
  if (compute.getIntOrFloatBitWidth() < 32 && !isa<FloatType>(type))
    compute = n.f32(); // Half precision cannot tell neighbours of 16-bit integers apart.
  auto align = [&](Value p) { return n.cast(alignParameter(n, p, x, q->axis, q->blockSize), compute); };
  Value scaled = n.div(n.cast(x, compute), align(scale));
  return n.setResult(saturate(n, scaled, zero ? align(zero) : Value(), type, n.getBool("saturate", true)));
}

LogicalResult onnx_import::importDequantizeLinear(Node &n) {
  Value x = n.input(0), scale = n.input(1), zero = n.optionalInput(2);
  std::optional<QuantizedAxis> q = readAxis(n, x, scale);
  if (!q)
    return failure();
  Type result = n.getInt("output_dtype", 0) ? n.getDataType("output_dtype", {}) : n.elementType(scale);
  if (staysNarrow(n, x, scale, *q))
    return n.setResult(n.cast(dequantizeNarrow(n, x, scale, zero, *q), result));
  // The difference is computed in 32 bits, where it is exact.
  bool isFloat = n.isFloat(x);
  Value difference = n.cast(x, isFloat ? n.f32() : n.i32());
  if (zero)
    difference =
        n.sub(difference, n.cast(alignParameter(n, zero, x, q->axis, q->blockSize), n.elementType(difference)));
  Value aligned = n.cast(alignParameter(n, scale, x, q->axis, q->blockSize), getComputeType(n, scale));
  Value product = n.mul(n.cast(difference, n.elementType(aligned)), aligned);
  return n.setResult(n.cast(product, result));
}

namespace {

//===----------------------------------------------------------------------===//
// Products of quantised tensors
//===----------------------------------------------------------------------===//

/// Returns x minus its zero point in 32 bits; a vector runs along `axis`.
Value centre(Node &n, Value x, Value zero, int64_t axis) {
  Type wide = n.isFloat(x) ? n.f32() : n.i32();
  zero = n.cast(zero, wide);
  if (n.rank(zero) == 1)
    zero = getConstant(n.dim(zero, 0)) == 1 ? n.reshape(zero, IntsRef()) : n.alongAxis(zero, axis, n.rank(x));
  return n.sub(n.cast(x, wide), zero);
}

/// A 32-bit sum times scale, quantised again.
Value requantize(Node &n, Value sum, Value scale, Value resultScale, Value zero) {
  Value scaled = n.div(n.mul(n.cast(sum, n.f32()), n.cast(scale, n.f32())), n.cast(resultScale, n.f32()));
  return saturate(n, scaled, n.cast(zero, n.f32()), n.elementType(zero), true);
}

Value asScalar(Node &n, Value v) { return getConstant(n.dim(v, 0)) == 1 ? n.reshape(v, IntsRef()) : v; }

LogicalResult importQLinearMatMul(Node &n) {
  Value a = n.input(0), b = n.input(3);
  Value product = n.matmul(centre(n, a, n.input(2), n.rank(a) - 2), centre(n, b, n.input(5), n.rank(b) - 1));
  Value aScale = n.input(1);
  if (n.rank(aScale) == 1 && getConstant(n.dim(aScale, 0)) != 1)
    aScale = n.alongAxis(aScale, n.rank(product) - 2, n.rank(product));
  Value scale = n.mul(n.cast(asScalar(n, aScale), n.f32()), n.cast(asScalar(n, n.input(4)), n.f32()));
  return n.setResult(requantize(n, product, scale, asScalar(n, n.input(6)), asScalar(n, n.input(7))));
}

LogicalResult importQLinearConv(Node &n) {
  Value x = n.input(0), filter = n.input(3);
  std::optional<ConvWindow> w = readConvWindow(n, x, filter);
  if (!w)
    return failure();
  Value sum = n.convolve(centre(n, x, n.input(2), 1), centre(n, filter, n.input(5), 0), w->window, w->groups);
  if (n.hasInput(8))
    sum = n.add(sum, n.alongAxis(n.input(8), 1, n.rank(x)));
  Value filterScale = asScalar(n, n.input(4));
  if (n.rank(filterScale) == 1)
    filterScale = n.alongAxis(filterScale, 1, n.rank(x));
  Value scale = n.mul(asScalar(n, n.input(1)), filterScale);
  return n.setResult(requantize(n, sum, scale, asScalar(n, n.input(6)), asScalar(n, n.input(7))));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getQuantizationOps() {
  static const OpEntry ops[] = {
      {"DequantizeLinear", importDequantizeLinear},
      {"QLinearConv", importQLinearConv},
      {"QLinearMatMul", importQLinearMatMul},
      {"QuantizeLinear", importQuantizeLinear},
  };
  return ops;
}
