//===- ShapeArithmetic.cpp - arithmetic on elements known at compile time -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ShapeArithmetic.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

/// Larger constants are no sizes, and would cause overflow.
static constexpr int64_t kMaxCoefficient = int64_t(1) << 31;
static constexpr int64_t kMaxDivisor = int64_t(1) << 16;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Element onnx_import::makeInteger(AffineExpr expr) { return {expr, 1, std::nullopt}; }

Element onnx_import::makeNumber(double value, MLIRContext *context) {
  // Whole numbers are converted to expressions, so that sums with symbols stay exact.
  if (std::abs(value) < 9e15 && value == std::floor(value) && !(value == 0 && std::signbit(value)))
    return makeInteger(getDimConstant(context, static_cast<int64_t>(value)));
  return {{}, 1, value};
}

std::optional<double> Element::getNumber() const {
  if (number)
    return number;
  std::optional<int64_t> constant = expr ? getConstant(expr) : std::nullopt;
  return constant ? std::optional(static_cast<double>(*constant) / static_cast<double>(divisor)) : std::nullopt;
}

/// Returns a lower bound of the expression if no symbol is negative; none if none is known.
static std::optional<int64_t> getLowerBound(AffineExpr expr) {
  if (std::optional<int64_t> value = getConstant(expr))
    return value;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  std::optional<int64_t> a = getLowerBound(binary.getLHS()), b = getLowerBound(binary.getRHS());
  std::optional<int64_t> constant = getConstant(binary.getRHS());
  int64_t bound;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a && b && !__builtin_add_overflow(*a, *b, &bound) ? std::optional(bound) : std::nullopt;
  case AffineExprKind::Mul:
    // A positive factor preserves the order; with two factors that may both be negative, there is no bound.
    if (a && b && ((*a >= 0 && *b >= 0) || constant.value_or(0) > 0) && !__builtin_mul_overflow(*a, *b, &bound))
      return bound;
    return std::nullopt;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    if (a && constant && *constant > 0)
      return expr.getKind() == AffineExprKind::FloorDiv ? llvm::divideFloorSigned(*a, *constant)
                                                        : llvm::divideCeilSigned(*a, *constant);
    return a && b && *a >= 0 && *b >= 0 ? std::optional<int64_t>(0) : std::nullopt;
  default:
    return b && *b >= 0 ? std::optional<int64_t>(0) : std::nullopt;
  }
}

bool onnx_import::isNonNegative(AffineExpr expr) { return getLowerBound(expr).value_or(-1) >= 0; }

static bool isFloat(Type type) { return isa<FloatType>(type); }

/// The number as the element type would hold it.
static double roundTo(double value, Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType || floatType.isF64())
    return value;
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

namespace {
/// expr / divisor with a divisor above 0.
struct Quotient {
  AffineExpr expr;
  int64_t divisor;
};
} // namespace

static bool isModest(AffineExpr expr) {
  if (std::optional<int64_t> constant = getConstant(expr))
    return *constant <= kMaxCoefficient && *constant >= -kMaxCoefficient;
  if (AffineExpr indicated = getIndicated(expr))
    return isModest(indicated);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (isModest(binary.getLHS()) && isModest(binary.getRHS()));
}

bool onnx_import::isShort(AffineExpr expr) {
  constexpr int kMaxParts = 24;
  int parts = 0;
  expr.walk([&](AffineExpr) { ++parts; });
  return parts <= kMaxParts;
}

static std::optional<Quotient> toQuotient(const Element &a, MLIRContext *context) {
  if (a.expr)
    return isModest(a.expr) ? std::optional(Quotient{a.expr, a.divisor}) : std::nullopt;
  if (!a.number)
    return std::nullopt;
  for (int64_t divisor = 2; divisor <= kMaxDivisor; divisor *= 2) {
    double scaled = *a.number * static_cast<double>(divisor);
    if (scaled == std::floor(scaled) && std::abs(scaled) <= static_cast<double>(kMaxCoefficient))
      return Quotient{getDimConstant(context, static_cast<int64_t>(scaled)), divisor};
  }
  return std::nullopt;
}

