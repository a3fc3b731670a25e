//===- Window.cpp - convolutions and pooling ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/Window.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// What `auto_pad` asks for.
enum class AutoPad { none, valid, sameUpper, sameLower };

std::optional<AutoPad> readAutoPad(Node &n) {
  std::string text = n.getString("auto_pad", "NOTSET");
  if (text == "NOTSET")
    return AutoPad::none;
  if (text == "VALID")
    return AutoPad::valid;
  if (text == "SAME_UPPER")
    return AutoPad::sameUpper;
  if (text == "SAME_LOWER")
    return AutoPad::sameLower;
  (void)n.invalid("'auto_pad' has to be NOTSET, VALID, SAME_UPPER or SAME_LOWER, not '" + text + "'");
  return std::nullopt;
}

std::optional<Ints> readList(Node &n, StringRef name, size_t count, int64_t fallback, int64_t min) {
  Ints list = n.getInts(name).value_or(Ints(count, fallback));
  bool isGood = list.size() == count && llvm::all_of(list, [&](int64_t i) { return i >= min && i <= INT32_MAX; });
  if (isGood)
    return list;
  (void)n.invalid("'" + name + "' has to be " + Twine(count) + " numbers from " + Twine(min) +
                  " to 2^31 - 1, one or two for each spatial dimension");
  return std::nullopt;
}

/// Reads all attributes but the window's size. `pad` resolves `auto_pad`.
std::optional<Window> readWindow(Node &n, IntsRef sizes) {
  size_t rank = sizes.size();
  std::optional<Ints> strides = readList(n, "strides", rank, 1, 1), dilations = readList(n, "dilations", rank, 1, 1);
  std::optional<Ints> pads = readList(n, "pads", 2 * rank, 0, INT32_MIN);
  if (!strides || !dilations || !pads)
    return std::nullopt;
  return Window{Ints(sizes), *strides, *dilations, Ints(pads->begin(), pads->begin() + rank),
                Ints(pads->begin() + rank, pads->end())};
}

/// How far a window reaches.
int64_t getReach(const Window &w, size_t i) { return (w.sizes[i] - 1) * w.dilations[i] + 1; }

/// Returns the padding for SAME in one dimension, which yields ceil(in / stride) positions. Null if it depends on a
/// dynamic extent.
std::optional<int64_t> getSamePadding(AffineExpr in, const Window &w, size_t i) {
  int64_t reach = getReach(w, i), stride = w.strides[i];
  if (std::optional<int64_t> size = getConstant(in))
    return std::max<int64_t>((llvm::divideCeil(*size, stride) - 1) * stride + reach - *size, 0);
  if (stride == 1)
    return reach - 1;
  // If the extent is a multiple of the stride, the padding is the same for all sizes.
  if (getConstant(modDims(in, getDimConstant(in.getContext(), stride))) == 0)
    return std::max<int64_t>(reach - stride, 0);
  return std::nullopt;
}

/// Padding that depends on dynamic extents, which is applied to `x` before the window. Empty if there is none.
struct OpenPadding {
  Dims low, shape;
};

/// The same for a dynamic extent: the last window starts at (in - 1) / stride * stride.
AffineExpr getOpenPadding(Node &n, AffineExpr in, const Window &w, size_t i) {
  AffineExpr stride = n.constantDim(w.strides[i]),
             last = mulDims(divDims(subDims(in, n.constantDim(1)), stride), stride);
  AffineExpr total = subDims(addDims(last, n.constantDim(getReach(w, i))), in);
  if (getReach(w, i) >= w.strides[i])
    return total;
  // The total is in [-stride, stride); the factor, 1 or 0, replaces negative values by 0.
  return mulDims(total, divDims(addDims(total, stride), stride));
}

void addOpenPadding(Node &n, Value x, Window &w, size_t i, AutoPad mode, OpenPadding &open) {
  if (open.shape.empty()) {
    open.shape = n.dims(x);
    open.low = Dims(n.rank(x), n.constantDim(0));
  }
  AffineExpr in = n.dim(x, i + 2), total = getOpenPadding(n, in, w, i), half = divDims(total, n.constantDim(2));
  open.low[i + 2] = mode == AutoPad::sameLower ? subDims(total, half) : half;
  open.shape[i + 2] = addDims(in, total);
  w.low[i] = w.high[i] = 0;
}

Value applyPadding(Node &n, Value x, const OpenPadding &open, double fill = 0) {
  if (open.shape.empty())
    return x;
  return n.pad("constant", x, n.scalarLike(fill, x), open.low, Ints(n.rank(x), 0), open.shape);
}

