//===- ValueBounds.cpp - between which values elements lie ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/shape/ValueBounds.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;

/// What a model computes a size from is small.
static constexpr int64_t kMaxVisits = 1000; // limit: hostile models
/// All integers up to this are floats of 32 bits.
static constexpr int64_t kMaxInFloat = int64_t(1) << 24; // math: integers that f32 holds

using Element = std::optional<int64_t>;

//===----------------------------------------------------------------------===//
// Arithmetic on bounds
//===----------------------------------------------------------------------===//

template <typename Compute>
static std::optional<int64_t> combine(std::optional<int64_t> a, std::optional<int64_t> b, Compute compute) {
  int64_t result;
  if (!a || !b || compute(*a, *b, &result))
    return std::nullopt;
  return result;
}

static std::optional<int64_t> addEnds(std::optional<int64_t> a, std::optional<int64_t> b) {
  return combine(a, b, [](int64_t x, int64_t y, int64_t *sum) { return __builtin_add_overflow(x, y, sum); });
}

static std::optional<int64_t> subEnds(std::optional<int64_t> a, std::optional<int64_t> b) {
  return combine(a, b, [](int64_t x, int64_t y, int64_t *rest) { return __builtin_sub_overflow(x, y, rest); });
}

static std::optional<int64_t> mulEnds(std::optional<int64_t> a, std::optional<int64_t> b) {
  return combine(a, b, [](int64_t x, int64_t y, int64_t *product) { return __builtin_mul_overflow(x, y, product); });
}

static std::optional<int64_t> getEnd(AffineExpr max) { return max ? getConstant(max) : std::nullopt; }

static bool isNotNegative(const Bounds &bounds) { return bounds.min.value_or(-1) >= 0; }

static AffineExpr addTo(AffineExpr max, int64_t value) { return addDims(max, getDimConstant(max.getContext(), value)); }

static Bounds addBounds(const Bounds &a, const Bounds &b) {
  return {addEnds(a.min, b.min), a.max && b.max ? addDims(a.max, b.max) : AffineExpr()};
}

static Bounds negBounds(const Bounds &a, MLIRContext *context) {
  return {subEnds(0, getEnd(a.max)), a.min && *a.min != INT64_MIN ? getDimConstant(context, -*a.min) : AffineExpr()};
}

static Bounds subBounds(const Bounds &a, const Bounds &b) {
  bool isKnown = a.max && b.min && *b.min != INT64_MIN;
  return {subEnds(a.min, getEnd(b.max)), isKnown ? addTo(a.max, -*b.min) : AffineExpr()};
}

static Bounds mulBounds(const Bounds &a, const Bounds &b) {
  if (!isNotNegative(a) || !isNotNegative(b))
    return {};
  return {mulEnds(a.min, b.min).value_or(0), a.max && b.max ? mulDims(a.max, b.max) : AffineExpr()};
}

/// A quotient of non-negative numbers is at most the dividend, and decreases with the divisor.
static Bounds divBounds(const Bounds &a, const Bounds &b) {
  if (!isNotNegative(a) || b.min.value_or(0) < 1)
    return {};
  return {0, a.max ? divDims(a.max, getDimConstant(a.max.getContext(), *b.min)) : AffineExpr()};
}

/// For non-negative numbers both kinds of remainder are equal.
static Bounds remBounds(const Bounds &a, const Bounds &b, bool hasSignOfDivisor) {
  if (b.min.value_or(0) < 1 || (!hasSignOfDivisor && !isNotNegative(a)))
    return {};
  return {0, b.max ? addTo(b.max, -1) : isNotNegative(a) ? a.max : AffineExpr()};
}

Bounds ValueBounds::getExpr(AffineExpr expr) {
  if (isUnknownDim(expr))
    return {};
  int64_t min = facts.getRange(expr).min;
  return {min == INT64_MIN ? std::nullopt : std::optional(min), facts.getUpperBound(expr)};
}

Bounds ValueBounds::join(const Bounds &a, const Bounds &b) {
  return {a.min && b.min ? std::optional(std::min(*a.min, *b.min)) : std::nullopt, facts.getLarger(a.max, b.max)};
}

