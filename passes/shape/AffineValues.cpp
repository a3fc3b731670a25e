//===- AffineValues.cpp - integers that are affine in their position ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/shape/AffineValues.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>

using namespace mlir;
using namespace tenon;

/// Index expressions are small; the limit prevents exponential time on large graphs of sums.
static constexpr int64_t kMaxVisits = 200; // limit: hostile models

/// The elements of constant indices are compared one by one each time a pattern visits them.
static constexpr int64_t kMaxElements = int64_t(1) << 22; // limit: compile time

/// The position that is read in each dimension; none if all positions are.
using Positions = SmallVector<std::optional<int64_t>>;

static bool isIndexType(Type type) { return type.isSignlessInteger(32) || type.isSignlessInteger(64); }

static bool isOne(AffineExpr dim) { return getConstant(dim) == 1; }

namespace {

class AffineAnalysis {
public:
  explicit AffineAnalysis(const Facts &facts) : facts(facts) {}
  std::optional<AffineValue> get(Value value, const Positions &at);

private:
  std::optional<AffineValue> compute(Operation *op, const Positions &at);
  std::optional<AffineValue> getOperand(Operation *op, unsigned operand, const Positions &at);
  std::optional<AffineValue> getWeight(WeightOp weight, const Positions &at);
  std::optional<AffineValue> getIota(IotaOp iota, const Positions &at);
  std::optional<AffineValue> getReshaped(ReshapeOp reshape, const Positions &at);
  std::optional<AffineValue> getTransposed(TransposeOp transpose, const Positions &at);
  std::optional<AffineValue> getBroadcast(Value from, Value to, const Positions &at);
  std::optional<AffineValue> getSliced(SliceOp slice, const Positions &at);
  std::optional<AffineValue> getConcat(ConcatOp concat, const Positions &at);
  std::optional<AffineValue> getCast(CastOp cast, const Positions &at);
  std::optional<AffineValue> getSelected(SelectOp select, const Positions &at);
  std::optional<AffineValue> getBinary(Operation *op, const Positions &at);
  /// Returns a value that is the same at all positions of a tensor of this rank.
  AffineValue makeConstant(AffineExpr value, size_t rank) const { return {value, SmallVector<int64_t>(rank, 0)}; }

  const Facts &facts;
  int64_t visits = 0;
};

} // namespace

/// Returns the elements of a weight in row-major order; none if they are not i32 or i64.
static std::optional<SmallVector<int64_t>> readIntegers(WeightOp weight) {
  int64_t count = weight.getType().getNumElements();
  if (count > kMaxElements)
    return std::nullopt;
  SmallVector<int64_t> values;
  if (auto dense = dyn_cast<DenseIntElementsAttr>(weight.getValue())) {
    if (dense.isSplat())
      return SmallVector<int64_t>(count, dense.getSplatValue<APInt>().getSExtValue());
    for (const APInt &value : dense.getValues<APInt>())
      values.push_back(value.getSExtValue());
    return values;
  }
  std::optional<ArrayRef<char>> bytes = getBytes(weight.getValue());
  size_t width = weight.getType().getElementTypeBitWidth() / 8;
  if (!bytes || bytes->size() != count * width)
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    const char *element = bytes->data() + i * width;
    int32_t narrow;
    int64_t wide;
    if (width == 4)
      std::memcpy(&narrow, element, width);
    else
      std::memcpy(&wide, element, width);
    values.push_back(width == 4 ? narrow : wide);
  }
  return values;
}