/// Without `open`, padding has to be constant.
LogicalResult resolveAutoPad(Node &n, Value x, Window &w, OpenPadding *open) {
  std::optional<AutoPad> mode = readAutoPad(n);
  if (!mode)
    return failure();
  if (*mode == AutoPad::none)
    return success();
  for (size_t i = 0; i < w.sizes.size(); ++i) {
    int64_t total = 0;
    if (*mode != AutoPad::valid) {
      std::optional<int64_t> same = getSamePadding(n.dim(x, i + 2), w, i);
      if (!same && open) {
        addOpenPadding(n, x, w, i, *mode, *open);
        continue;
      }
      if (!same)
        return n.unsupported("its padding depends on spatial dimension " + Twine(i) +
                             ", which is not constant; fix it with --shape");
      total = *same;
    }
    w.low[i] = *mode == AutoPad::sameLower ? total - total / 2 : total / 2;
    w.high[i] = total - w.low[i];
  }
  return success();
}

LogicalResult checkSpatial(Node &n, Value x) {
  if (n.rank(x) >= 3)
    return success();
  return n.invalid("needs an input [N, C, spatial...], found one of shape " + dimsToString(n.dims(x)));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns the window sizes of a convolution, which are those of its filter; `kernel_shape` may repeat them.
std::optional<Ints> getFilterSizes(Node &n, Value x, Value filter) {
  if (failed(checkSpatial(n, x)))
    return std::nullopt;
  if (n.rank(filter) != n.rank(x)) {
    (void)n.invalid("has an input of " + Twine(n.rank(x)) + " dimensions and a filter of " + Twine(n.rank(filter)));
    return std::nullopt;
  }
  std::optional<Ints> sizes = getConstants(ArrayRef(n.dims(filter)).drop_front(2));
  if (!sizes) {
    (void)n.unsupported("has a filter whose window is not constant");
    return std::nullopt;
  }
  std::optional<Ints> given = n.getInts("kernel_shape");
  if (given && *given != *sizes) {
    (void)n.invalid("'kernel_shape' differs from the filter, whose shape is " + dimsToString(n.dims(filter)));
    return std::nullopt;
  }
  return sizes;
}

/// Adds a bias along dimension 1.
Value addBias(Node &n, Value x, Value bias) { return bias ? n.add(x, n.alongAxis(bias, 1, n.rank(x))) : x; }

} // namespace

static std::optional<ConvWindow> readConvWindow(Node &n, Value x, Value filter, OpenPadding *open) {
  std::optional<Ints> sizes = getFilterSizes(n, x, filter);
  std::optional<Window> w = sizes ? readWindow(n, *sizes) : std::nullopt;
  if (!w || failed(resolveAutoPad(n, x, *w, open)))
    return std::nullopt;
  return ConvWindow{*w, n.getInt("group", 1)};
}

std::optional<ConvWindow> onnx_import::readConvWindow(Node &n, Value x, Value filter) {
  return ::readConvWindow(n, x, filter, nullptr);
}

