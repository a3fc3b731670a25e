//===- Sampling.cpp - reads between the elements of a tensor -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/Window.h"
#include <functional>
#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

//===----------------------------------------------------------------------===//
// A tensor that is read at computed places
//===----------------------------------------------------------------------===//

enum class Outside { zeros, border, reflection };

/// Reads spatial dimensions at floating-point positions, all of one shape. Positions and weights are f32, or f64 if the
/// tensor is.
class Sampler {
public:
  /// `x` is [lead..., C, spatial...]; positions have the dimensions [lead..., points].
  Sampler(Node &n, Value x, int64_t spatial, Outside outside, bool alignCorners)
      : n(n), outside(outside), alignCorners(alignCorners) {
    Dims all = n.dims(x);
    sizes.assign(all.end() - spatial, all.end());
    all.truncate(all.size() - spatial);
    all.push_back(getElementCount(n.getContext(), sizes));
    flat = n.reshape(x, all);
    type = n.elementType(x).isF64() ? n.f64() : n.f32();
  }

  Type getType() const { return type; }
  Value constant(double value) { return n.scalar(value, type); }
  Value size(size_t axis) { return n.size(sizes[axis], type); }

  /// Reads the elements at integer positions, [lead..., C, points].
  Value read(ArrayRef<Value> positions) {
    Value index, inside;
    for (size_t axis = 0; axis < positions.size(); ++axis) {
      Value position = positions[axis], last = n.sub(size(axis), constant(1));
      if (outside == Outside::reflection)
        position = n.floor(reflect(position, axis));
      Value clamped = n.min(n.max(position, constant(0)), last);
      if (outside == Outside::zeros) {
        Value here = n.equal(position, clamped);
        inside = inside ? n.bitAnd(inside, here) : here;
      }
      // A NaN position was converted to one that is in range.
      clamped = n.max(n.min(n.cast(clamped, n.i64()), n.size(subDims(sizes[axis], n.constantDim(1)), n.i64())),
                      n.scalar(0, n.i64()));
      index = index ? n.add(n.mul(index, n.size(sizes[axis], n.i64())), clamped) : clamped;
    }
    if (n.hasFailed())
      return {};
    int64_t channel = n.rank(flat) - 2;
    Dims shape = n.dims(flat);
    shape.back() = n.dims(index).back();
    Value elements = n.gatherElements(flat, n.broadcast(n.unsqueeze(index, channel), shape), channel + 1);
    if (!inside)
      return elements;
    return n.select(n.unsqueeze(inside, channel), elements, n.scalarLike(0, elements));
  }

  /// Computes the weighted sum of the surrounding elements, separably by axis. `taps` has pairs of an integer position
  /// and its weight for each axis.
  using Taps = SmallVector<std::pair<Value, Value>>;
  Value sum(ArrayRef<Taps> taps) {
    Value result;
    SmallVector<Value> positions(taps.size());
    std::function<void(size_t, Value)> addFrom = [&](size_t axis, Value weight) {
      if (axis == taps.size()) {
        Value part = n.mul(n.cast(read(positions), type), n.unsqueeze(weight, n.rank(weight) - 1));
        result = result ? n.add(result, part) : part;
        return;
      }
      for (auto [position, own] : taps[axis]) {
        positions[axis] = position;
        addFrom(axis + 1, weight ? n.mul(weight, own) : own);
      }
    };
    addFrom(0, {});
    return result;
  }

  Taps linearTaps(Value position) {
    Value low = n.floor(position), rest = n.sub(position, low);
    return {{low, n.sub(constant(1), rest)}, {n.add(low, constant(1)), rest}};
  }

  /// Keys' cubic convolution with a = -0.75.
  Taps cubicTaps(Value position) {
    const double a = -0.75;
    Value low = n.floor(position), x = n.sub(position, low);
    auto polynomial = [&](Value t, ArrayRef<double> factors) {
      Value y = constant(factors[0]);
      for (double factor : factors.drop_front())
        y = n.add(n.mul(y, t), constant(factor));
      return y;
    };
    auto near = [&](Value t) { return polynomial(t, {a + 2, -(a + 3), 0, 1}); };
    auto far = [&](Value t) { return polynomial(t, {a, -5 * a, 8 * a, -4 * a}); };
    Value one = constant(1), two = constant(2);
    return {{n.sub(low, one), far(n.add(x, one))},
            {low, near(x)},
            {n.add(low, one), near(n.sub(one, x))},
            {n.add(low, two), far(n.sub(two, x))}};
  }

