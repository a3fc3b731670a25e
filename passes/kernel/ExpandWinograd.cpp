//===- ExpandWinograd.cpp - Winograd convolutions of a tile as loops ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of the result is made of squares of m x m elements. Each one's input, a
// square of a x a elements with a = m + r - 1, is transformed for a vector of
// channels at a time; a matrix product for each of the a * a points follows; then
// the inverse transform writes the squares. All that is between stays in the
// thread's scratch, the transformed input as bf16 or i16 if the filter is. The tiles that a thread computes one after
// the other and that differ in their filters alone share the transformed input.
//
// AMX tiles are configured once for each contraction, so their products of all points are one contraction, a batch of
// matrix products.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ScheduleRequest.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/kernel/Epilogue.h"
#include "passes/kernel/FormContractions.h"
#include "passes/kernel/I16Pairs.h"
#include "passes/kernel/TileLoop.h"
#include "passes/kernel/WinogradScratch.h"
#include "passes/paths/split/Bf16Terms.h"
#include "passes/paths/winograd/Transforms.h"

namespace tenon {
#define GEN_PASS_DEF_EXPANDWINOGRAD
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// A small matrix times vectors
//===----------------------------------------------------------------------===//

namespace {

/// Emits products of a constant matrix with vectors of floats or integers as straight-line code. Rows, or columns, of
/// opposite interpolation points differ only in signs, and share common subexpressions.
class MatrixEmitter {
public:
  MatrixEmitter(OpBuilder &b, Location loc, VectorType type) : b(b), loc(loc), type(type) {}
  SmallVector<Value> apply(const SmallMatrix &matrix, ArrayRef<Value> x);
  /// Computes matrix * x * transpose(matrix) for the vectors x of a square, row by row.
  SmallVector<Value> applyBoth(const SmallMatrix &matrix, ArrayRef<Value> x);

private:
  using Terms = SmallVector<std::pair<double, Value>>;
  Value sum(const Terms &terms);
  Value splat(double value) {
    Type element = type.getElementType();
    Attribute number =
        element.isFloat() ? Attribute(b.getFloatAttr(element, value)) : b.getIntegerAttr(element, int64_t(value));
    return arith::ConstantOp::create(b, loc, SplatElementsAttr::get(type, number));
  }
  bool isOfFloats() { return type.getElementType().isFloat(); }
  Value add(Value x, Value y) {
    return isOfFloats() ? arith::AddFOp::create(b, loc, x, y).getResult() : arith::AddIOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) {
    return isOfFloats() ? arith::SubFOp::create(b, loc, x, y).getResult() : arith::SubIOp::create(b, loc, x, y);
  }
  Value scale(Value x, double factor) {
    return isOfFloats() ? arith::MulFOp::create(b, loc, splat(factor), x).getResult()
                        : arith::MulIOp::create(b, loc, splat(factor), x);
  }

  OpBuilder &b;
  Location loc;
  VectorType type;
};

} // namespace

Value MatrixEmitter::sum(const Terms &terms) {
  Value total;
  // What needs no multiplication first.
  for (auto [factor, x] : terms)
    if (factor == 1)
      total = total ? add(total, x) : x;
  for (auto [factor, x] : terms) {
    if (factor == 1 || factor == 0)
      continue;
    if (total && factor == -1)
      total = sub(total, x);
    else if (total && isOfFloats())
      total = vector::FMAOp::create(b, loc, splat(factor), x, total);
    else if (total)
      total = factor < 0 ? sub(total, scale(x, -factor)) : add(total, scale(x, factor));
    else
      total = scale(x, factor);
  }
  return total ? total : splat(0);
}

/// Returns the next row after `row` that has the same elements up to signs, some of them opposite.
static std::optional<int64_t> findMirrored(const SmallMatrix &matrix, int64_t row, const SmallVector<Value> &done) {
  for (int64_t other = row + 1; other < matrix.rows; ++other) {
    bool same = !done[other];
    for (int64_t k = 0; k < matrix.columns && same; ++k)
      same = std::abs(matrix.at(row, k)) == std::abs(matrix.at(other, k));
    if (same)
      return other;
  }
  return std::nullopt;
}

SmallVector<Value> MatrixEmitter::apply(const SmallMatrix &matrix, ArrayRef<Value> x) {
  // Columns that differ only in signs are replaced by sums and differences of their vectors.
  SmallMatrix left(matrix);
  SmallVector<Value> vectors(x);
  SmallVector<bool> isPaired(matrix.columns);
  for (int64_t i = 0; i < matrix.columns; ++i)
    for (int64_t j = i + 1; j < matrix.columns && !isPaired[i]; ++j) {
      bool isMirrored = !isPaired[j], hasEqual = false, hasOpposite = false;
      for (int64_t row = 0; row < matrix.rows; ++row) {
        double x = matrix.at(row, i), y = matrix.at(row, j);
        isMirrored &= x == y || x == -y;
        hasEqual |= x != 0 && x == y;
        hasOpposite |= x != 0 && x == -y;
      }
      if (!isMirrored || !hasEqual || !hasOpposite)
        continue;
      isPaired[i] = isPaired[j] = true;
      vectors[i] = add(x[i], x[j]);
      vectors[j] = sub(x[i], x[j]);
      for (int64_t row = 0; row < matrix.rows; ++row) {
        bool isSum = matrix.at(row, i) == matrix.at(row, j);
        left.at(row, j) = isSum ? 0 : matrix.at(row, i);
        left.at(row, i) = isSum ? matrix.at(row, i) : 0;
      }
    }
  SmallVector<Value> results(matrix.rows);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    if (results[row])
      continue;
    std::optional<int64_t> mirrored = findMirrored(left, row, results);
    Terms all, same, opposite;
    for (int64_t k = 0; k < matrix.columns; ++k) {
      std::pair<double, Value> term(left.at(row, k), vectors[k]);
      if (term.first == 0)
        continue;
      all.push_back(term);
      if (mirrored)
        (left.at(row, k) == left.at(*mirrored, k) ? same : opposite).push_back(term);
    }
    if (!mirrored || same.empty() || opposite.empty()) {
      results[row] = sum(all);
      continue;
    }
    Value even = sum(same), odd = sum(opposite);
    results[row] = add(even, odd);
    results[*mirrored] = sub(even, odd);
  }
  return results;
}