namespace {

LogicalResult importConv(Node &n) {
  Value x = n.input(0), filter = n.input(1);
  OpenPadding open;
  std::optional<ConvWindow> w = ::readConvWindow(n, x, filter, &open);
  if (!w)
    return failure();
  x = applyPadding(n, x, open);
  return n.setResult(addBias(n, n.convolve(x, filter, w->window, w->groups), n.optionalInput(2)));
}

LogicalResult importConvInteger(Node &n) {
  Value x = n.input(0), filter = n.input(1);
  OpenPadding open;
  std::optional<ConvWindow> w = ::readConvWindow(n, x, filter, &open);
  if (!w)
    return failure();
  x = n.cast(x, n.i32());
  filter = n.cast(filter, n.i32());
  if (Value zero = n.optionalInput(2))
    x = n.sub(x, n.reshape(n.cast(zero, n.i32()), IntsRef()));
  if (Value zero = n.optionalInput(3)) {
    zero = n.cast(zero, n.i32());
    filter = n.sub(filter, n.rank(zero) == 1 ? n.alongAxis(zero, 0, n.rank(filter)) : zero);
  }
  x = applyPadding(n, x, open);
  return n.setResult(n.convolve(x, filter, w->window, w->groups));
}

//===----------------------------------------------------------------------===//
// Transposed convolutions
//===----------------------------------------------------------------------===//

/// Computes the padding for the requested output extents; replaces `low` and `high` of the window.
LogicalResult resolveTransposedPads(Node &n, Value x, Window &w, IntsRef outputPadding) {
  std::optional<Ints> shape = n.getInts("output_shape");
  std::optional<AutoPad> mode = readAutoPad(n);
  if (!mode)
    return failure();
  size_t rank = w.sizes.size();
  // Some exporters give the whole shape.
  if (shape && shape->size() == rank + 2)
    shape->erase(shape->begin(), shape->begin() + 2);
  if (shape && shape->size() != rank)
    return n.invalid("'output_shape' has " + Twine(shape->size()) + " numbers for " + Twine(rank) +
                     " spatial dimensions");
  if (!shape && (*mode == AutoPad::none || *mode == AutoPad::valid))
    return success();
  for (size_t i = 0; i < rank; ++i) {
    std::optional<int64_t> in = getConstant(n.dim(x, i + 2));
    // SAME requests in * stride elements, so the extent itself cancels out.
    int64_t total = getReach(w, i) - w.strides[i] + outputPadding[i];
    if (shape && !in)
      return n.unsupported("'output_shape' is given for spatial dimension " + Twine(i) + ", which is not constant");
    if (shape)
      total = w.strides[i] * (*in - 1) + outputPadding[i] + getReach(w, i) - (*shape)[i];
    w.low[i] = *mode == AutoPad::sameUpper ? total / 2 : total - total / 2;
    if (shape && *mode == AutoPad::none)
      w.low[i] = total / 2;
    w.high[i] = total - w.low[i];
  }
  return success();
}

/// Converts the filter [C, M / groups, window...] to that of the equivalent convolution: [M, C / groups, window...]
/// with the window reversed.
Value transposeFilter(Node &n, Value filter, int64_t groups) {
  int64_t rank = n.rank(filter);
  AffineExpr in = n.dim(filter, 0), out = n.dim(filter, 1), g = n.constantDim(groups);
  Dims split = n.dims(filter), joined = n.dims(filter);
  split[0] = divDims(in, g);
  split.insert(split.begin(), g);
  joined[0] = mulDims(out, g);
  joined[1] = divDims(in, g);
  Ints permutation{0, 2, 1}, spatial;
  for (int64_t d = 3; d <= rank; ++d)
    permutation.push_back(d);
  for (int64_t d = 2; d < rank; ++d)
    spatial.push_back(d);
  return n.reverseAxes(n.reshape(n.transpose(n.reshape(filter, split), permutation), joined), spatial);
}

/// Inserts stride - 1 zeros between the elements, and pads, or crops if the padding is negative.
Value spread(Node &n, Value x, const Window &w, IntsRef low, IntsRef high) {
  Dims lows(2, n.constantDim(0)), shape = n.dims(x);
  Ints interior(2, 0);
  for (size_t i = 0; i < w.sizes.size(); ++i) {
    AffineExpr gaps = subDims(shape[i + 2], n.constantDim(1));
    shape[i + 2] =
        addDims(addDims(shape[i + 2], mulDims(gaps, n.constantDim(w.strides[i] - 1))), n.constantDim(low[i] + high[i]));
    lows.push_back(n.constantDim(low[i]));
    interior.push_back(w.strides[i] - 1);
  }
  if (shape == n.dims(x))
    return x;
  return n.pad("constant", x, n.scalarLike(0, x), lows, interior, shape);
}

LogicalResult importConvTranspose(Node &n) {
  Value x = n.input(0), filter = n.input(1);
  std::optional<Ints> sizes = getFilterSizes(n, x, filter);
  std::optional<Window> w = sizes ? readWindow(n, *sizes) : std::nullopt;
  std::optional<Ints> outputPadding = sizes ? readList(n, "output_padding", sizes->size(), 0, 0) : std::nullopt;
  if (!w || !outputPadding || failed(resolveTransposedPads(n, x, *w, *outputPadding)))
    return failure();
  int64_t groups = n.getInt("group", 1);
  if (groups < 1 || getConstant(modDims(n.dim(filter, 0), n.constantDim(groups))) != 0)
    return n.invalid("'group' is " + Twine(groups) + ", which does not divide the " + dimsToString(n.dim(filter, 0)) +
                     " channels of its input");
  Window plain{w->sizes, Ints(sizes->size(), 1), w->dilations, {}, {}};
  Ints before, after;
  for (size_t i = 0; i < sizes->size(); ++i) {
    int64_t low = getReach(*w, i) - 1 - w->low[i], high = getReach(*w, i) - 1 - w->high[i] + (*outputPadding)[i];
    plain.low.push_back(std::max<int64_t>(low, 0));
    plain.high.push_back(std::max<int64_t>(high, 0));
    before.push_back(std::min<int64_t>(low, 0));
    after.push_back(std::min<int64_t>(high, 0));
  }
  Value result = n.convolve(spread(n, x, *w, before, after), transposeFilter(n, filter, groups), plain, groups);
  return n.setResult(addBias(n, result, n.optionalInput(2)));
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

} // namespace

static std::optional<Window> readPoolWindow(Node &n, Value x, OpenPadding *open) {
  if (failed(checkSpatial(n, x)))
    return std::nullopt;
  std::optional<Ints> sizes = readList(n, "kernel_shape", n.rank(x) - 2, 1, 1);
  std::optional<Window> w = sizes ? readWindow(n, *sizes) : std::nullopt;
  if (!w || failed(resolveAutoPad(n, x, *w, open)))
    return std::nullopt;
  return w;
}

std::optional<Window> onnx_import::readPoolWindow(Node &n, Value x) { return ::readPoolWindow(n, x, nullptr); }

namespace {

/// Returns the identity of a maximum.
double getLowest(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return -std::numeric_limits<double>::infinity();
  return integer.isUnsigned() ? 0 : -std::ldexp(1, integer.getWidth() - 1);
}

LogicalResult importMaxPool(Node &n) {
  Value x = n.input(0);
  OpenPadding open;
  // Indices count the elements of what is not padded.
  std::optional<Window> w = ::readPoolWindow(n, x, n.wantsOutput(1) ? nullptr : &open);
  if (!w)
    return failure();
  x = applyPadding(n, x, open, getLowest(n.elementType(x)));
  Value y = n.poolMax(x, *w, n.getBool("ceil_mode", false));
  if (n.wantsOutput(1)) {
    Dims places(n.dims(y));
    places.erase(places.begin(), places.begin() + std::min<size_t>(places.size(), 2));
    if (failed(n.setOutput(1, poolMaxIndices(n, x, *w, places, n.getIntIn("storage_order", 0, 0, 1) == 1))))
      return failure();
  }
  return n.setResult(y);
}

LogicalResult importAveragePool(Node &n) {
  Value x = n.input(0);
  OpenPadding open;
  std::optional<Window> w = ::readPoolWindow(n, x, &open);
  if (!w)
    return failure();
  bool ceil = n.getBool("ceil_mode", false), countsPadding = n.getBool("count_include_pad", false);
  if (open.shape.empty() || countsPadding)
    return n.setResult(n.poolAverage(applyPadding(n, x, open), *w, ceil, countsPadding));
  // Counts the elements of each window that are not padding.
  Value ones = n.broadcast(n.scalarLike(1, x), n.dims(x));
  Value counts = n.poolSum(applyPadding(n, ones, open), *w, ceil);
  return n.setResult(n.div(n.poolSum(applyPadding(n, x, open), *w, ceil), counts));
}

/// Computes x to the power of p, with special cases for exponents that are cheaper than a power.
Value toPower(Node &n, Value x, double p) { return p == 1 ? x : p == 2 ? n.mul(x, x) : n.pow(x, n.scalarLike(p, x)); }
Value toRoot(Node &n, Value x, double p) { return p == 1 ? x : p == 2 ? n.sqrt(x) : n.pow(x, n.scalarLike(1 / p, x)); }

double readNorm(Node &n) {
  // A float in opset 1.
  return n.getOpset() < 2 ? n.getFloat("p", 2) : static_cast<double>(n.getInt("p", 2));
}

LogicalResult importLpPool(Node &n) {
  Value x = n.input(0);
  OpenPadding open;
  std::optional<Window> w = ::readPoolWindow(n, x, &open);
  if (!w)
    return failure();
  double p = readNorm(n);
  Value powers = applyPadding(n, toPower(n, n.abs(x), p), open);
  return n.setResult(toRoot(n, n.poolSum(powers, *w, n.getBool("ceil_mode", false)), p));
}

std::optional<Ints> getSpatialAxes(Node &n, Value x) {
  if (failed(checkSpatial(n, x)))
    return std::nullopt;
  return rangeOf(2, n.rank(x));
}

LogicalResult importGlobalAveragePool(Node &n) {
  Value x = n.input(0);
  std::optional<Ints> axes = getSpatialAxes(n, x);
  return axes ? n.setResult(n.reduceMean(x, *axes)) : failure();
}

LogicalResult importGlobalMaxPool(Node &n) {
  Value x = n.input(0);
  std::optional<Ints> axes = getSpatialAxes(n, x);
  return axes ? n.setResult(n.reduceMax(x, *axes)) : failure();
}

LogicalResult importGlobalLpPool(Node &n) {
  Value x = n.input(0);
  std::optional<Ints> axes = getSpatialAxes(n, x);
  if (!axes)
    return failure();
  double p = readNorm(n);
  return n.setResult(toRoot(n, n.reduceSum(toPower(n, n.abs(x), p), *axes), p));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getWindowOps() {
  static const OpEntry ops[] = {
      {"AveragePool", importAveragePool},
      {"Conv", importConv},
      {"ConvInteger", importConvInteger},
      {"ConvTranspose", importConvTranspose},
      {"GlobalAveragePool", importGlobalAveragePool},
      {"GlobalLpPool", importGlobalLpPool},
      {"GlobalMaxPool", importGlobalMaxPool},
      {"LpPool", importLpPool},
      {"MaxPool", importMaxPool},
  };
  return ops;
}
