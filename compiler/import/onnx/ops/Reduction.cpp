//===- Reduction.cpp - sums, maxima and the like along dimensions ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// The dimensions that a reduction runs over.
struct Reduction {
  Value input;
  Ints axes;
  bool keepdims;
  /// The final shape of the result, if the axes are only known at run time.
  std::optional<Dims> shape;
};

/// Handles axes that are unknown at compile time: the input is reshaped so that the odd dimensions are the reduced
/// ones.
std::optional<Reduction> readRuntimeAxes(Node &n, Value x, bool keepdims) {
  Value axes = axesOperand(n, 1, n.rank(x));
  std::optional<int64_t> count = getConstant(n.dim(axes, 0));
  if (!keepdims && !count) {
    (void)n.unsupported("how many axes '" + n.inputName(1) + "' has is not known, so neither is the result's rank");
    return std::nullopt;
  }
  SplitByAxes split = splitByAxes(n, x, axes, !n.getBool("noop_with_empty_axes", false));
  Dims shape = keepdims ? split.kept : dropAxes(n, extentsOf(n, x), split.mask, *count);
  return Reduction{split.value, split.reduced, true, shape};
}

/// Reads axes from the attribute or the input, whichever the node has. No axes mean all axes, unless
/// `noop_with_empty_axes` is set.
std::optional<Reduction> readReduction(Node &n) {
  Value x = n.input(0);
  Reduction r{x, {}, n.getBool("keepdims", true), std::nullopt};
  if (n.hasInput(1) && !n.isConstantOperand(1) && getConstant(getDims(n.inputType(1))[0]) != 0)
    return readRuntimeAxes(n, x, r.keepdims);
  if (n.hasAxes("axes", 1)) {
    std::optional<Ints> axes = n.getAxes("axes", 1, n.rank(x));
    if (!axes)
      return std::nullopt;
    r.axes = *axes;
  }
  if (r.axes.empty() && !n.getBool("noop_with_empty_axes", false))
    r.axes = rangeOf(0, n.rank(x));
  return r;
}

using Body = Value (*)(Node &n, const Reduction &r, Value x);

Value sum(Node &n, const Reduction &r, Value x) { return n.reduceSum(x, r.axes, r.keepdims); }
Value prod(Node &n, const Reduction &r, Value x) { return n.reduceProd(x, r.axes, r.keepdims); }
Value max(Node &n, const Reduction &r, Value x) { return n.reduceMax(x, r.axes, r.keepdims); }
Value min(Node &n, const Reduction &r, Value x) { return n.reduceMin(x, r.axes, r.keepdims); }
Value mean(Node &n, const Reduction &r, Value x) { return n.reduceMean(x, r.axes, r.keepdims); }
Value sumOfAbs(Node &n, const Reduction &r, Value x) { return sum(n, r, n.abs(x)); }
Value sumOfSquares(Node &n, const Reduction &r, Value x) { return sum(n, r, n.mul(x, x)); }
Value norm(Node &n, const Reduction &r, Value x) { return n.sqrt(sumOfSquares(n, r, x)); }
Value logOfSum(Node &n, const Reduction &r, Value x) { return n.log(sum(n, r, x)); }

/// m + log(sum(exp(x - m))) with the maximum m, or 0 if it is infinite.
Value logOfSumOfExp(Node &n, const Reduction &r, Value x) {
  Value m = n.reduceMax(x, r.axes, true);
  m = n.select(n.isInf(m), n.scalarLike(0, m), m);
  Value result = n.log(n.reduceSum(n.exp(n.sub(x, m)), r.axes, true));
  result = n.add(result, m);
  return r.keepdims ? result : n.squeeze(result, r.axes);
}

LogicalResult setReduced(Node &n, const Reduction &r, Value result) {
  return n.setResult(r.shape ? n.reshape(result, *r.shape) : result);
}

template <Body body> LogicalResult importReduction(Node &n) {
  std::optional<Reduction> r = readReduction(n);
  return r ? setReduced(n, *r, body(n, *r, r->input)) : failure();
}

/// Integers are computed in double precision, because an intermediate root or logarithm is not an integer.
template <Body body> LogicalResult importFloatReduction(Node &n) {
  std::optional<Reduction> r = readReduction(n);
  if (!r)
    return failure();
  if (n.isFloat(r->input))
    return setReduced(n, *r, body(n, *r, r->input));
  return setReduced(n, *r, n.cast(body(n, *r, n.cast(r->input, n.f64())), n.elementType(r->input)));
}

/// Booleans are compared as bytes; the minimum of zero elements is the largest byte.
template <Body body> LogicalResult importExtremum(Node &n) {
  std::optional<Reduction> r = readReduction(n);
  if (!r)
    return failure();
  if (!n.isBool(r->input))
    return setReduced(n, *r, body(n, *r, r->input));
  return setReduced(n, *r, n.cast(body(n, *r, n.cast(r->input, n.ui8())), n.i1()));
}

template <bool isMax> LogicalResult importArg(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  if (!axis)
    return failure();
  n.require(subDims(n.dim(x, *axis), n.constantDim(1)), "searches for an index in an empty dimension");
  bool keepdims = n.getBool("keepdims", true), last = n.getBool("select_last_index", false);
  return n.setResult(isMax ? n.argMax(x, *axis, keepdims, last) : n.argMin(x, *axis, keepdims, last));
}

template <bool isSum> LogicalResult importCumulative(Node &n) {
  Value x = n.input(0);
  bool exclusive = n.getBool("exclusive", false), reverse = n.getBool("reverse", false);
  auto accumulate = [&](Value value, int64_t axis) {
    return isSum ? n.cumulativeSum(value, axis, exclusive, reverse) : n.cumulativeProd(value, axis, exclusive, reverse);
  };
  if (!n.isConstantOperand(1))
    return n.setResult(n.reshape(accumulate(aroundAxis(n, x, axesOperand(n, 1, n.rank(x))), 1), n.dims(x)));
  std::optional<int64_t> given = n.intOperand(1, "axis");
  std::optional<int64_t> axis = given ? n.normalizeAxis(*given, n.rank(x)) : std::nullopt;
  return axis ? n.setResult(accumulate(x, *axis)) : failure();
}

} // namespace

ArrayRef<OpEntry> onnx_import::getReductionOps() {
  static const OpEntry ops[] = {
      {"ArgMax", importArg<true>},
      {"ArgMin", importArg<false>},
      {"CumProd", importCumulative<false>},
      {"CumSum", importCumulative<true>},
      {"ReduceL1", importReduction<sumOfAbs>},
      {"ReduceL2", importFloatReduction<norm>},
      {"ReduceLogSum", importFloatReduction<logOfSum>},
      {"ReduceLogSumExp", importFloatReduction<logOfSumOfExp>},
      {"ReduceMax", importExtremum<max>},
      {"ReduceMean", importReduction<mean>},
      {"ReduceMin", importExtremum<min>},
      {"ReduceProd", importReduction<prod>},
      {"ReduceSum", importReduction<sum>},
      {"ReduceSumSquare", importReduction<sumOfSquares>},
  };
  return ops;
}