SmallVector<Value> MatrixEmitter::applyBoth(const SmallMatrix &matrix, ArrayRef<Value> x) {
  int64_t rows = matrix.rows, side = matrix.columns;
  SmallVector<Value> half(rows * side), results(rows * rows);
  for (int64_t column = 0; column < side; ++column) {
    SmallVector<Value> in;
    for (int64_t k = 0; k < side; ++k)
      in.push_back(x[k * side + column]);
    for (auto [row, value] : llvm::enumerate(apply(matrix, in)))
      half[row * side + column] = value;
  }
  for (int64_t row = 0; row < rows; ++row)
    for (auto [column, value] : llvm::enumerate(apply(matrix, ArrayRef(half).slice(row * side, side))))
      results[row * rows + column] = value;
  return results;
}

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

/// Of the result, [image, row, column, filter].
static constexpr unsigned kFilterDim = 3; // format: of the result

namespace {

class Expansion {
public:
  Expansion(kernel::WinogradOp op, int64_t vectorBytes)
      : b(op), loc(op.getLoc()), op(op), type(cast<MemRefType>(op.getInit().getType()).getElementType()),
        isInt8(getFactors(op) == WinogradFactors::i16), isScaled(getFactors(op) == WinogradFactors::scaledI16),
        hasBf16(getFactors(op) == WinogradFactors::bf16), microKernel(getMicroKernel(op)),
        sumType(isScaled ? b.getI32Type() : type), channelType(isInt8 ? b.getI16Type() : type),
        factorType(hasBf16 ? b.getBF16Type() : channelType), lanes(vectorBytes * 8 / type.getIntOrFloatBitWidth()),
        channelLanes(vectorBytes * 8 / channelType.getIntOrFloatBitWidth()), vectorType(VectorType::get({lanes}, type)),
        channelVectorType(VectorType::get({channelLanes}, channelType)), transforms(getTransforms(op)),
        scratch(getWinogradScratch(op)), side(op.getOutputs() + op.getWindow() - 1) {}
  void emit();

private:
  static WinogradTransforms getTransforms(kernel::WinogradOp op) {
    if (getFactors(op) == WinogradFactors::i16)
      return getIntegerTransforms(op.getOutputs(), op.getWindow());
    WinogradTransforms transforms = getWinogradTransforms(op.getOutputs(), op.getWindow());
    return getFactors(op) == WinogradFactors::scaledI16 ? balanceFilter(transforms) : transforms;
  }
  void findExtents();
  void findSteps();
  void transformInput();
  Value loadChannels(ValueRange at, Value active);
  void transformChannels(Value channel, int64_t vectors, Value active);
  void clearPadding();
  void roundSquares();
  void copyWindow(Value channel, int64_t vectors, Value active);
  void multiply(Value first, Value count);
  void emitProducts(OpFoldResult rows, Value first, Value count);
  void emitProduct(Value point, OpFoldResult rows, Value first, Value count);
  Value addProduct(OpBuilder &body, ValueRange in);
  SmallVector<AffineMap> getProductMaps(bool isOfPoints);
  Value cutPoints(Value memory, Value point, unsigned pointDim, SmallVector<OpFoldResult> offsets,
                  SmallVector<OpFoldResult> sizes, ArrayRef<int64_t> rest);
  static kernel::MicroKernel getMicroKernel(kernel::WinogradOp op) {
    auto schedule = op->getAttrOfType<kernel::ScheduleAttr>(kernel::kScheduleAttr);
    if (schedule)
      return schedule.getMicroKernel();
    return getFactors(op) == WinogradFactors::bf16 ? kernel::MicroKernel::bf16_dot : kernel::MicroKernel::automatic;
  }
  Value loadProducts(Value point, Value square, Value filter);
  void transformOutput(Value first, Value count);
  SmallVector<Value> transformSquare(ArrayRef<Value> square);
  void storeSquare(ArrayRef<Value> square, Value row, Value column, Value filter);
  Value applyEpilogue(Value elements, ArrayRef<Value> at, Value active);