static Element fromQuotient(AffineExpr expr, int64_t divisor) {
  assert(divisor > 0 && "the sign of a quotient is that of its numerator");
  AffineExpr by = getDimConstant(expr.getContext(), divisor);
  if (divisor != 1 && getConstant(modDims(expr, by)) == 0)
    return makeInteger(divDims(expr, by));
  if (divisor > kMaxDivisor)
    return {};
  return {expr, divisor, std::nullopt};
}

/// Returns the context of whichever element has one; null if both are plain numbers.
static MLIRContext *contextOf(Type type) { return type.getContext(); }

template <typename Compute>
static std::optional<Element> foldNumbers(const Element &a, const Element &b, Type type, Compute compute) {
  std::optional<double> x = a.getNumber(), y = b.getNumber();
  if (!isFloat(type) || !x || !y)
    return std::nullopt;
  return makeNumber(roundTo(compute(*x, *y), type), contextOf(type));
}

static std::optional<std::pair<int64_t, int64_t>> asConstants(const Element &a, const Element &b) {
  std::optional<int64_t> x = a.getInteger() ? getConstant(a.expr) : std::nullopt;
  std::optional<int64_t> y = b.getInteger() ? getConstant(b.expr) : std::nullopt;
  if (!x || !y)
    return std::nullopt;
  return std::pair(*x, *y);
}

static Element makeConstant(int64_t value, Type type) { return makeInteger(getDimConstant(contextOf(type), value)); }

//===----------------------------------------------------------------------===//
// Sums, products, quotients
//===----------------------------------------------------------------------===//

static Element addScaled(const Element &a, const Element &b, int64_t sign, Type type) {
  if (auto constants = asConstants(a, b); constants && !isFloat(type)) {
    int64_t scaled, sum;
    if (__builtin_mul_overflow(constants->second, sign, &scaled) ||
        __builtin_add_overflow(constants->first, scaled, &sum))
      return {};
    return makeConstant(sum, type);
  }
  if (auto folded = foldNumbers(a, b, type, [&](double x, double y) { return x + static_cast<double>(sign) * y; }))
    return *folded;
  std::optional<Quotient> x = toQuotient(a, contextOf(type)), y = toQuotient(b, contextOf(type));
  if (!x || !y)
    return {};
  return fromQuotient(simplifyDim(x->expr * y->divisor + y->expr * (sign * x->divisor)), x->divisor * y->divisor);
}
Element onnx_import::addElements(const Element &a, const Element &b, Type type) { return addScaled(a, b, 1, type); }
Element onnx_import::subElements(const Element &a, const Element &b, Type type) { return addScaled(a, b, -1, type); }

Element onnx_import::mulElements(const Element &a, const Element &b, Type type) {
  if (auto constants = asConstants(a, b); constants && !isFloat(type)) {
    int64_t product;
    if (__builtin_mul_overflow(constants->first, constants->second, &product))
      return {};
    return makeConstant(product, type);
  }
  if (auto folded = foldNumbers(a, b, type, [](double x, double y) { return x * y; }))
    return *folded;
  std::optional<Quotient> x = toQuotient(a, contextOf(type)), y = toQuotient(b, contextOf(type));
  if (!x || !y)
    return {};
  return fromQuotient(mulDims(x->expr, y->expr), x->divisor * y->divisor);
}

static Element divIntegers(const Element &a, const Element &b, Type type) {
  if (auto constants = asConstants(a, b)) {
    if (constants->second == 0 || (constants->second == -1 && constants->first == INT64_MIN))
      return {};
    return makeConstant(constants->first / constants->second, type);
  }
  if (!a.getInteger() || !b.getInteger() || !isModest(a.expr) || !isModest(b.expr))
    return {};
  // Truncation and floor agree for non-negative numbers and for exact quotients.
  if (getConstant(modDims(a.expr, b.expr)) == 0 || (isNonNegative(a.expr) && isNonNegative(b.expr)))
    return getConstant(b.expr) == 0 ? Element() : makeInteger(divDims(a.expr, b.expr));
  // Otherwise each sign needs a separate quotient, since kernels only divide non-negative numbers.
  std::optional<int64_t> divisor = getConstant(b.expr);
  if (!divisor || *divisor <= 0 || !isShort(a.expr))
    return {};
  AffineExpr zero = getDimConstant(contextOf(type), 0), above = maxDims(a.expr, zero),
             below = maxDims(subDims(zero, a.expr), zero);
  return makeInteger(subDims(divDims(above, b.expr), divDims(below, b.expr)));
}

