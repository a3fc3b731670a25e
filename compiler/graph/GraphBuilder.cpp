//===- GraphBuilder.cpp - makes tenon operations, remembering a failure ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/GraphBuilder.h"
#include "compiler/graph/Elements.h"
#include "compiler/graph/EmitOp.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

#include <cassert>

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Making one operation
//===----------------------------------------------------------------------===//

/// Checks that the tensor's element count is small enough that later products do not overflow.
static LogicalResult checkSize(Location loc, RankedTensorType type) {
  int64_t count = 1;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) && size > 0 &&
        (size > kMaxElements || __builtin_mul_overflow(count, size, &count) || count > kMaxElements))
      return emitError(loc) << "would make a tensor of shape " << dimsToString(getDims(type))
                            << ", which is more than 2^40 elements";
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) && size < 0)
      return emitError(loc) << "would make a tensor of shape " << dimsToString(getDims(type))
                            << ", which has a negative dimension";
  return success();
}

bool GraphBuilder::hasAll(ArrayRef<Value> operands) {
  failed |= llvm::is_contained(operands, Value());
  return !failed;
}

Operation *GraphBuilder::finish(const OperationState &state) {
  failed = true; // Until all is done.
  for (Type result : state.types)
    if (mlir::failed(checkSize(loc, cast<RankedTensorType>(result))))
      return nullptr;
  Operation *op = builder.create(state);
  if (mlir::failed(verify(op))) {
    op->erase();
    return nullptr;
  }
  failed = false;
  return op;
}

template <typename Op> Value GraphBuilder::emitSimple(ArrayRef<Value> operands) {
  Op op;
  if constexpr (Op::template hasTrait<OpTrait::OneOperand>())
    op = emit<Op>({}, operands, operands[0]);
  else {
    Value aligned[] = {operands[0], operands[1]};
    alignExtents(aligned, 0);
    op = emit<Op>({}, aligned, aligned[0], aligned[1]);
  }
  return op ? Value(op) : Value();
}