std::optional<AffineValue> AffineAnalysis::getWeight(WeightOp weight, const Positions &at) {
  ArrayRef<int64_t> shape = weight.getType().getShape();
  std::optional<SmallVector<int64_t>> values = readIntegers(weight);
  if (!values || values->empty())
    return std::nullopt;
  assert(at.size() == shape.size() && "each dimension has a position, or all of them are read");
  SmallVector<int64_t> steps(shape.size(), 1), strides(shape.size(), 0);
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0; --dim)
    steps[dim] = steps[dim + 1] * shape[dim + 1];
  int64_t first = 0;
  for (auto [dim, position] : llvm::enumerate(at))
    first += position.value_or(0) * steps[dim];
  int64_t offset = (*values)[first];
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (!at[dim] && shape[dim] > 1 && __builtin_sub_overflow((*values)[first + steps[dim]], offset, &strides[dim]))
      return std::nullopt;
  for (int64_t i = 0, count = values->size(); i < count; ++i) {
    int64_t expected = offset;
    bool isRead = true;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t position = i / steps[dim] % shape[dim], distance;
      isRead &= !at[dim] || *at[dim] == position;
      if (__builtin_mul_overflow(strides[dim], position, &distance) ||
          __builtin_add_overflow(expected, distance, &expected))
        return std::nullopt;
    }
    if (isRead && (*values)[i] != expected)
      return std::nullopt;
  }
  return AffineValue{getDimConstant(weight.getContext(), offset), std::move(strides)};
}

std::optional<AffineValue> AffineAnalysis::getIota(IotaOp iota, const Positions &at) {
  assert(iota.getAxis() < at.size() && "the verifier refuses an axis that the result has not");
  AffineValue value = makeConstant(getDimConstant(iota.getContext(), at[iota.getAxis()].value_or(0)), at.size());
  if (!at[iota.getAxis()] && !isOne(getDim(iota.getResult(), iota.getAxis())))
    value.strides[iota.getAxis()] = 1;
  return value;
}

/// Follows a reshape that adds or drops dimensions of extent 1.
std::optional<AffineValue> AffineAnalysis::getReshaped(ReshapeOp reshape, const Positions &at) {
  Dims from = getDims(reshape.getInput()), to = getDims(reshape.getType());
  SmallVector<size_t> sources, targets;
  for (auto [dim, extent] : llvm::enumerate(from))
    if (!isOne(extent))
      sources.push_back(dim);
  for (auto [dim, extent] : llvm::enumerate(to))
    if (!isOne(extent))
      targets.push_back(dim);
  if (sources.size() != targets.size())
    return std::nullopt;
  Positions inner(from.size());
  for (auto [source, target] : llvm::zip(sources, targets)) {
    if (!facts.isEqual(from[source], to[target]))
      return std::nullopt;
    inner[source] = at[target];
  }
  std::optional<AffineValue> input = get(reshape.getInput(), inner);
  if (!input)
    return std::nullopt;
  AffineValue result = makeConstant(input->offset, to.size());
  for (auto [source, target] : llvm::zip(sources, targets))
    result.strides[target] = input->strides[source];
  return result;
}

std::optional<AffineValue> AffineAnalysis::getTransposed(TransposeOp transpose, const Positions &at) {
  assert(at.size() == transpose.getPermutation().size() && "each dimension has a position, or all of them are read");
  Positions inner(at.size());
  for (auto [dim, axis] : llvm::enumerate(transpose.getPermutation()))
    inner[axis] = at[dim];
  std::optional<AffineValue> input = get(transpose.getInput(), inner);
  if (!input)
    return std::nullopt;
  AffineValue result = makeConstant(input->offset, at.size());
  for (auto [dim, axis] : llvm::enumerate(transpose.getPermutation()))
    result.strides[dim] = input->strides[axis];
  return result;
}

/// Follows a value that is broadcast to the shape of another one.
std::optional<AffineValue> AffineAnalysis::getBroadcast(Value from, Value to, const Positions &at) {
  Dims own = getDims(from), dims = getDims(to);
  if (own.size() > dims.size())
    return std::nullopt;
  assert(at.size() == dims.size() && "each dimension has a position, or all of them are read");
  size_t added = dims.size() - own.size();
  Positions inner(own.size());
  for (size_t dim = 0; dim < own.size(); ++dim) {
    if (isOne(own[dim]))
      continue;
    // The stride of a dynamic dimension is unknown if its extent may be 1 and be broadcast.
    if (!facts.isEqual(own[dim], dims[added + dim]))
      return std::nullopt;
    inner[dim] = at[added + dim];
  }
  std::optional<AffineValue> input = get(from, inner);
  if (!input)
    return std::nullopt;
  AffineValue result = makeConstant(input->offset, dims.size());
  llvm::copy(input->strides, result.strides.begin() + added);
  return result;
}