Element onnx_import::divElements(const Element &a, const Element &b, Type type) {
  if (!isFloat(type))
    return divIntegers(a, b, type);
  if (auto folded = foldNumbers(a, b, type, [](double x, double y) { return x / y; }))
    return *folded;
  std::optional<Quotient> x = toQuotient(a, contextOf(type)), y = toQuotient(b, contextOf(type));
  if (!x || !y)
    return {};
  AffineExpr numerator = simplifyDim(x->expr * y->divisor), denominator = simplifyDim(y->expr * x->divisor);
  if (std::optional<int64_t> constant = getConstant(denominator))
    return *constant > 0 ? fromQuotient(numerator, *constant) : Element();
  if (getConstant(modDims(numerator, denominator)) == 0)
    return makeInteger(divDims(numerator, denominator));
  return {};
}

Element onnx_import::modElements(const Element &a, const Element &b, Type type) {
  if (isFloat(type))
    return {};
  if (auto constants = asConstants(a, b)) {
    if (constants->second == 0 || constants->second == -1)
      return {};
    int64_t rest = constants->first % constants->second;
    return makeConstant(rest != 0 && (rest < 0) != (constants->second < 0) ? rest + constants->second : rest, type);
  }
  if (!a.getInteger() || !b.getInteger() || !isModest(a.expr) || getConstant(b.expr).value_or(0) <= 0)
    return {};
  return makeInteger(modDims(a.expr, b.expr));
}