void GraphBuilder::fail(const Twine &text) {
  if (!failed)
    emitError(loc) << text.str();
  failed = true;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

MLIRContext *GraphBuilder::getContext() const { return builder.getContext(); }

int64_t GraphBuilder::rank(Value v) { return v ? cast<RankedTensorType>(v.getType()).getRank() : 0; }
Dims GraphBuilder::dims(Value v) { return v ? getDims(v) : Dims(); }
AffineExpr GraphBuilder::dim(Value v, int64_t i) const { return i >= 0 && i < rank(v) ? getDim(v, i) : constantDim(1); }
Type GraphBuilder::elementType(Value v) const { return v ? getElementTypeOrSelf(v) : f32(); }
bool GraphBuilder::isFloat(Value v) const { return isa<FloatType>(elementType(v)); }
bool GraphBuilder::isBool(Value v) const { return elementType(v).isInteger(1); }
bool GraphBuilder::isInteger(Value v) const { return isa<IntegerType>(elementType(v)) && !isBool(v); }
Type GraphBuilder::f32() const { return builder.getF32Type(); }
Type GraphBuilder::f64() const { return builder.getF64Type(); }
Type GraphBuilder::i1() const { return builder.getI1Type(); }
Type GraphBuilder::ui8() const { return builder.getIntegerType(8, false); }
Type GraphBuilder::i32() const { return builder.getI32Type(); }
Type GraphBuilder::i64() const { return builder.getI64Type(); }
Dims GraphBuilder::constantDims(IntsRef values) const {
  Dims dims;
  for (int64_t value : values)
    dims.push_back(constantDim(value));
  return dims;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

Value GraphBuilder::weight(ElementsAttr value, StringRef name) {
  return resultOf(
      emit<WeightOp>(value.getType(), {}, value, name.empty() ? StringAttr() : builder.getStringAttr(name)));
}

Value GraphBuilder::scalar(double value, Type type) { return constantFloats(value, {}, type); }

Value GraphBuilder::constantInts(IntsRef values) {
  return constantInts(values, static_cast<int64_t>(values.size()), i64());
}

Value GraphBuilder::constantInts(IntsRef values, IntsRef shape, Type type) {
  return weight(makeElements(RankedTensorType::get(shape, type), values));
}

Value GraphBuilder::constantFloats(ArrayRef<double> values, IntsRef shape, Type type) {
  return weight(makeElements(RankedTensorType::get(shape, type), values));
}

Value GraphBuilder::sizes(ArrayRef<AffineExpr> values, Type type) {
  auto tensor = RankedTensorType::get(static_cast<int64_t>(values.size()), type);
  if (std::optional<Ints> constants = getConstants(values))
    return weight(makeElements(tensor, *constants));
  return resultOf(emit<SizesOp>(tensor, {}, ShapeAttr::get(getContext(), values)));
}

Value GraphBuilder::size(AffineExpr value, Type type) {
  if (std::optional<int64_t> constant = getConstant(value))
    return constantInts(*constant, {}, type);
  return resultOf(emit<SizesOp>(RankedTensorType::get({}, type), {}, ShapeAttr::get(getContext(), value)));
}

Value GraphBuilder::iota(ArrayRef<AffineExpr> shape, int64_t axis, Type type) {
  return resultOf(emit<IotaOp>(getTensorType(shape, type), {}, axis));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

#define TENON_UNARY(NAME, OP)                                                                                          \
  Value GraphBuilder::NAME(Value x) { return emitSimple<OP>({x}); }
TENON_UNARY(abs, AbsOp)
TENON_UNARY(neg, NegOp)
TENON_UNARY(sign, SignOp)
TENON_UNARY(ceil, CeilOp)
TENON_UNARY(floor, FloorOp)
TENON_UNARY(round, RoundOp)
TENON_UNARY(sqrt, SqrtOp)
TENON_UNARY(rsqrt, RsqrtOp)
TENON_UNARY(reciprocal, ReciprocalOp)
TENON_UNARY(exp, ExpOp)
TENON_UNARY(log, LogOp)
TENON_UNARY(log1p, Log1pOp)
TENON_UNARY(sin, SinOp)
TENON_UNARY(cos, CosOp)
TENON_UNARY(tan, TanOp)
TENON_UNARY(asin, AsinOp)
TENON_UNARY(acos, AcosOp)
TENON_UNARY(atan, AtanOp)
TENON_UNARY(sinh, SinhOp)
TENON_UNARY(cosh, CoshOp)
TENON_UNARY(tanh, TanhOp)
TENON_UNARY(asinh, AsinhOp)
TENON_UNARY(acosh, AcoshOp)
TENON_UNARY(atanh, AtanhOp)
TENON_UNARY(erf, ErfOp)
TENON_UNARY(bitNot, NotOp)
TENON_UNARY(isNaN, IsNaNOp)
TENON_UNARY(isInf, IsInfOp)
TENON_UNARY(sigmoid, SigmoidOp)
TENON_UNARY(relu, ReluOp)
#undef TENON_UNARY

#define TENON_BINARY(NAME, OP)                                                                                         \
  Value GraphBuilder::NAME(Value x, Value y) { return emitSimple<OP>({x, y}); }
TENON_BINARY(add, AddOp)
TENON_BINARY(sub, SubOp)
TENON_BINARY(mul, MulOp)
TENON_BINARY(div, DivOp)
TENON_BINARY(rem, RemOp)
TENON_BINARY(mod, ModOp)
TENON_BINARY(pow, PowOp)
TENON_BINARY(max, MaxOp)
TENON_BINARY(min, MinOp)
TENON_BINARY(bitAnd, AndOp)
TENON_BINARY(bitOr, OrOp)
TENON_BINARY(bitXor, XorOp)
TENON_BINARY(shiftLeft, ShiftLeftOp)
TENON_BINARY(shiftRight, ShiftRightOp)
#undef TENON_BINARY

#define TENON_COMPARE(NAME, PREDICATE)                                                                                 \
  Value GraphBuilder::NAME(Value x, Value y) { return compare(ComparePredicate::PREDICATE, x, y); }
TENON_COMPARE(equal, eq)
TENON_COMPARE(notEqual, ne)
TENON_COMPARE(less, lt)
TENON_COMPARE(lessOrEqual, le)
TENON_COMPARE(greater, gt)
TENON_COMPARE(greaterOrEqual, ge)
#undef TENON_COMPARE

Value GraphBuilder::compare(ComparePredicate predicate, Value x, Value y) {
  Value operands[] = {x, y};
  alignExtents(operands, 0);
  return resultOf(emit<CompareOp>({}, operands, predicate, operands[0], operands[1]));
}
Value GraphBuilder::select(Value condition, Value x, Value y) {
  Value operands[] = {condition, x, y};
  alignExtents(operands, 0);
  return resultOf(emit<SelectOp>({}, operands, operands[0], operands[1], operands[2]));
}
Value GraphBuilder::gelu(Value x, bool tanh) { return resultOf(emit<GeluOp>({}, {x}, x, tanh)); }
Value GraphBuilder::cast(Value x, Type type, bool saturate, llvm::StringRef rounding) {
  if (!x || elementType(x) == type)
    return x;
  return resultOf(emit<CastOp>(getTensorType(getDims(x), type), {x}, x, saturate, *symbolizeRounding(rounding)));
}
Value GraphBuilder::bitcast(Value x, Type type) {
  if (!x || elementType(x) == type)
    return x;
  return resultOf(emit<BitcastOp>(getTensorType(getDims(x), type), {x}, x));
}

//===----------------------------------------------------------------------===//
// Contractions, windows, reductions
//===----------------------------------------------------------------------===//

Value GraphBuilder::contract(Value x, Value y, IntsRef xDims, IntsRef yDims, IntsRef resultDims, Type resultType) {
  TypeAttr type = resultType ? TypeAttr::get(resultType) : TypeAttr();
  // Indices are renumbered, those of the result first, so that equal contractions look equal.
  llvm::SmallDenseMap<int64_t, int64_t> numbers;
  auto renumber = [&](IntsRef indices) {
    Ints renumbered;
    for (int64_t index : indices)
      renumbered.push_back(numbers.try_emplace(index, numbers.size()).first->second);
    return renumbered;
  };
  Ints r = renumber(resultDims), a = renumber(xDims), b = renumber(yDims);
  for (auto [i, index] : llvm::enumerate(a))
    if (const int64_t *other = llvm::find(b, index); other != b.end())
      noteEqual(dim(x, i), dim(y, other - b.begin()));
  return resultOf(emit<ContractOp>({}, {x, y}, x, y, a, b, r, type));
}

Value GraphBuilder::matmul(Value x, Value y, Type resultType) {
  Value operands[] = {x, y};
  alignExtents(operands, 2);
  x = operands[0];
  y = operands[1];
  int64_t xRank = rank(x), yRank = rank(y);
  // Indices: batch dimensions counted from the last, then m, k, n.
  constexpr int64_t m = 1000, k = 1001, n = 1002;
  assert(xRank < m && yRank < m && "the indices of batch dimensions are others than those of the matrices");
  auto batch = [](int64_t rank) {
    Ints indices;
    for (int64_t i = rank - 3; i >= 0; --i)
      indices.push_back(i);
    return indices;
  };
  Ints xDims = batch(xRank), yDims = batch(yRank), result = batch(std::max(xRank, yRank));
  if (xRank > 1) {
    xDims.push_back(m);
    result.push_back(m);
  }
  xDims.push_back(k);
  yDims.push_back(k);
  if (yRank > 1) {
    yDims.push_back(n);
    result.push_back(n);
  }
  return contract(x, y, xDims, yDims, result, resultType);
}

Value GraphBuilder::convolve(Value x, Value filter, const Window &w, int64_t groups, Type resultType) {
  TypeAttr type = resultType ? TypeAttr::get(resultType) : TypeAttr();
  return resultOf(emit<ConvolveOp>({}, {x, filter}, x, filter, w.strides, w.dilations, w.low, w.high, groups, type));
}

Value GraphBuilder::pool(PoolKind kind, Value x, const Window &w, bool ceil, bool countPadding) {
  return resultOf(emit<PoolOp>({}, {x}, kind, x, w.sizes, w.strides, w.dilations, w.low, w.high, ceil, countPadding));
}

Value GraphBuilder::reduce(ReduceKind kind, Value x, IntsRef axes, bool keepdims) {
  if (axes.empty())
    return x;
  return resultOf(emit<ReduceOp>({}, {x}, kind, x, axes, keepdims));
}
Value GraphBuilder::argReduce(ReduceKind kind, Value x, int64_t axis, bool keepdims, bool last) {
  return resultOf(emit<ArgReduceOp>({}, {x}, kind, x, axis, keepdims, last));
}
Value GraphBuilder::scan(ReduceKind kind, Value x, int64_t axis, bool exclusive, bool reverse) {
  return resultOf(emit<ScanOp>({}, {x}, kind, x, axis, exclusive, reverse));
}
Value GraphBuilder::argMax(Value x, int64_t axis, bool keepdims, bool last) {
  return argReduce(ReduceKind::max, x, axis, keepdims, last);
}
Value GraphBuilder::argMin(Value x, int64_t axis, bool keepdims, bool last) {
  return argReduce(ReduceKind::min, x, axis, keepdims, last);
}
Value GraphBuilder::cumulativeSum(Value x, int64_t axis, bool exclusive, bool reverse) {
  return scan(ReduceKind::sum, x, axis, exclusive, reverse);
}
Value GraphBuilder::cumulativeProd(Value x, int64_t axis, bool exclusive, bool reverse) {
  return scan(ReduceKind::prod, x, axis, exclusive, reverse);
}
Value GraphBuilder::poolMax(Value x, const Window &w, bool ceil) { return pool(PoolKind::max, x, w, ceil, false); }
Value GraphBuilder::poolSum(Value x, const Window &w, bool ceil) { return pool(PoolKind::sum, x, w, ceil, false); }
Value GraphBuilder::poolAverage(Value x, const Window &w, bool ceil, bool countPadding) {
  return pool(PoolKind::average, x, w, ceil, countPadding);
}
Value GraphBuilder::reduceProd(Value x, IntsRef axes, bool keepdims) {
  return reduce(ReduceKind::prod, x, axes, keepdims);
}
Value GraphBuilder::reduceSum(Value x, IntsRef axes, bool keepdims) {
  return reduce(ReduceKind::sum, x, axes, keepdims);
}
Value GraphBuilder::reduceMax(Value x, IntsRef axes, bool keepdims) {
  return reduce(ReduceKind::max, x, axes, keepdims);
}
Value GraphBuilder::reduceMin(Value x, IntsRef axes, bool keepdims) {
  return reduce(ReduceKind::min, x, axes, keepdims);
}
Value GraphBuilder::reduceMean(Value x, IntsRef axes, bool keepdims) {
  AffineExpr count = constantDim(1);
  for (int64_t axis : axes)
    count = mulDims(count, dim(x, axis));
  return div(reduceSum(x, axes, keepdims), size(count, elementType(x)));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value GraphBuilder::reshape(Value x, ArrayRef<AffineExpr> shape) {
  if (x && ArrayRef(getDims(x)) == shape)
    return x;
  return resultOf(emit<ReshapeOp>(getTensorType(shape, elementType(x)), {x}, x));
}

Value GraphBuilder::transpose(Value x, IntsRef permutation) {
  if (x && llvm::is_sorted(permutation) && rank(x) == static_cast<int64_t>(permutation.size()))
    return x;
  return resultOf(emit<TransposeOp>({}, {x}, x, permutation));
}

Value GraphBuilder::broadcast(Value x, ArrayRef<AffineExpr> shape) {
  if (x && ArrayRef(getDims(x)) == shape)
    return x;
  return resultOf(emit<BroadcastOp>(getTensorType(shape, elementType(x)), {x}, x));
}

Value GraphBuilder::slice(Value x, ArrayRef<AffineExpr> starts, IntsRef steps, ArrayRef<AffineExpr> shape) {
  auto isZero = [](AffineExpr e) { return getConstant(e) == 0; };
  if (x && ArrayRef(getDims(x)) == shape && llvm::all_of(starts, isZero) &&
      llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    return x;
  return resultOf(
      emit<SliceOp>(getTensorType(shape, elementType(x)), {x}, x, ShapeAttr::get(getContext(), starts), steps));
}

Value GraphBuilder::sliceAxis(Value x, int64_t axis, AffineExpr start, AffineExpr extent) {
  Dims starts(rank(x), constantDim(0)), shape = dims(x);
  if (axis < 0 || axis >= rank(x))
    return {};
  starts[axis] = start;
  shape[axis] = extent;
  return slice(x, starts, Ints(rank(x), 1), shape);
}

Value GraphBuilder::reverseAxes(Value x, IntsRef axes) {
  Dims starts(rank(x), constantDim(0));
  Ints steps(rank(x), 1);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank(x))
      return {};
    starts[axis] = subDims(dim(x, axis), constantDim(1));
    steps[axis] = -1;
  }
  return slice(x, starts, steps, dims(x));
}

Value GraphBuilder::pad(StringRef mode, Value x, Value value, ArrayRef<AffineExpr> low, IntsRef interior,
                        ArrayRef<AffineExpr> shape) {
  return resultOf(emit<PadOp>(getTensorType(shape, elementType(x)), {x, value}, *symbolizePadMode(mode), x, value,
                              ShapeAttr::get(getContext(), low), interior));
}

Value GraphBuilder::concat(ArrayRef<Value> values, int64_t axis) {
  if (values.size() == 1)
    return values[0];
  for (int64_t i = 0; i < rank(values[0]); ++i)
    for (Value value : values)
      if (i != axis)
        noteEqual(dim(values[0], i), dim(value, i));
  return resultOf(emit<ConcatOp>({}, values, ValueRange(values), axis));
}

Value GraphBuilder::unsqueeze(Value x, IntsRef axes) {
  Dims shape = dims(x);
  for (int64_t axis : axes) {
    if (axis < 0 || axis > static_cast<int64_t>(shape.size()))
      return {};
    shape.insert(shape.begin() + axis, constantDim(1));
  }
  return reshape(x, shape);
}

Value GraphBuilder::squeeze(Value x, IntsRef axes) {
  Dims shape;
  for (auto [i, dim] : llvm::enumerate(dims(x)))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      shape.push_back(dim);
  return reshape(x, shape);
}

Value GraphBuilder::repeat(Value x, int64_t axis, AffineExpr times) {
  if (axis < 0 || axis >= rank(x))
    return {};
  Dims all(rank(x), constantDim(1));
  all[axis] = times;
  return repeat(x, all);
}

Value GraphBuilder::repeat(Value x, const Dims &times) {
  Dims narrow, wide, result;
  for (auto [dim, count] : llvm::zip(dims(x), times)) {
    narrow.push_back(dim);
    wide.push_back(dim);
    result.push_back(mulDims(dim, count));
    if (getConstant(count) == 1)
      continue;
    narrow.push_back(constantDim(1));
    wide.push_back(count);
  }
  return reshape(broadcast(reshape(x, narrow), wide), result);
}

Value GraphBuilder::alongAxis(Value vector, int64_t axis, int64_t rank) {
  Dims shape(rank, constantDim(1));
  if (axis < 0 || axis >= rank)
    return {};
  shape[axis] = dim(vector, 0);
  return reshape(vector, shape);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value GraphBuilder::gather(Value x, Value indices, int64_t axis) {
  return resultOf(emit<GatherOp>({}, {x, indices}, x, indices, axis));
}
Value GraphBuilder::gatherElements(Value x, Value indices, int64_t axis) {
  return resultOf(emit<GatherElementsOp>({}, {x, indices}, x, indices, axis));
}
Value GraphBuilder::gatherND(Value x, Value indices, int64_t batchDims) {
  return resultOf(emit<GatherNDOp>({}, {x, indices}, x, indices, batchDims));
}
Value GraphBuilder::scatterElements(StringRef kind, Value x, Value indices, Value updates, int64_t axis) {
  return resultOf(
      emit<ScatterElementsOp>({}, {x, indices, updates}, *symbolizeScatterKind(kind), x, indices, updates, axis));
}
Value GraphBuilder::scatterND(StringRef kind, Value x, Value indices, Value updates) {
  return resultOf(emit<ScatterNDOp>({}, {x, indices, updates}, *symbolizeScatterKind(kind), x, indices, updates));
}
Value GraphBuilder::checkRange(Value x, AffineExpr first, AffineExpr last) {
  return resultOf(emit<CheckRangeOp>({}, {x}, x, ShapeAttr::get(getContext(), {first, last})));
}
/// Both results of an operation, or null twice.
template <typename Op> static std::pair<Value, Value> resultsOf(Op op) {
  return op ? std::pair<Value, Value>(op->getResult(0), op->getResult(1)) : std::pair<Value, Value>();
}

std::pair<Value, Value> GraphBuilder::topK(Value x, int64_t axis, AffineExpr k, bool largest) {
  Dims shape = dims(x);
  if (axis < 0 || axis >= rank(x))
    return {};
  shape[axis] = k;
  return resultsOf(
      emit<TopKOp>({getTensorType(shape, elementType(x)), getTensorType(shape, i64())}, {x}, x, axis, largest));
}
Value GraphBuilder::sample(Value weights, Value filters, Value uniform) {
  return resultOf(emit<SampleOp>({}, {weights, filters, uniform}, weights, filters, uniform));
}
Value GraphBuilder::searchSorted(Value x, Value keys) { return resultOf(emit<SearchSortedOp>({}, {x, keys}, x, keys)); }
Value GraphBuilder::treeEnsemble(Value x, Value roots, const TreeTables &t) {
  return resultOf(emit<TreeEnsembleOp>({}, {x, roots, t.features, t.thresholds, t.modes, t.ifTrue, t.ifFalse}, x, roots,
                                       t.features, t.thresholds, t.modes, t.ifTrue, t.ifFalse));
}
std::pair<Value, Value> GraphBuilder::nms(Value boxes, Value scores, Value limit, Value overlap, Value threshold,
                                          bool centers) {
  SmallVector<Value> operands{boxes, scores, limit, overlap};
  if (threshold)
    operands.push_back(threshold);
  return resultsOf(emit<NmsOp>({}, operands, boxes, scores, limit, overlap, threshold, centers));
}
Value GraphBuilder::roiAlign(StringRef kind, Value x, Value rois, Value batches, const RoiGrid &grid) {
  Type type = getTensorType({dim(rois, 0), dim(x, 1), grid.height, grid.width}, elementType(x));
  return resultOf(emit<RoiAlignOp>(type, {x, rois, batches}, *symbolizeRoiAlignKind(kind), x, rois, batches,
                                   APFloat(grid.scale), APFloat(grid.shift), grid.samples));
}

//===----------------------------------------------------------------------===//
// Random numbers and factors
//===----------------------------------------------------------------------===//

Value GraphBuilder::runSeed() { return resultOf(emit<RunSeedOp>(RankedTensorType::get({}, i64()), {})); }
Value GraphBuilder::randomBits(Value key, int64_t stream, ArrayRef<AffineExpr> shape) {
  return resultOf(emit<RandomBitsOp>(getTensorType(shape, builder.getIntegerType(32, false)), {key}, key, stream));
}
std::pair<Value, Value> GraphBuilder::lu(Value x) { return resultsOf(emit<LuOp>({}, {x}, x)); }

//===----------------------------------------------------------------------===//
// Sizes that data decides
//===----------------------------------------------------------------------===//

void GraphBuilder::bind(Value values, ArrayRef<std::string> symbols, int64_t min, ArrayRef<AffineExpr> bounds) {
  SmallVector<StringRef> names(symbols.begin(), symbols.end());
  if (failed || !values) {
    failed = true;
    return;
  }
  auto limits = bounds.empty() ? ShapeAttr() : ShapeAttr::get(getContext(), bounds);
  auto op = BindOp::create(builder, loc, values, builder.getStrArrayAttr(names), min, limits);
  failed = mlir::failed(verify(op));
}

void GraphBuilder::requireWhenRun(AffineExpr expr, StringRef text) {
  if (!failed)
    RequireOp::create(builder, loc, ShapeAttr::get(getContext(), expr), text);
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

SmallVector<Value> GraphBuilder::call(StringRef kernel, ArrayRef<Value> inputs,
                                      ArrayRef<std::pair<AffineExpr, Type>> results) {
  failed |= llvm::is_contained(inputs, Value());
  if (failed)
    return SmallVector<Value>(results.size());
  SmallVector<Type> types;
  for (auto [count, element] : results)
    types.push_back(getTensorType(count, element));
  auto op = CallOp::create(builder, loc, types, kernel, inputs);
  failed = mlir::failed(verify(op));
  return op.getResults();
}

//===----------------------------------------------------------------------===//
// Plug-ins
//===----------------------------------------------------------------------===//

SmallVector<Value> GraphBuilder::callHost(const HostCall &call, ArrayRef<RankedTensorType> results) {
  failed |= llvm::is_contained(call.inputs, Value());
  if (failed)
    return SmallVector<Value>(results.size());
  SmallVector<Type> types(results.begin(), results.end());
  auto op = HostCallOp::create(builder, loc, types, call.plugin, call.domain, call.name, call.inputs, call.parameters,
                               call.present, /*outputs=*/ArrayAttr(), /*infers=*/false);
  failed = mlir::failed(verify(op));
  return op.getResults();
}

Value GraphBuilder::inferHostShapes(const HostCall &call, ArrayRef<RankedTensorType> results) {
  failed |= llvm::is_contained(call.inputs, Value());
  if (failed)
    return {};
  SmallVector<Type> types(results.begin(), results.end());
  int64_t extents = 0;
  for (RankedTensorType type : results)
    extents += type.getRank();
  auto op = HostCallOp::create(builder, loc, TypeRange(RankedTensorType::get(extents, i64())), call.plugin, call.domain,
                               call.name, call.inputs, call.parameters, call.present, builder.getTypeArrayAttr(types),
                               /*infers=*/true);
  failed = mlir::failed(verify(op));
  return op.getResult(0);
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

Value GraphBuilder::softmax(Value x, int64_t axis, bool log) {
  return resultOf(emit<SoftmaxOp>({}, {x}, x, axis, log));
}
Value GraphBuilder::dequantize(Value x, Value scale, Value zero, int64_t axis, int64_t block, Type resultType) {
  SmallVector<Value> operands{x, scale};
  if (zero)
    operands.push_back(zero);
  return resultOf(emit<DequantizeOp>({}, operands, x, scale, zero, axis, block,
                                     resultType ? TypeAttr::get(resultType) : TypeAttr()));
}
Value GraphBuilder::layerNorm(Value x, Value scale, Value bias, int64_t axis, double epsilon) {
  SmallVector<Value> operands{x, scale};
  if (bias)
    operands.push_back(bias);
  return resultOf(emit<LayerNormOp>({}, operands, x, scale, bias, axis, APFloat(epsilon)));
}
Value GraphBuilder::rmsNorm(Value x, Value scale, int64_t axis, double epsilon) {
  return resultOf(emit<RmsNormOp>({}, {x, scale}, x, scale, axis, APFloat(epsilon)));
}