  /// A buffer in the thread's scratch.
  Value getBuffer(ScratchUse use, Type type, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides);
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// Emits an affine expression of up to four values, d0 to d3.
  Value compute(AffineExpr expr, ValueRange values) {
    SmallVector<OpFoldResult> operands;
    for (Value value : values)
      operands.push_back(getAsOpFoldResult(value));
    return getValueOrCreateConstantIndexOp(
        b, loc, affine::makeComposedFoldedAffineApply(b, loc, AffineMap::get(values.size(), 0, expr), operands));
  }
  AffineExpr dim(unsigned i) { return b.getAffineDimExpr(i); }
  void forLoop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body);
  /// Loops over the squares of the tile, and passes the row, column and number of each.
  void forSquares(llvm::function_ref<void(Value row, Value column, Value number)> body);
  /// Loops over the filters of the tile, as many at a time as scratch holds products of.
  void forSomeFilters(llvm::function_ref<void(Value first, Value count)> body);
  Value select(Value condition, Value yes, Value no) { return arith::SelectOp::create(b, loc, condition, yes, no); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value clamp(Value x, Value low, Value high) {
    return arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, x, low), high);
  }

  OpBuilder b;
  Location loc;
  kernel::WinogradOp op;
  Type type;                       ///< of results
  bool isInt8, isScaled, hasBf16;  ///< how the factors are stored, if not as f32
  kernel::MicroKernel microKernel; ///< of the products
  Type sumType;                    ///< of products
  Type channelType, factorType;    ///< of the input as it is transformed, and as it is stored then
  int64_t lanes, channelLanes;
  VectorType vectorType, channelVectorType;
  WinogradTransforms transforms;
  WinogradScratch scratch;
  int64_t side;

  SmallVector<EpilogueStage> epilogue;
  Value result;                             ///< the memory that it ends in
  Value rows, columns, filters;             ///< of the tile
  Value squareRows, squareColumns, squares; ///< how many squares there are
  Value window, transformed, products;      ///< buffers in scratch
  Value scales;                             ///< of the transformed input, if it is rounded to i16
  Value factors;                            ///< what is transformed, as products read it: after points and squares
  Value weights;                            ///< the filter, as products read it
  int64_t step = 0;                         ///< channels of bf16 that products read together
};

} // namespace

Value Expansion::getBuffer(ScratchUse use, Type type, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t elements = 1;
  for (auto [extent, stride] : llvm::zip(shape, strides))
    elements += (extent - 1) * stride;
  Value flat = scratch.layout.emit(b, loc, use, MemRefType::get({elements}, type));
  auto layout = StridedLayoutAttr::get(b.getContext(), 0, strides);
  return memref::ReinterpretCastOp::create(b, loc, MemRefType::get(shape, type, layout), flat, int64_t(0), shape,
                                           strides);
}

void Expansion::forLoop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void Expansion::forSquares(llvm::function_ref<void(Value row, Value column, Value number)> body) {
  forLoop(constant(0), squareRows, 1, [&](Value row) {
    Value first = arith::MulIOp::create(b, loc, row, squareColumns);
    forLoop(constant(0), squareColumns, 1,
            [&](Value column) { body(row, column, arith::AddIOp::create(b, loc, first, column)); });
  });
}

void Expansion::forSomeFilters(llvm::function_ref<void(Value first, Value count)> body) {
  std::optional<int64_t> known = getConstantIntValue(filters);
  if (known && *known <= scratch.filters)
    return body(constant(0), filters);
  forLoop(constant(0), filters, scratch.filters, [&](Value first) {
    Value most = constant(scratch.filters), rest = arith::SubIOp::create(b, loc, filters, first);
    body(first, known && *known % scratch.filters == 0 ? most : arith::MinSIOp::create(b, loc, rest, most).getResult());
  });
}