std::optional<AffineValue> AffineAnalysis::getSliced(SliceOp slice, const Positions &at) {
  Dims dims = getDims(slice.getType());
  ArrayRef<AffineExpr> starts = slice.getStarts().getDims();
  assert(starts.size() == at.size() && "the verifier wants a start for each dimension");
  Positions inner(at.size());
  for (size_t dim = 0; dim < at.size(); ++dim) {
    std::optional<int64_t> start = getConstant(starts[dim]);
    if (at[dim] && !start)
      return std::nullopt;
    if (at[dim])
      inner[dim] = *start + *at[dim] * slice.getSteps()[dim];
  }
  std::optional<AffineValue> value = get(slice.getInput(), inner);
  for (size_t dim = 0; value && dim < at.size(); ++dim) {
    int64_t &stride = value->strides[dim];
    if (at[dim] || stride == 0)
      continue;
    if (isUnknownDim(starts[dim]))
      return std::nullopt;
    value->offset = addDims(value->offset, mulDims(starts[dim], getDimConstant(slice.getContext(), stride)));
    if (isOne(dims[dim]))
      stride = 0;
    else if (__builtin_mul_overflow(stride, slice.getSteps()[dim], &stride))
      return std::nullopt;
  }
  return value;
}

/// If the position along the axis is known, only one input is read.
std::optional<AffineValue> AffineAnalysis::getConcat(ConcatOp concat, const Positions &at) {
  int64_t axis = concat.getAxis();
  if (!at[axis])
    return std::nullopt;
  Positions inner(at);
  for (Value input : concat.getInputs()) {
    std::optional<int64_t> count = getConstant(getDim(input, axis));
    if (!count)
      return std::nullopt;
    if (*inner[axis] < *count)
      return get(input, inner);
    *inner[axis] -= *count;
  }
  return std::nullopt;
}

/// A narrower type keeps the value modulo its range. Widening would preserve the result of an overflow, so only values
/// that cannot have overflowed are followed.
std::optional<AffineValue> AffineAnalysis::getCast(CastOp cast, const Positions &at) {
  Type from = getElementTypeOrSelf(cast.getInput()), to = cast.getType().getElementType();
  if (!isIndexType(from) || !isIndexType(to))
    return std::nullopt;
  bool isWidened = from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  return isWidened && !isa_and_nonnull<IotaOp, WeightOp>(cast.getInput().getDefiningOp()) ? std::nullopt
                                                                                          : get(cast.getInput(), at);
}

/// select(x < 0, x + n, x), which makes negative indices count from the end, is x if no x is negative.
std::optional<AffineValue> AffineAnalysis::getSelected(SelectOp select, const Positions &at) {
  auto compare = select.getCondition().getDefiningOp<CompareOp>();
  if (!compare || compare.getPredicate() != ComparePredicate::lt || compare.getLhs() != select.getRhs())
    return std::nullopt;
  Value index = select.getRhs();
  std::optional<AffineValue> value = getBroadcast(index, select.getResult(), at),
                             whole = get(index, Positions(getDims(index).size())),
                             limit = get(compare.getRhs(), Positions(getDims(compare.getRhs()).size()));
  bool isZero = limit && getConstant(limit->offset) == 0 &&
                llvm::all_of(limit->strides, [](int64_t stride) { return stride == 0; });
  if (!value || !whole || !isZero || !facts.isNotNegative(getSmallest(*whole, getDims(index))))
    return std::nullopt;
  return value;
}

std::optional<AffineValue> AffineAnalysis::getOperand(Operation *op, unsigned operand, const Positions &at) {
  return getBroadcast(op->getOperand(operand), op->getResult(0), at);
}