  /// Maps an out-of-bounds position according to the mode.
  Value bringInside(Value position, size_t axis) {
    if (outside == Outside::zeros)
      return position;
    Value low = constant(alignCorners ? 0 : -0.5), high = n.sub(size(axis), constant(alignCorners ? 1 : 0.5));
    Value isOutside = n.bitOr(n.less(position, low), n.greater(position, high));
    Value moved = outside == Outside::reflection ? reflect(position, axis)
                                                 : n.min(n.max(position, constant(0)), n.sub(size(axis), constant(1)));
    return n.select(isOutside, moved, position);
  }

private:
  /// Forth and back between the borders.
  Value reflect(Value position, size_t axis) {
    Value low = constant(alignCorners ? 0 : -0.5);
    Value range = n.sub(size(axis), constant(alignCorners ? 1 : 0));
    Value period = n.max(n.add(range, range), constant(1));
    Value place = n.rem(n.abs(n.sub(position, low)), period);
    return n.add(low, n.min(place, n.sub(period, place)));
  }

  Node &n;
  Value flat;
  Type type;
  Dims sizes;
  Outside outside;
  bool alignCorners;
};

/// Component `i` of the last dimension.
Value takeLast(Node &n, Value x, int64_t i) {
  int64_t last = n.rank(x) - 1;
  return n.squeeze(n.sliceAxis(x, last, n.constantDim(i), n.constantDim(1)), last);
}

//===----------------------------------------------------------------------===//
// GridSample
//===----------------------------------------------------------------------===//

std::optional<Outside> readOutside(Node &n) {
  std::string mode = n.getString("padding_mode", "zeros");
  if (mode == "zeros")
    return Outside::zeros;
  if (mode == "border")
    return Outside::border;
  if (mode == "reflection")
    return Outside::reflection;
  (void)n.invalid("'padding_mode' has to be zeros, border or reflection, not '" + mode + "'");
  return std::nullopt;
}

LogicalResult importGridSample(Node &n) {
  Value x = n.input(0), grid = n.input(1);
  int64_t spatial = n.rank(x) - 2;
  if (spatial < 1 || n.rank(grid) != spatial + 2 || getConstant(n.dims(grid).back()) != spatial)
    return n.invalid("needs an input [N, C, spatial...] and a grid [N, places..., " +
                     Twine(std::max<int64_t>(spatial, 1)) + "], found " + dimsToString(n.dims(x)) + " and " +
                     dimsToString(n.dims(grid)));
  std::optional<Outside> outside = readOutside(n);
  std::string mode = n.getString("mode", n.getOpset() < 20 ? "bilinear" : "linear");
  bool isLinear = mode == "linear" || mode == "bilinear", isCubic = mode == "cubic" || mode == "bicubic";
  if (!outside)
    return failure();
  if (spatial > 3)
    return n.unsupported("samples " + Twine(spatial) + " dimensions; 3 are supported");
  if (!isLinear && !isCubic && mode != "nearest")
    return n.invalid("'mode' has to be linear, nearest or cubic, not '" + mode + "'");
  bool alignCorners = n.getBool("align_corners", false);
  Sampler sampler(n, x, spatial, *outside, alignCorners);

  Dims places = n.dims(grid), result = n.dims(x);
  places.pop_back();
  std::copy(places.begin() + 1, places.end(), result.begin() + 2);
  Dims points{places[0], getElementCount(n.getContext(), ArrayRef(places).drop_front())};
  SmallVector<Value> positions;
  SmallVector<Sampler::Taps> taps;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    // The grid lists the last dimension first, with positions from -1 to 1.
    Value place = n.cast(n.reshape(takeLast(n, grid, spatial - 1 - axis), points), sampler.getType());
    Value size = sampler.size(axis), one = sampler.constant(1), half = sampler.constant(0.5);
    place = n.add(place, one);
    place = alignCorners ? n.mul(n.mul(place, half), n.sub(size, one)) : n.mul(n.sub(n.mul(place, size), one), half);
    if (mode == "nearest")
      place = n.round(place);
    // Border elements extend outwards; a cubic sample there still reads elements inside.
    if (!isCubic || *outside != Outside::border)
      place = sampler.bringInside(place, axis);
    positions.push_back(mode == "nearest" && *outside == Outside::reflection ? n.floor(place) : place);
    if (mode != "nearest")
      taps.push_back(isLinear ? sampler.linearTaps(place) : sampler.cubicTaps(place));
  }
  Value elements = mode == "nearest" ? sampler.read(positions) : sampler.sum(taps);
  return n.setResult(n.reshape(n.cast(elements, n.elementType(x)), result));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