void Expansion::findExtents() {
  auto extent = [&](int64_t i) -> Value {
    int64_t size = cast<MemRefType>(op.getInit().getType()).getDimSize(i);
    return ShapedType::isDynamic(size) ? memref::DimOp::create(b, loc, op.getInit(), i).getResult() : constant(size);
  };
  rows = extent(1);
  columns = extent(2);
  filters = extent(3);
  int64_t outputs = op.getOutputs();
  squareRows = compute(dim(0).ceilDiv(outputs), rows);
  squareColumns = compute(dim(0).ceilDiv(outputs), columns);
  squares = compute(dim(0).ceilDiv(outputs) * dim(1).ceilDiv(outputs), {rows, columns});
  int64_t width = scratch.windowChannels;
  window = getBuffer(ScratchUse::winogradWindow, channelType, {scratch.windowRows, scratch.windowColumns, width},
                     {scratch.windowColumns * width, width, 1});
  auto getTransformed = [&](Type type, int64_t perElement) {
    return getBuffer(ScratchUse::winogradInput, type, {side * side, scratch.squares, scratch.channels / perElement},
                     {scratch.transformedStride / perElement, scratch.channels / perElement, 1});
  };
  transformed = getTransformed(factorType, 1);
  weights = op.getFilter();
  if (hasBf16)
    findSteps();
  else
    factors = isInt8 ? getTransformed(type, 2) : isScaled ? getTransformed(sumType, 1) : transformed;
  if (isScaled)
    scales = getBuffer(ScratchUse::winogradScales, type, {side * side, scratch.squares}, {scratch.squares, 1});
  products = getBuffer(ScratchUse::winogradProducts, sumType, {side * side, scratch.squares, scratch.filters},
                       {scratch.productsStride, scratch.filters, 1});
}

/// Both factors are read in steps of one bf16 term (Bf16Terms), which is the layout that they have.
void Expansion::findSteps() {
  int64_t channels = getFilterChannels(op);
  assert(channels > 0 && "a filter has pairs of channels");
  for (step = std::min(kMaxOfStep, channels); channels % step != 0;)
    step -= 2;
  factors = getBuffer(ScratchUse::winogradInput, factorType, {side * side, scratch.squares, channels / step, 1, step},
                      {scratch.transformedStride, scratch.channels, step, step, 1});
  SmallVector<int64_t> shape(cast<MemRefType>(op.getFilter().getType()).getShape());
  shape[2] = step / 2;
  shape.insert(shape.begin() + 2, {channels / step, 1});
  SmallVector<ReassociationIndices> dims{{0}, {1}, {2, 3, 4}, {5}};
  weights = memref::ExpandShapeOp::create(b, loc, shape, op.getFilter(), dims);
}

/// Of the input, zeros beyond the last one.
Value Expansion::loadChannels(ValueRange at, Value active) {
  auto stored = VectorType::get({channelLanes}, getElementTypeOrSelf(op.getInput()));
  Value channels;
  if (active) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(stored));
    channels = vector::MaskedLoadOp::create(b, loc, stored, op.getInput(), at, active, zero);
  } else {
    channels = vector::LoadOp::create(b, loc, stored, op.getInput(), at);
  }
  return stored == channelVectorType ? channels
                                     : arith::ExtUIOp::create(b, loc, channelVectorType, channels).getResult();
}

/// Copies the part of the input that the tile reads, for some vectors of channels, and pads it with zeros.
void Expansion::copyWindow(Value channel, int64_t vectors, Value active) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(channelVectorType)), none = constant(0);
  int64_t outputs = op.getOutputs(), border = op.getWindow() - 1;
  auto size = [&](int64_t i) -> Value { return memref::DimOp::create(b, loc, op.getInput(), i); };
  Value height = size(1), width = size(2);
  Value windowRows = compute(dim(0) * outputs + border, squareRows);
  Value windowColumns = compute(dim(0) * outputs + border, squareColumns);
  // The columns of the window that lie in the input.
  Value left = compute(dim(0) - op.getLow()[1], op.getOffsets()[2]);
  Value first = clamp(compute(-dim(0), left), none, windowColumns);
  Value last = clamp(compute(dim(0) - dim(1), {width, left}), first, windowColumns);
  forLoop(none, windowRows, 1, [&](Value row) {
    Value y = compute(dim(0) + dim(1) - op.getLow()[0], {op.getOffsets()[1], row});
    Value isInside = arith::AndIOp::create(b, loc, compare(arith::CmpIPredicate::sge, y, none),
                                           compare(arith::CmpIPredicate::slt, y, height));
    Value begin = select(isInside, first, none), end = select(isInside, last, none);
    auto fill = [&](Value column, llvm::function_ref<Value(int64_t first)> get) {
      for (int64_t first = 0; first < vectors * channelLanes; first += channelLanes)
        vector::StoreOp::create(b, loc, get(first), window, ValueRange{row, column, constant(first)});
    };
    auto getZero = [&](int64_t) { return zero; };
    forLoop(none, begin, 1, [&](Value column) { fill(column, getZero); });
    forLoop(begin, end, 1, [&](Value column) {
      Value x = arith::AddIOp::create(b, loc, left, column);
      fill(column, [&](int64_t first) {
        return loadChannels({op.getOffsets()[0], y, x, compute(dim(0) + first, channel)}, active);
      });
    });
    forLoop(end, windowColumns, 1, [&](Value column) { fill(column, getZero); });
  });
}