/// Returns the smaller of two upper bounds. If that depends on symbols, it returns either, since both are valid bounds.
AffineExpr ValueBounds::getSmaller(AffineExpr a, AffineExpr b) {
  if (!a || !b)
    return a ? a : b;
  return facts.isAtMost(b, a) || (getConstant(b) && !facts.isAtMost(a, b)) ? b : a;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static Bounds getConstantBounds(WeightOp weight, Element element) {
  auto values = dyn_cast<DenseElementsAttr>(weight.getValue());
  if (!values || values.empty())
    return {};
  MLIRContext *context = weight.getContext();
  auto at = [&](const APInt &value) -> Bounds {
    bool isUnsigned = values.getElementType().isUnsignedInteger();
    int64_t number = isUnsigned ? static_cast<int64_t>(value.getLimitedValue(INT64_MAX)) : value.getSExtValue();
    return {number, getDimConstant(context, number)};
  };
  auto atFloat = [&](const APFloat &value) -> Bounds {
    double number = value.convertToDouble(), most = static_cast<double>(kMaxInFloat);
    if (!(std::abs(number) <= most))
      return {};
    return {static_cast<int64_t>(std::floor(number)), getDimConstant(context, static_cast<int64_t>(std::ceil(number)))};
  };
  auto joinAll = [&](auto range, auto make) -> Bounds {
    if (element)
      return make(*(range.begin() + *element));
    Bounds all = make(*range.begin());
    for (const auto &value : range) {
      Bounds one = make(value);
      if (!one.max || !all.max)
        return {};
      all = {std::min(*all.min, *one.min), getDimConstant(context, std::max(*getEnd(all.max), *getEnd(one.max)))};
    }
    return all;
  };
  if (isa<IntegerType>(values.getElementType()))
    return joinAll(values.getValues<APInt>(), at);
  return isa<FloatType>(values.getElementType()) ? joinAll(values.getValues<APFloat>(), atFloat) : Bounds();
}

/// Bounds that a cast to the type keeps.
static Bounds castBounds(const Bounds &bounds, Type from, Type to) {
  std::optional<int64_t> max = getEnd(bounds.max);
  if (isa<FloatType>(to)) {
    bool isExact = isa<FloatType>(from) || to.isF64() || (to.isF32() && max && *max <= kMaxInFloat);
    return isExact && to.getIntOrFloatBitWidth() >= 32 ? bounds : Bounds();
  }
  unsigned width = to.getIntOrFloatBitWidth();
  if (width >= 64 || (!to.isUnsignedInteger() && width == 32))
    return bounds;
  bool fits = isNotNegative(bounds) && max && *max < int64_t(1) << (width - 1);
  return fits ? bounds : Bounds();
}

Bounds ValueBounds::getConcat(ConcatOp concat, Element element) {
  bool isVector = concat.getType().getRank() == 1;
  std::optional<Bounds> all;
  for (Value input : concat.getInputs()) {
    std::optional<int64_t> count = getConstant(getDim(input, 0));
    if (element && isVector && count && *element < *count)
      return get(input, element);
    if (element && isVector && count) {
      *element -= *count;
      continue;
    }
    element = std::nullopt;
    all = all ? join(*all, get(input, {})) : get(input, {});
  }
  return all.value_or(Bounds());
}

/// Which element of a slice's input it is.
static Element getSliced(SliceOp slice, Element element) {
  std::optional<int64_t> start;
  if (slice.getInput().getType().getRank() == 1)
    start = getConstant(slice.getStarts().getDims().front());
  return element && start ? Element(*start + *element * slice.getSteps().front()) : Element();
}

Bounds ValueBounds::getReduced(Value input, ArrayRef<int64_t> axes, ReduceKind kind) {
  Bounds one = get(input, {});
  Dims extents;
  for (int64_t axis : axes)
    extents.push_back(getDim(input, axis));
  if (llvm::any_of(extents, isUnknownDim))
    return {};
  Bounds count = getExpr(getElementCount(input.getContext(), extents));
  if (kind == ReduceKind::max || kind == ReduceKind::min)
    return count.min.value_or(0) > 0 ? one : Bounds(); // Of nothing it is the end of the type.
  return kind == ReduceKind::sum && isa<IntegerType>(getElementTypeOrSelf(input)) ? mulBounds(one, count) : Bounds();
}

Bounds ValueBounds::getIndex(Value input, int64_t axis) {
  AffineExpr max = getExpr(getDim(input, axis)).max;
  return {0, max ? addTo(max, -1) : AffineExpr()};
}

Bounds ValueBounds::getBinary(Operation *op, const Bounds &a, const Bounds &b) {
  if (isa<MinOp>(op))
    return {combine(a.min, b.min, [](int64_t x, int64_t y, int64_t *z) { return *z = std::min(x, y), false; }),
            getSmaller(a.max, b.max)};
  if (isa<MaxOp>(op)) {
    std::optional<int64_t> min = a.min && b.min ? std::optional(std::max(*a.min, *b.min)) : a.min ? a.min : b.min;
    return {min, facts.getLarger(a.max, b.max)};
  }
  if (!isa<IntegerType>(getElementTypeOrSelf(op->getResult(0))))
    return {};
  return llvm::TypeSwitch<Operation *, Bounds>(op)
      .Case<AddOp>([&](Operation *) { return addBounds(a, b); })
      .Case<SubOp>([&](Operation *) { return subBounds(a, b); })
      .Case<MulOp>([&](Operation *) { return mulBounds(a, b); })
      .Case<DivOp>([&](Operation *) { return divBounds(a, b); })
      .Case<ModOp>([&](Operation *) { return remBounds(a, b, /*hasSignOfDivisor=*/true); })
      .Case<RemOp>([&](Operation *) { return remBounds(a, b, /*hasSignOfDivisor=*/false); })
      .Default(Bounds());
}

/// Returns the bounds of an operand, which may be broadcast to the result's shape.
Bounds ValueBounds::getOperand(Operation *op, unsigned operand, Element element) {
  Value value = op->getOperand(operand);
  return get(value, getDims(value) == getDims(op->getResult(0)) ? element : Element());
}

Bounds ValueBounds::compute(Operation *op, unsigned result, Element element) {
  MLIRContext *context = op->getContext();
  auto first = [&] { return getOperand(op, 0, element); };
  return llvm::TypeSwitch<Operation *, Bounds>(op)
      .Case<WeightOp>([&](WeightOp weight) { return getConstantBounds(weight, element); })
      .Case<SizesOp>([&](SizesOp sizes) {
        ArrayRef<AffineExpr> dims = sizes.getValues().getDims();
        Bounds all = dims.empty() ? Bounds() : getExpr(dims[element.value_or(0)]);
        for (size_t i = 1; !element && i < dims.size(); ++i)
          all = join(all, getExpr(dims[i]));
        return all;
      })
      .Case<ReshapeOp>([&](ReshapeOp reshape) { return get(reshape.getInput(), element); })
      .Case<SliceOp>([&](SliceOp slice) { return get(slice.getInput(), getSliced(slice, element)); })
      .Case<ConcatOp>([&](ConcatOp concat) { return getConcat(concat, element); })
      .Case<BroadcastOp>([&](Operation *) { return first(); })
      .Case<TransposeOp, GatherOp, GatherElementsOp, GatherNDOp>(
          [&](Operation *) { return get(op->getOperand(0), {}); })
      .Case<FloorOp, CeilOp, RoundOp>([&](Operation *) { return first(); })
      .Case<CastOp>([&](CastOp cast) {
        return castBounds(first(), getElementTypeOrSelf(cast.getInput()), getElementTypeOrSelf(cast.getResult()));
      })
      .Case<NegOp>([&](Operation *) { return negBounds(first(), context); })
      .Case<AbsOp>([&](Operation *) {
        Bounds bounds = first();
        return isNotNegative(bounds) ? bounds : Bounds{0, {}};
      })
      .Case<SignOp>([&](Operation *) { return Bounds{-1, getDimConstant(context, 1)}; })
      .Case<SigmoidOp>([&](Operation *) { return Bounds{0, getDimConstant(context, 1)}; })
      .Case<ReluOp>([&](Operation *) {
        Bounds bounds = first();
        return Bounds{std::max<int64_t>(bounds.min.value_or(0), 0),
                      facts.getLarger(bounds.max, getDimConstant(context, 0))};
      })
      .Case<SelectOp>([&](Operation *) { return join(getOperand(op, 1, element), getOperand(op, 2, element)); })
      .Case<ReduceOp>(
          [&](ReduceOp reduce) { return getReduced(reduce.getInput(), reduce.getAxes(), reduce.getKind()); })
      .Case<ScanOp>([&](ScanOp scan) {
        Bounds bounds = getReduced(scan.getInput(), scan.getAxis(), scan.getKind());
        return Bounds{isNotNegative(bounds) ? std::optional<int64_t>(0) : std::nullopt, bounds.max};
      })
      .Case<ArgReduceOp>([&](ArgReduceOp reduce) { return getIndex(reduce.getInput(), reduce.getAxis()); })
      .Case<SampleOp>(
          [&](SampleOp sample) { return getIndex(sample.getWeights(), sample.getWeights().getType().getRank() - 1); })
      .Case<IotaOp>([&](IotaOp iota) { return getIndex(iota.getResult(), iota.getAxis()); })
      .Case<TopKOp>([&](TopKOp topK) {
        return result == 1 ? getIndex(topK.getInput(), topK.getAxis()) : get(topK.getInput(), {});
      })
      .Default([&](Operation *) {
        bool isBinary = op->hasTrait<Elementwise>() && op->getNumOperands() == 2;
        return isBinary ? getBinary(op, first(), getOperand(op, 1, element)) : Bounds();
      });
}

Bounds ValueBounds::get(Value value, Element element) {
  auto result = dyn_cast<OpResult>(value);
  if (++visits > kMaxVisits)
    return {};
  if (getElementTypeOrSelf(value).isInteger(1))
    return {0, getDimConstant(value.getContext(), 1)};
  return result ? compute(result.getOwner(), result.getResultNumber(), element) : Bounds();
}