LogicalResult importRoiAlign(Node &n) {
  Value x = n.input(0), rois = n.input(1), batches = n.input(2);
  std::string mode = n.getString("mode", "avg");
  std::string corners =
      n.getString("coordinate_transformation_mode", n.getOpset() < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "avg" && mode != "max")
    return n.invalid("'mode' has to be avg or max, not '" + mode + "'");
  if (corners != "half_pixel" && corners != "output_half_pixel")
    return n.invalid("'coordinate_transformation_mode' has to be half_pixel or output_half_pixel, not '" + corners +
                     "'");
  int64_t height = n.getInt("output_height", 1), width = n.getInt("output_width", 1),
          samples = n.getInt("sampling_ratio", 0);
  if (height < 1 || width < 1 || samples < 0 || samples > 4096)
    return n.invalid("'output_height' and 'output_width' have to be positive, 'sampling_ratio' from 0 to 4096");
  return n.setIndexed(n.roiAlign(mode == "avg" ? "average" : "max", x, rois, batches,
                                 {n.constantDim(height), n.constantDim(width), n.getFloat("spatial_scale", 1),
                                  corners == "half_pixel" ? 0.5 : 0, samples}));
}

/// The start and end of the cells in one direction, [R, cells]: corners are rounded outwards, so cells may overlap.
struct CellRange {
  Value first, last;
};

CellRange makeCells(Node &n, Value low, Value high, int64_t cells, AffineExpr size) {
  double scale = n.getFloat("spatial_scale", 1);
  // Halves are rounded away from zero.
  auto place = [&](Value corner) {
    Value scaled = n.mul(corner, n.scalarLike(scale, corner));
    return n.mul(n.sign(scaled), n.floor(n.add(n.abs(scaled), n.scalarLike(0.5, scaled))));
  };
  Value start = n.unsqueeze(place(low), 1), one = n.scalarLike(1, low);
  Value extent = n.max(n.add(n.sub(n.unsqueeze(place(high), 1), start), one), one);
  Value cell = n.div(extent, n.scalarLike(cells, extent));
  Value number = n.iota(n.constantDim(cells), 0, n.elementType(low)), limit = n.size(size, n.elementType(low));
  auto clamp = [&](Value x) { return n.min(n.max(n.add(x, start), n.scalarLike(0, x)), limit); };
  return {clamp(n.floor(n.mul(number, cell))), clamp(n.ceil(n.mul(n.add(number, one), cell)))};
}

/// Computes the largest element of each cell along dimension `axis` of [R, C, H, W], one direction after the other,
/// since a cell is a rectangle.
Value reduceCells(Node &n, Value x, const CellRange &cells, int64_t axis) {
  Dims line(5, n.constantDim(1));
  line[axis + 1] = n.dim(x, axis);
  Value place = n.reshape(n.iota(n.dim(x, axis), 0, n.elementType(cells.first)), line);
  auto spread = [&](Value bound) {
    Dims shape(5, n.constantDim(1));
    shape[0] = n.dim(bound, 0);
    shape[axis] = n.dim(bound, 1);
    return n.reshape(bound, shape);
  };
  Value isInside = n.bitAnd(n.greaterOrEqual(place, spread(cells.first)), n.less(place, spread(cells.last)));
  Value lowest = n.scalarLike(-std::numeric_limits<double>::infinity(), x);
  return n.reduceMax(n.select(isInside, n.unsqueeze(x, axis), lowest), axis + 1, false);
}