/// Transforms `vectors` vectors of channels from `channel` on; the last one may be partial.
void Expansion::transformChannels(Value channel, int64_t vectors, Value active) {
  int64_t outputs = op.getOutputs();
  copyWindow(channel, vectors, active);
  forSquares([&](Value row, Value column, Value number) {
    auto transform = [&](Value first) {
      SmallVector<Value> square;
      for (int64_t i = 0; i < side * side; ++i) {
        Value y = compute(dim(0) * outputs + i / side, row), x = compute(dim(0) * outputs + i % side, column);
        square.push_back(vector::LoadOp::create(b, loc, channelVectorType, window, ValueRange{y, x, first}));
      }
      MatrixEmitter emitter(b, loc, channelVectorType);
      Value target = arith::AddIOp::create(b, loc, channel, first);
      for (auto [point, value] : llvm::enumerate(emitter.applyBoth(transforms.input, square))) {
        if (hasBf16)
          value = arith::TruncFOp::create(b, loc, VectorType::get({channelLanes}, factorType), value);
        vector::StoreOp::create(b, loc, value, transformed, ValueRange{constant(point), number, target});
      }
    };
    if (vectors == 1)
      return transform(constant(0));
    forLoop(constant(0), constant(vectors * channelLanes), channelLanes, transform);
  });
}

/// Transforms whole cache lines of channels at a time, so that no line of the input or of the result is loaded again
/// for each of its vectors.
void Expansion::transformInput() {
  int64_t channels = cast<MemRefType>(op.getInput().getType()).getDimSize(3), step = channelLanes;
  int64_t width = scratch.windowChannels, whole = channels / step * step, lines = whole / width * width;
  forLoop(constant(0), constant(lines), width,
          [&](Value channel) { transformChannels(channel, width / step, Value()); });
  forLoop(constant(lines), constant(whole), step, [&](Value channel) { transformChannels(channel, 1, Value()); });
  if (whole < channels)
    transformChannels(
        constant(whole), 1,
        vector::CreateMaskOp::create(b, loc, VectorType::get({step}, b.getI1Type()), constant(channels - whole)));
  clearPadding();
  if (isScaled)
    roundSquares();
}

/// Rounds the transformed input to i16, with a scale for each point of each square. The numbers of its channels take
/// the place of the floats, from the first one on, so that none is overwritten that has yet to be read. A NaN or an
/// infinity makes the scale such.
void Expansion::roundSquares() {
  int64_t channels = static_cast<int64_t>(llvm::alignTo(getFilterChannels(op), lanes));
  auto most = static_cast<double>(getWinogradGroups(getFilterChannels(op)).getLargestOfRow());
  constexpr int64_t kMagnitude = 0x7fffffff; // format: of f32, all bits but the sign
  constexpr double kTiny = 1e-30;            // limit: of magnitudes, so that no scale is zero or denormal
  constexpr double kRounder = 0x1.8p23; // math: the lower bits of a sum with this f32 are those of the nearest integer
  Type i32 = b.getI32Type();
  auto integers = VectorType::get({lanes}, i32);
  Value numbers = getBuffer(ScratchUse::winogradInput, b.getI16Type(), {side * side, scratch.squares, scratch.channels},
                            {2 * scratch.transformedStride, 2 * scratch.channels, 1});
  auto number = [&](double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value)).getResult();
  };
  auto splat = [&](Value value) { return vector::BroadcastOp::create(b, loc, vectorType, value).getResult(); };
  Value rounder = splat(number(kRounder));
  Value magnitude = arith::ConstantOp::create(
      b, loc, SplatElementsAttr::get(integers, b.getI32IntegerAttr(static_cast<int32_t>(kMagnitude))));
  forLoop(constant(0), constant(side * side), 1, [&](Value point) {
    forLoop(constant(0), squares, 1, [&](Value square) {
      auto load = [&](Value channel) -> Value {
        return vector::LoadOp::create(b, loc, vectorType, transformed, ValueRange{point, square, channel});
      };
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(integers));
      auto loop = scf::ForOp::create(b, loc, constant(0), constant(channels), constant(lanes), zero);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        // Magnitudes are in the order of their bits, those of NaN last.
        Value bits = arith::BitcastOp::create(b, loc, integers, load(loop.getInductionVar()));
        Value size = arith::AndIOp::create(b, loc, bits, magnitude);
        scf::YieldOp::create(b, loc,
                             arith::MaxUIOp::create(b, loc, size, loop.getRegionIterArgs().front()).getResult());
      }
      Value bits = vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXUI, loop.getResult(0));
      bits = arith::MaxUIOp::create(b, loc, bits, arith::BitcastOp::create(b, loc, i32, number(kTiny)));
      Value largest = arith::BitcastOp::create(b, loc, type, bits);
      memref::StoreOp::create(b, loc, arith::MulFOp::create(b, loc, largest, number(1 / most)), scales,
                              ValueRange{point, square});
      Value factor = splat(arith::DivFOp::create(b, loc, number(most), largest));
      forLoop(constant(0), constant(channels), lanes, [&](Value channel) {
        Value sum = vector::FMAOp::create(b, loc, load(channel), factor, rounder);
        Value whole = arith::BitcastOp::create(b, loc, integers, sum);
        vector::StoreOp::create(b, loc,
                                arith::TruncIOp::create(b, loc, VectorType::get({lanes}, b.getI16Type()), whole),
                                numbers, ValueRange{point, square, channel});
      });
    });
  });
}

