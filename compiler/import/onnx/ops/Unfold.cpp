//===- Unfold.cpp - windows laid side by side, and put back --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/Window.h"
#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Linear row-major positions in spatial dimensions, and whether each is in bounds.
struct Places {
  Value index, isInside;
};

/// Adds a dimension of extent `size` with the given position.
void addDimension(Node &n, Places &places, Value position, AffineExpr size) {
  Value extent = n.size(size, n.i64()), zero = n.scalar(0, n.i64());
  Value isInside = n.bitAnd(n.greaterOrEqual(position, zero), n.less(position, extent));
  Value clamped = n.max(n.min(position, n.sub(extent, n.scalar(1, n.i64()))), zero);
  places.isInside = places.isInside ? n.bitAnd(places.isInside, isInside) : isInside;
  places.index = places.index ? n.add(n.mul(places.index, extent), clamped) : clamped;
}

/// i * stride - low + w * dilation
Value makePosition(Node &n, const Window &w, size_t axis, Value place, Value inWindow) {
  Value start = n.sub(n.mul(place, n.scalar(w.strides[axis], n.i64())), n.scalar(w.low[axis], n.i64()));
  return n.add(start, n.mul(inWindow, n.scalar(w.dilations[axis], n.i64())));
}

AffineExpr countElements(Node &n, ArrayRef<AffineExpr> dims) { return getElementCount(n.getContext(), dims); }

/// Reads elements of [N, C, spatial...] at positions [a...]: [N, C, a...], with `fill` for positions out of bounds.
Value readPlaces(Node &n, Value x, const Places &places, double fill) {
  Dims flat{n.dim(x, 0), n.dim(x, 1), countElements(n, ArrayRef(n.dims(x)).drop_front(2))};
  Value elements = n.gather(n.reshape(x, flat), places.index, 2);
  return n.select(places.isInside, elements, n.scalarLike(fill, elements));
}

/// The lowest value of a type.
double getLowest(Type type) {
  if (isa<FloatType>(type))
    return -std::numeric_limits<double>::infinity();
  return type.isUnsignedInteger() ? 0 : -std::ldexp(1.0, type.getIntOrFloatBitWidth() - 1);
}

} // namespace

Value onnx_import::poolMaxIndices(Node &n, Value x, const Window &w, ArrayRef<AffineExpr> places, bool columnMajor) {
  size_t spatial = w.sizes.size();
  Dims in = n.dims(x), window = n.constantDims(w.sizes), all(places);
  if (in.size() != spatial + 2 || places.size() != spatial)
    return {};
  // Each window becomes an additional dimension, along which the first largest element is searched.
  all.append(window);
  Places read;
  for (size_t i = 0; i < spatial; ++i)
    addDimension(n, read, makePosition(n, w, i, n.iota(all, i, n.i64()), n.iota(all, spatial + i, n.i64())), in[i + 2]);
  Dims joined(places);
  joined.push_back(countElements(n, window));
  read.index = n.reshape(read.index, joined);
  read.isInside = n.reshape(read.isInside, joined);
  Value best = n.argMax(readPlaces(n, x, read, getLowest(n.elementType(x))), spatial + 2, /*keepdims=*/false);

  // Converts the position in the window back to one in the input.
  Dims shape = n.dims(best);
  SmallVector<Value> positions(spatial);
  for (size_t i = spatial; i-- > 0;) {
    Value size = n.scalar(w.sizes[i], n.i64());
    positions[i] = makePosition(n, w, i, n.iota(shape, i + 2, n.i64()), n.rem(best, size));
    best = n.div(best, size);
  }
  Value index = n.add(n.mul(n.iota(shape, 0, n.i64()), n.size(in[1], n.i64())), n.iota(shape, 1, n.i64()));
  for (size_t i = 0; i < spatial; ++i) {
    size_t axis = columnMajor ? spatial - 1 - i : i;
    index = n.add(n.mul(index, n.size(in[axis + 2], n.i64())), positions[axis]);
  }
  return index;
}