std::optional<AffineValue> AffineAnalysis::getBinary(Operation *op, const Positions &at) {
  std::optional<AffineValue> a = getOperand(op, 0, at), b = a ? getOperand(op, 1, at) : std::nullopt;
  if (!b)
    return std::nullopt;
  if (isa<MulOp>(op)) {
    auto isNumber = [](const AffineValue &value) {
      return getConstant(value.offset) && llvm::all_of(value.strides, [](int64_t stride) { return stride == 0; });
    };
    if (!isNumber(*b))
      std::swap(*a, *b);
    if (!isNumber(*b))
      return std::nullopt;
    int64_t factor = *getConstant(b->offset);
    a->offset = mulDims(a->offset, b->offset);
    for (int64_t &stride : a->strides)
      if (__builtin_mul_overflow(stride, factor, &stride))
        return std::nullopt;
    return a;
  }
  bool isSum = isa<AddOp>(op);
  a->offset = isSum ? addDims(a->offset, b->offset) : subDims(a->offset, b->offset);
  for (auto [stride, other] : llvm::zip(a->strides, b->strides))
    if (isSum ? __builtin_add_overflow(stride, other, &stride) : __builtin_sub_overflow(stride, other, &stride))
      return std::nullopt;
  return a;
}

std::optional<AffineValue> AffineAnalysis::compute(Operation *op, const Positions &at) {
  return llvm::TypeSwitch<Operation *, std::optional<AffineValue>>(op)
      .Case<WeightOp>([&](WeightOp weight) { return getWeight(weight, at); })
      .Case<IotaOp>([&](IotaOp iota) { return getIota(iota, at); })
      .Case<SizesOp>([&](SizesOp sizes) -> std::optional<AffineValue> {
        ArrayRef<AffineExpr> values = sizes.getValues().getDims();
        std::optional<int64_t> position = at.empty() ? 0 : at[0];
        if (!position && values.size() == 1)
          position = 0;
        return position && !isUnknownDim(values[*position]) ? std::optional(makeConstant(values[*position], at.size()))
                                                            : std::nullopt;
      })
      .Case<ReshapeOp>([&](ReshapeOp reshape) { return getReshaped(reshape, at); })
      .Case<TransposeOp>([&](TransposeOp transpose) { return getTransposed(transpose, at); })
      .Case<BroadcastOp>(
          [&](BroadcastOp broadcast) { return getBroadcast(broadcast.getInput(), broadcast.getResult(), at); })
      .Case<SliceOp>([&](SliceOp slice) { return getSliced(slice, at); })
      .Case<ConcatOp>([&](ConcatOp concat) { return getConcat(concat, at); })
      .Case<CastOp>([&](CastOp cast) { return getCast(cast, at); })
      .Case<SelectOp>([&](SelectOp select) { return getSelected(select, at); })
      .Case<AddOp, SubOp, MulOp>([&](Operation *binary) { return getBinary(binary, at); })
      .Default(std::nullopt);
}

std::optional<AffineValue> AffineAnalysis::get(Value value, const Positions &at) {
  Operation *op = value.getDefiningOp();
  if (!op || ++visits > kMaxVisits || !isIndexType(getElementTypeOrSelf(value)))
    return std::nullopt;
  return compute(op, at);
}

std::optional<AffineValue> tenon::getAffineValue(const Facts &facts, Value value, std::optional<int64_t> component) {
  Positions at(getDims(value).size());
  if (component)
    at.back() = *component;
  return AffineAnalysis(facts).get(value, at);
}

/// Returns the value at the position at which it is smallest, or largest.
static AffineExpr getEnd(const AffineValue &value, ArrayRef<AffineExpr> dims, bool isLargest) {
  AffineExpr end = value.offset;
  for (auto [stride, extent] : llvm::zip(value.strides, dims)) {
    MLIRContext *context = end.getContext();
    if (stride != 0 && (stride > 0) == isLargest)
      end = addDims(end, mulDims(subDims(extent, getDimConstant(context, 1)), getDimConstant(context, stride)));
  }
  return end;
}

AffineExpr tenon::getSmallest(const AffineValue &value, ArrayRef<AffineExpr> dims) {
  return getEnd(value, dims, false);
}
AffineExpr tenon::getLargest(const AffineValue &value, ArrayRef<AffineExpr> dims) { return getEnd(value, dims, true); }