/// Zeros where products read beyond the vector of the last channel.
void Expansion::clearPadding() {
  int64_t channels = cast<MemRefType>(op.getInput().getType()).getDimSize(3), end = getFilterChannels(op);
  int64_t first = static_cast<int64_t>(llvm::alignTo(channels, channelLanes));
  if (first >= end)
    return;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get({channelLanes}, factorType)));
  forLoop(constant(0), constant(side * side), 1, [&](Value point) {
    forLoop(constant(0), squares, 1, [&](Value square) {
      for (int64_t channel = first; channel < end; channel += channelLanes)
        vector::StoreOp::create(b, loc, zero, transformed, ValueRange{point, square, constant(channel)});
    });
  });
}

/// The body of a sum.
Value Expansion::addProduct(OpBuilder &body, ValueRange in) {
  Value x = in[0], y = in[1], sum = in.back();
  if (isInt8 || isScaled)
    return arith::AddIOp::create(body, loc, sum, emitI16Dot(body, loc, x, y));
  if (hasBf16) {
    x = arith::ExtFOp::create(body, loc, type, x);
    y = arith::ExtFOp::create(body, loc, type, y);
  }
  auto contract = arith::FastMathFlagsAttr::get(body.getContext(), arith::FastMathFlags::contract);
  Value product = arith::MulFOp::create(body, loc, x, y, contract);
  return arith::AddFOp::create(body, loc, sum, product, contract);
}

/// Of the squares, weights and products of a point by square m, channel k and filter n, or of all points if
/// `isOfPoints`, whose loop is the outermost one; of bf16 also of an operand that says how many channels there are,
/// which no index of the others does.
SmallVector<AffineMap> Expansion::getProductMaps(bool isOfPoints) {
  unsigned first = isOfPoints ? 1 : 0;
  AffineExpr m = dim(first), k = dim(first + 1), n = dim(first + 2);
  int64_t panel = getPanelFilters(op);
  auto map = [&](ArrayRef<AffineExpr> indices, unsigned pointDim) {
    SmallVector<AffineExpr> all(indices);
    if (isOfPoints)
      all.insert(all.begin() + pointDim, dim(0));
    return AffineMap::get(first + 3, 0, all, b.getContext());
  };
  if (!hasBf16)
    return {map({m, k}, 0), map({n.floorDiv(panel), k, n % panel}, 1), map({m, n}, 0)};
  AffineExpr zero = b.getAffineConstantExpr(0);
  return {map({m, k.floorDiv(step), zero, k % step}, 0),
          map({n.floorDiv(panel), k.floorDiv(step), zero, (k % step).floorDiv(2), (n % panel) * 2 + k % 2}, 1),
          AffineMap::get(first + 3, 0, k, b.getContext()), map({m, n}, 0)};
}

/// The part of `memory` at `offsets` of `sizes`, and whole extents `rest` in the dimensions that follow. Dimension
/// `pointDim`, which neither has, is that of the points: the part has all of them, or that of `point` without the
/// dimension.
Value Expansion::cutPoints(Value memory, Value point, unsigned pointDim, SmallVector<OpFoldResult> offsets,
                           SmallVector<OpFoldResult> sizes, ArrayRef<int64_t> rest) {
  offsets.insert(offsets.begin() + pointDim, point ? OpFoldResult(point) : b.getIndexAttr(0));
  sizes.insert(sizes.begin() + pointDim, b.getIndexAttr(point ? 1 : side * side));
  offsets.append(rest.size(), b.getIndexAttr(0));
  for (int64_t extent : rest)
    sizes.push_back(b.getIndexAttr(extent));
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!point || i != pointDim)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  MemRefType part =
      memref::SubViewOp::inferRankReducedResultType(shape, cast<MemRefType>(memory.getType()), offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, part, memory, offsets, sizes, strides);
}