namespace {

/// Returns the extents of the input of a pooling with this window.
Dims getUnpooledDims(Node &n, Value x, const Window &w) {
  Dims dims = n.dims(x);
  for (size_t i = 0; i < w.sizes.size(); ++i) {
    AffineExpr steps = mulDims(subDims(dims[i + 2], n.constantDim(1)), n.constantDim(w.strides[i]));
    dims[i + 2] = addDims(steps, n.constantDim(w.sizes[i] - w.low[i] - w.high[i]));
  }
  return dims;
}

/// Indices refer to the tensor that was pooled; a larger requested shape is padded with zeros.
LogicalResult importMaxUnpool(Node &n) {
  Value x = n.input(0), indices = n.input(1);
  std::optional<Window> w = readPoolWindow(n, x);
  if (!w)
    return failure();
  Dims pooled = getUnpooledDims(n, x, *w), shape = pooled;
  if (n.hasInput(2)) {
    std::optional<Dims> given = n.sizesOperand(2, "output_shape");
    if (!given)
      return failure();
    if (given->size() != pooled.size())
      return n.invalid("'output_shape' has " + Twine(given->size()) + " numbers for " + Twine(pooled.size()) +
                       " dimensions");
    shape = *given;
  }
  Value zeros = n.broadcast(n.scalarLike(0, x), countElements(n, pooled));
  AffineExpr count = countElements(n, n.dims(x)), last = subDims(countElements(n, pooled), n.constantDim(1));
  indices = n.checkRange(indices, n.constantDim(0), last);
  Value flat = n.scatterElements("assign", zeros, n.reshape(indices, count), n.reshape(x, count), 0);
  Value result = n.reshape(flat, pooled);
  if (shape == pooled)
    return n.setResult(result);
  for (auto [to, from] : llvm::zip(shape, pooled))
    n.require(subDims(to, from), "'output_shape' is smaller than what was pooled");
  return n.setResult(n.pad("constant", result, n.scalarLike(0, x), Dims(shape.size(), n.constantDim(0)),
                           Ints(shape.size(), 0), shape));
}

/// Reads the attributes of Col2Im's windows, except their sizes.
std::optional<Window> readBlocks(Node &n, size_t spatial) {
  Ints ones(spatial, 1), pads = n.getInts("pads").value_or(Ints(2 * spatial, 0));
  Window w{{}, n.getInts("strides").value_or(ones), n.getInts("dilations").value_or(ones), {}, {}};
  auto isPositive = [](int64_t i) { return i > 0 && i <= INT32_MAX; };
  if (pads.size() == 2 * spatial && w.strides.size() == spatial && w.dilations.size() == spatial &&
      llvm::all_of(w.strides, isPositive) && llvm::all_of(w.dilations, isPositive)) {
    w.low.assign(pads.begin(), pads.begin() + spatial);
    w.high.assign(pads.begin() + spatial, pads.end());
    return w;
  }
  (void)n.invalid("needs positive 'strides' and 'dilations', one for each dimension, and two 'pads'");
  return std::nullopt;
}

/// Each element of the image is the sum of the elements of all windows that cover it.
LogicalResult importCol2Im(Node &n) {
  Value x = n.input(0);
  std::optional<Dims> image = n.sizesOperand(1, "image_shape"), sizes = n.sizesOperand(2, "block_shape");
  std::optional<Window> w = image ? readBlocks(n, image->size()) : std::nullopt;
  if (!sizes || !w)
    return failure();
  size_t spatial = image->size();
  const Dims &window = *sizes;
  Dims in = n.dims(x), blocks;
  if (in.size() != 3 || window.size() != spatial || spatial == 0)
    return n.invalid(
        "needs an input [N, C * window, blocks], and an image of as many dimensions as the window, found " +
        dimsToString(in));
  for (size_t i = 0; i < spatial; ++i) {
    auto isSize = [](AffineExpr size) {
      return getConstant(size).value_or(1) >= 1 && getConstant(size).value_or(1) <= INT32_MAX;
    };
    if (!isSize(window[i]) || !isSize((*image)[i]))
      return n.invalid("'block_shape' is " + dimsToString(window) + " and 'image_shape' " + dimsToString(*image) +
                       ", which have to be numbers from 1 to 2^31 - 1");
    AffineExpr reach = mulDims(subDims(window[i], n.constantDim(1)), n.constantDim(w->dilations[i]));
    AffineExpr room = subDims(addDims((*image)[i], n.constantDim(w->low[i] + w->high[i] - 1)), reach);
    blocks.push_back(addDims(divDims(room, n.constantDim(w->strides[i])), n.constantDim(1)));
  }
  AffineExpr windowCount = countElements(n, window), channels = divDims(in[1], windowCount);
  if (getConstant(modDims(in[1], windowCount)).value_or(0) != 0 ||
      failed(broadcastDim(countElements(n, blocks), in[2])))
    return n.invalid("has an input " + dimsToString(in) + ", which is not made of " +
                     dimsToString(countElements(n, blocks)) + " blocks of " + dimsToString(windowCount) + " elements");

  Dims all(*image);
  all.append(window);
  Places read;
  for (size_t i = 0; i < spatial; ++i)
    addDimension(n, read, n.iota(all, spatial + i, n.i64()), window[i]);
  for (size_t i = 0; i < spatial; ++i) {
    // place = block * stride - low + w * dilation
    Value place = n.add(n.iota(all, i, n.i64()), n.scalar(w->low[i], n.i64()));
    place = n.sub(place, n.mul(n.iota(all, spatial + i, n.i64()), n.scalar(w->dilations[i], n.i64())));
    Value stride = n.scalar(w->strides[i], n.i64());
    read.isInside = n.bitAnd(read.isInside, n.equal(n.mod(place, stride), n.scalar(0, n.i64())));
    Value isBefore = n.less(place, n.scalar(0, n.i64()));
    addDimension(n, read, n.select(isBefore, n.scalar(-1, n.i64()), n.div(place, stride)), blocks[i]);
  }
  Dims joined(*image), split{in[0], channels};
  joined.push_back(windowCount);
  split.append(window);
  split.append(blocks);
  read.index = n.reshape(read.index, joined);
  read.isInside = n.reshape(read.isInside, joined);
  return n.setResult(n.reduceSum(readPlaces(n, n.reshape(x, split), read, 0), spatial + 2, /*keepdims=*/false));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getUnfoldOps() {
  static const OpEntry ops[] = {
      {"Col2Im", importCol2Im},
      {"MaxUnpool", importMaxUnpool},
  };
  return ops;
}