LogicalResult importMaxRoiPool(Node &n) {
  Value x = n.input(0), rois = n.input(1);
  std::optional<Ints> cells = n.getInts("pooled_shape");
  if (n.rank(x) != 4 || n.rank(rois) != 2 || getConstant(n.dim(rois, 1)).value_or(5) != 5 || !cells ||
      cells->size() != 2 || (*cells)[0] < 1 || (*cells)[1] < 1)
    return n.invalid("needs an input [N, C, H, W], regions [R, 5] and two positive numbers as 'pooled_shape', found " +
                     dimsToString(n.dims(x)) + " and " + dimsToString(n.dims(rois)));
  auto column = [&](int64_t i) { return takeLast(n, rois, i); };
  CellRange rows = makeCells(n, column(2), column(4), (*cells)[0], n.dim(x, 2));
  CellRange columns = makeCells(n, column(1), column(3), (*cells)[1], n.dim(x, 3));
  Value numbers = n.checkRange(n.cast(column(0), n.i64()), n.constantDim(0), subDims(n.dim(x, 0), n.constantDim(1)));
  Value images = n.gather(x, numbers, 0);
  Value result = reduceCells(n, reduceCells(n, images, rows, 2), columns, 3);
  Value isEmpty = n.bitOr(n.unsqueeze(n.lessOrEqual(rows.last, rows.first), 2),
                          n.unsqueeze(n.lessOrEqual(columns.last, columns.first), 1));
  return n.setResult(n.select(n.unsqueeze(isEmpty, 1), n.scalarLike(0, result), result));
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

/// Returns, for one spatial dimension, the position that each element of the window reads without offsets: [window...,
/// places...].
Value makeWindowPlaces(Node &n, const Window &w, size_t axis, ArrayRef<AffineExpr> shape, Type type) {
  size_t spatial = w.sizes.size();
  Value place = n.mul(n.iota(shape, spatial + axis, type), n.scalar(w.strides[axis], type));
  place = n.add(place, n.mul(n.iota(shape, axis, type), n.scalar(w.dilations[axis], type)));
  return n.sub(place, n.scalar(w.low[axis], type));
}

/// Imports a convolution that reads each element of its window at an individual offset: a gather, then a matmul.
LogicalResult importDeformConv(Node &n) {
  Value x = n.input(0), filter = n.input(1), offset = n.input(2);
  std::optional<ConvWindow> conv = readConvWindow(n, x, filter);
  if (!conv)
    return failure();
  if (n.rank(x) > 5)
    return n.unsupported("samples " + Twine(n.rank(x) - 2) + " dimensions; 3 are supported");
  const Window &w = conv->window;
  int64_t spatial = n.rank(x) - 2, groups = conv->groups, offsetGroups = n.getInt("offset_group", 1), window = 1;
  for (int64_t size : w.sizes)
    window *= size;
  std::optional<int64_t> channels = getConstant(n.dim(x, 1)), filters = getConstant(n.dim(filter, 0));
  if (!channels || !filters || groups < 1 || offsetGroups < 1 || *channels % groups || *channels % offsetGroups ||
      *filters % groups || getConstant(n.dim(filter, 1)) != *channels / groups)
    return n.invalid("'group' and 'offset_group' have to divide the channels, found an input " +
                     dimsToString(n.dims(x)) + " and a filter " + dimsToString(n.dims(filter)));
  if (n.rank(offset) != n.rank(x) || getConstant(n.dim(offset, 1)) != offsetGroups * window * spatial)
    return n.invalid("needs offsets [N, " + Twine(offsetGroups * window * spatial) + ", places...], found " +
                     dimsToString(n.dims(offset)));

  auto dim = [&](int64_t size) { return n.constantDim(size); };
  AffineExpr batch = n.dim(x, 0);
  Dims places = n.dims(offset), in = n.dims(x);
  places.erase(places.begin(), places.begin() + 2);
  AffineExpr points = getElementCount(n.getContext(), places), columns = mulDims(dim(window), points);
  Dims split{batch, dim(offsetGroups), dim(*channels / offsetGroups)};
  split.append(in.begin() + 2, in.end());
  Sampler sampler(n, n.reshape(x, split), spatial, Outside::zeros, false);

  Dims windowPlaces = n.constantDims(w.sizes);
  windowPlaces.append(places);
  Value offsets = n.reshape(offset, {batch, dim(offsetGroups), dim(window), dim(spatial), points});
  SmallVector<Sampler::Taps> taps;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    Value own = n.reshape(n.sliceAxis(offsets, 3, dim(axis), dim(1)), {batch, dim(offsetGroups), columns});
    Value plain = n.reshape(makeWindowPlaces(n, w, axis, windowPlaces, sampler.getType()), columns);
    taps.push_back(sampler.linearTaps(n.add(plain, n.cast(own, sampler.getType()))));
  }
  Value read = n.cast(sampler.sum(taps), n.elementType(x));
  if (n.hasInput(4))
    read = n.mul(read, n.reshape(n.input(4), {batch, dim(offsetGroups), dim(1), columns}));

  read = n.reshape(read, {batch, dim(groups), dim(*channels / groups * window), points});
  filter = n.reshape(filter, {dim(groups), dim(*filters / groups), dim(*channels / groups * window)});
  // [batch, group, channel and window, point] x [group, filter, channel and window]
  Value product = n.contract(read, filter, {0, 1, 3, 4}, {1, 2, 3}, {0, 1, 2, 4});
  Dims result{batch, dim(*filters)};
  result.append(places);
  product = n.reshape(product, result);
  return n.setResult(n.hasInput(3) ? n.add(product, n.alongAxis(n.input(3), 1, n.rank(product))) : product);
}

} // namespace

ArrayRef<OpEntry> onnx_import::getSamplingOps() {
  static const OpEntry ops[] = {
      {"DeformConv", importDeformConv},
      {"GridSample", importGridSample},
      {"MaxRoiPool", importMaxRoiPool},
      {"RoiAlign", importRoiAlign},
  };
  return ops;
}