/// Multiplies [point, square, channel] x [panel, point, channel, filter of the panel] -> [point, square, filter], one
/// matmul for each point. The transformed input, which may exceed L2, is read once for all these filters. A pair of i16
/// channels counts as one.
void Expansion::emitProducts(OpFoldResult rows, Value first, Value count) {
  if (microKernel == kernel::MicroKernel::amx_bf16)
    return emitProduct(/*point=*/Value(), rows, first, count);
  forLoop(constant(0), constant(side * side), 1, [&](Value point) { emitProduct(point, rows, first, count); });
}

/// Emits the matmul of a point, or those of all points as a batch if `point` is null.
void Expansion::emitProduct(Value point, OpFoldResult rows, Value first, Value count) {
  int64_t panel = getPanelFilters(op);
  Attribute zero = b.getIndexAttr(0);
  Value firstPanel = compute((dim(0) + dim(1)).floorDiv(panel), {op.getOffsets()[kFilterDim], first});
  OpFoldResult panels = getAsOpFoldResult(compute(dim(0).ceilDiv(panel), count));
  OpFoldResult columns = getAsOpFoldResult(compute(dim(0).ceilDiv(panel) * panel, count));
  ArrayRef<int64_t> ofWeights = cast<MemRefType>(weights.getType()).getShape().drop_front(2);
  // Scratch may have more channels, up to a whole cache line of them.
  ArrayRef<int64_t> ofFactors =
      hasBf16 ? cast<MemRefType>(factors.getType()).getShape().drop_front(2) : ofWeights.take_front();
  SmallVector<Value> inputs{cutPoints(factors, point, 0, {zero}, {rows}, ofFactors),
                            cutPoints(weights, point, 1, {OpFoldResult(firstPanel)}, {panels}, ofWeights)};
  if (hasBf16) // Nothing reads this operand: it has the extent of the sum.
    inputs.push_back(
        scratch.layout.emit(b, loc, ScratchUse::winogradInput, MemRefType::get(getFilterChannels(op), b.getI8Type())));
  Value y = cutPoints(products, point, 0, {zero, zero}, {rows, columns}, {});
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(sumType));
  linalg::FillOp::create(b, loc, none, y);
  using utils::IteratorType;
  SmallVector<IteratorType> iterators{IteratorType::parallel, IteratorType::reduction, IteratorType::parallel};
  if (!point)
    iterators.insert(iterators.begin(), IteratorType::parallel);
  auto product = linalg::GenericOp::create(b, loc, inputs, ValueRange{y}, getProductMaps(/*isOfPoints=*/!point),
                                           iterators, [this](OpBuilder &body, Location loc, ValueRange in) {
                                             linalg::YieldOp::create(body, loc, addProduct(body, in));
                                           });
  kernel::ScheduleFields schedule;
  schedule.microKernel = microKernel;
  // The weights of the next point follow those of this one in memory.
  if (!hasBf16)
    schedule.prefetch = ofWeights.front();
  kernel::ContractOp contraction = formContraction(product);
  assert(contraction && "a product of panels is a contraction");
  contraction.setScheduleAttr(kernel::ScheduleAttr::get(b.getContext(), schedule));
}

/// A tile that may be truncated at the border has two versions of code, so that blocks of a static number of rows all
/// have the best size.
void Expansion::multiply(Value first, Value count) {
  if (getConstantIntValue(squares))
    return emitProducts(getAsOpFoldResult(squares), first, count);
  Value isWhole = compare(arith::CmpIPredicate::eq, squares, constant(scratch.squares));
  auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitProducts(b.getIndexAttr(scratch.squares), first, count);
  b.setInsertionPointToStart(branch.elseBlock());
  emitProducts(squares, first, count);
}

/// Applies the epilogue of the convolution to filters from position `at` of the tile on.
Value Expansion::applyEpilogue(Value elements, ArrayRef<Value> at, Value active) {
  for (const EpilogueStage &stage : epilogue)
    emitStage(b, stage, elements, [&](unsigned number, size_t) {
      const ElementRead &read = stage.reads[number];
      SmallVector<Value> indices;
      for (AffineExpr index : read.map.getResults())
        indices.push_back(compute(index, at));
      return emitVectorRead(b, loc, read, kFilterDim, indices, lanes, active);
    });
  return elements;
}