Element onnx_import::powElements(const Element &a, const Element &b, Type type) {
  if (auto folded = foldNumbers(a, b, type, [](double x, double y) { return std::pow(x, y); }))
    return *folded;
  if (b.getNumber() == 1.0)
    return a;
  return b.getNumber() == 2.0 ? mulElements(a, a, type) : Element();
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// Whether a <= b, as far as that is certain.
static std::optional<bool> isLessOrEqual(const Element &a, const Element &b) {
  std::optional<double> x = a.getNumber(), y = b.getNumber();
  if (auto constants = asConstants(a, b))
    return constants->first <= constants->second;
  if (x && y)
    return *x <= *y;
  if (!a.getInteger() || !b.getInteger() || !isModest(a.expr) || !isModest(b.expr))
    return std::nullopt;
  AffineExpr difference = subDims(b.expr, a.expr);
  if (isNonNegative(difference))
    return true;
  AffineExpr opposite = subDims(a.expr, b.expr);
  if (isNonNegative(subDims(opposite, getDimConstant(a.expr.getContext(), 1))))
    return false;
  return std::nullopt;
}

static Element makeBool(std::optional<bool> value, Type type) { return value ? makeConstant(*value, type) : Element(); }
static std::optional<bool> negate(std::optional<bool> value) { return value ? std::optional(!*value) : std::nullopt; }

/// True if two expressions may be combined by cases.
static bool mayBeJoined(const Element &a, const Element &b) {
  return a.getInteger() && b.getInteger() && isModest(a.expr) && isModest(b.expr) && isShort(a.expr) && isShort(b.expr);
}
Element onnx_import::maxElements(const Element &a, const Element &b, Type) {
  std::optional<bool> less = isLessOrEqual(a, b), more = isLessOrEqual(b, a);
  if (less == true || more == true)
    return less == true ? b : a;
  return mayBeJoined(a, b) ? makeInteger(maxDims(a.expr, b.expr)) : Element();
}
Element onnx_import::minElements(const Element &a, const Element &b, Type) {
  std::optional<bool> less = isLessOrEqual(a, b), more = isLessOrEqual(b, a);
  if (less == true || more == true)
    return less == true ? a : b;
  return mayBeJoined(a, b) ? makeInteger(minDims(a.expr, b.expr)) : Element();
}
Element onnx_import::equalElements(const Element &a, const Element &b, Type type) {
  std::optional<bool> less = isLessOrEqual(a, b), more = isLessOrEqual(b, a);
  if (less == true && more == true)
    return makeBool(true, type);
  return less == false || more == false ? makeBool(false, type) : Element();
}
Element onnx_import::lessOrEqualElements(const Element &a, const Element &b, Type type) {
  return makeBool(isLessOrEqual(a, b), type);
}
Element onnx_import::greaterOrEqualElements(const Element &a, const Element &b, Type type) {
  return makeBool(isLessOrEqual(b, a), type);
}
Element onnx_import::lessElements(const Element &a, const Element &b, Type type) {
  return makeBool(negate(isLessOrEqual(b, a)), type);
}
Element onnx_import::greaterElements(const Element &a, const Element &b, Type type) {
  return makeBool(negate(isLessOrEqual(a, b)), type);
}
Element onnx_import::andElements(const Element &a, const Element &b, Type type) {
  auto constants = asConstants(a, b);
  return constants ? makeConstant(constants->first & constants->second, type) : Element();
}
Element onnx_import::orElements(const Element &a, const Element &b, Type type) {
  auto constants = asConstants(a, b);
  return constants ? makeConstant(constants->first | constants->second, type) : Element();
}

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

Element onnx_import::floorElement(const Element &a) {
  if (a.number)
    return {{}, 1, std::floor(*a.number)};
  return a.expr ? makeInteger(divDims(a.expr, getDimConstant(a.expr.getContext(), a.divisor))) : Element();
}
Element onnx_import::ceilElement(const Element &a) {
  if (a.number)
    return {{}, 1, std::ceil(*a.number)};
  return a.expr ? makeInteger(ceilDivDims(a.expr, getDimConstant(a.expr.getContext(), a.divisor))) : Element();
}
Element onnx_import::notElement(const Element &a) {
  std::optional<int64_t> constant = a.getInteger() ? getConstant(a.expr) : std::nullopt;
  return constant ? makeInteger(getDimConstant(a.expr.getContext(), !*constant)) : Element();
}
Element onnx_import::absElement(const Element &a) {
  if (a.number)
    return {{}, 1, std::abs(*a.number)};
  if (!a.expr || isNonNegative(a.expr))
    return a;
  std::optional<int64_t> constant = getConstant(a.expr);
  return constant && *constant != INT64_MIN ? Element{getDimConstant(a.expr.getContext(), -*constant), a.divisor, {}}
                                            : Element();
}
Element onnx_import::sqrtElement(const Element &a, Type type) {
  std::optional<double> number = a.getNumber();
  return number ? makeNumber(roundTo(std::sqrt(*number), type), contextOf(type)) : Element();
}

Element onnx_import::castElement(const Element &a, Type from, Type to) {
  if (!a.isKnown())
    return a;
  if (to.isInteger(1)) {
    std::optional<double> number = a.getNumber();
    return number ? makeConstant(*number != 0, to) : Element();
  }
  if (isFloat(to)) {
    if (std::optional<double> number = a.getNumber())
      return makeNumber(roundTo(*number, to), contextOf(to));
    return a; // Sizes are far below what floats hold exactly.
  }
  if (a.number) // Beyond the range of integers the result is not defined.
    return std::abs(*a.number) < 9e18 ? makeConstant(static_cast<int64_t>(*a.number), to) : Element();
  if (a.divisor != 1)
    return isNonNegative(a.expr) ? floorElement(a) : Element();
  std::optional<int64_t> constant = getConstant(a.expr);
  unsigned width = to.getIntOrFloatBitWidth();
  if (!constant || width >= 64)
    return a;
  auto wrapped = llvm::APInt(width, *constant, true, true);
  return makeConstant(to.isUnsignedInteger() ? static_cast<int64_t>(wrapped.getZExtValue()) : wrapped.getSExtValue(),
                      to);
}