/// Writes the vectors of a square that are within the tile. `row` and `column` are the position of its first element.
void Expansion::storeSquare(ArrayRef<Value> square, Value row, Value column, Value filter) {
  int64_t outputs = op.getOutputs();
  auto forEach = [&](llvm::function_ref<void(Value value, ArrayRef<Value> at)> store) {
    for (int64_t i = 0; i < outputs * outputs; ++i) {
      Value y = compute(dim(0) + i / outputs, row), x = compute(dim(0) + i % outputs, column);
      store(square[i], {constant(0), y, x, filter});
    }
  };
  auto isWhole = [&](Value first, Value extent, int64_t count) {
    return compare(arith::CmpIPredicate::sle, compute(dim(0) + count, first), extent);
  };
  Value whole = arith::AndIOp::create(b, loc, isWhole(row, rows, outputs), isWhole(column, columns, outputs));
  whole = arith::AndIOp::create(b, loc, whole, isWhole(filter, filters, lanes));
  auto branch = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  forEach([&](Value value, ArrayRef<Value> at) {
    vector::StoreOp::create(b, loc, applyEpilogue(value, at, Value()), result, at);
  });
  b.setInsertionPointToStart(branch.elseBlock());
  Value left = arith::SubIOp::create(b, loc, filters, filter);
  forEach([&](Value value, ArrayRef<Value> at) {
    Value inside = arith::AndIOp::create(b, loc, isWhole(at[1], rows, 1), isWhole(at[2], columns, 1));
    Value active = vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()),
                                                select(inside, left, constant(0)));
    vector::MaskedStoreOp::create(b, loc, result, at, active, applyEpilogue(value, at, active));
  });
}

/// The results of a square of points.
SmallVector<Value> Expansion::transformSquare(ArrayRef<Value> square) {
  SmallVector<Value> results = MatrixEmitter(b, loc, vectorType).applyBoth(transforms.output, square);
  if (!isInt8)
    return results;
  auto [inverse, shift] = getScaleInverse(getIntegerTransforms(op.getOutputs(), op.getWindow()));
  auto splat = [&](int64_t number) {
    return arith::ConstantOp::create(b, loc, SplatElementsAttr::get(vectorType, b.getI32IntegerAttr(int32_t(number))));
  };
  for (Value &result : results) {
    if (inverse != 1)
      result = arith::MulIOp::create(b, loc, result, splat(inverse));
    result = arith::ShRSIOp::create(b, loc, result, splat(shift));
  }
  return results;
}

/// Loads the products of a point and a square with a vector of filters, as results have them.
Value Expansion::loadProducts(Value point, Value square, Value filter) {
  Value sums =
      vector::LoadOp::create(b, loc, VectorType::get({lanes}, sumType), products, ValueRange{point, square, filter});
  if (!isScaled)
    return sums;
  Value scale = memref::LoadOp::create(b, loc, scales, ValueRange{point, square});
  return arith::MulFOp::create(b, loc, arith::SIToFPOp::create(b, loc, vectorType, sums),
                               vector::BroadcastOp::create(b, loc, vectorType, scale));
}

void Expansion::transformOutput(Value first, Value count) {
  int64_t outputs = op.getOutputs();
  forSquares([&](Value row, Value column, Value number) {
    Value firstRow = compute(dim(0) * outputs, row), firstColumn = compute(dim(0) * outputs, column);
    forLoop(constant(0), count, lanes, [&](Value column) {
      SmallVector<Value> square;
      for (int64_t point = 0; point < side * side; ++point)
        square.push_back(loadProducts(constant(point), number, column));
      Value filter = arith::AddIOp::create(b, loc, first, column);
      storeSquare(transformSquare(square), firstRow, firstColumn, filter);
    });
  });
}

void Expansion::emit() {
  epilogue = matchEpilogue(op, op.getInit(), b.getMultiDimIdentityMap(4), kFilterDim);
  // Squares may extend beyond the tile. Vectors are masked there, but a scalar load would be out of bounds.
  auto mayReadBeyond = [](const ElementRead &read) {
    return !isAlongColumns(read, kFilterDim) && (read.map.isFunctionOfDim(1) || read.map.isFunctionOfDim(2));
  };
  auto *unsafe =
      llvm::find_if(epilogue, [&](EpilogueStage &stage) { return llvm::any_of(stage.reads, mayReadBeyond); });
  epilogue.erase(unsafe, epilogue.end());
  result = epilogue.empty() ? op.getInit() : epilogue.back().op.getDpsInits()[0];
  // What it reads is defined there.
  if (!epilogue.empty())
    b.setInsertionPoint(epilogue.back().op);
  findExtents();
  if (Value isNew = emitIsNew(b, op, op.getOffsets().drop_back())) {
    auto branch = scf::IfOp::create(b, loc, isNew, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    transformInput();
  } else {
    transformInput();
  }
  forSomeFilters([&](Value first, Value count) {
    multiply(first, count);
    transformOutput(first, count);
  });
  for (EpilogueStage &stage : epilogue)
    stage.op.erase();
  op.erase();
}

namespace {
struct ExpandWinograd : public tenon::impl::ExpandWinogradBase<ExpandWinograd> {
  using ExpandWinogradBase::ExpandWinogradBase;
  void runOnOperation() override {
    SmallVector<kernel::WinogradOp> operations;
    getOperation().walk([&](kernel::WinogradOp op) { operations.push_back(op); });
    for (kernel::WinogradOp op : operations)
      Expansion(op, vectorBytes).emit();
  }
};
} // namespace
