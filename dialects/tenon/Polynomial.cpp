//===- Polynomial.cpp - the normal form of extents ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Polynomial.h"
#include "dialects/tenon/Dims.h"
#include "dialects/tenon/Indicator.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tenon;

/// Orders expressions by structure.
static bool isBefore(AffineExpr a, AffineExpr b) {
  if (a == b)
    return false;
  if (a.getKind() != b.getKind())
    return a.getKind() < b.getKind();
  if (auto constant = dyn_cast<AffineConstantExpr>(a))
    return constant.getValue() < cast<AffineConstantExpr>(b).getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(a))
    return symbol.getPosition() < cast<AffineSymbolExpr>(b).getPosition();
  if (auto dim = dyn_cast<AffineDimExpr>(a))
    return dim.getPosition() < cast<AffineDimExpr>(b).getPosition();
  auto x = cast<AffineBinaryOpExpr>(a), y = cast<AffineBinaryOpExpr>(b);
  return x.getLHS() == y.getLHS() ? isBefore(x.getRHS(), y.getRHS()) : isBefore(x.getLHS(), y.getLHS());
}

bool TermBefore::operator()(const Term &a, const Term &b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), isBefore);
}

// Coefficients saturate on overflow, so that an extent with such a coefficient is rejected as too large, and not
// mistaken for a small one.
static int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  return !llvm::AddOverflow(a, b, sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}
static int64_t mul(int64_t a, int64_t b) {
  int64_t product;
  return !llvm::MulOverflow(a, b, product) ? product : (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
}

void tenon::addTerm(Polynomial &sum, const Term &term, int64_t coefficient) {
  if (coefficient == 0)
    return;
  auto it = sum.try_emplace(term, 0).first;
  it->second = add(it->second, coefficient);
  if (it->second == 0)
    sum.erase(it);
}

Polynomial tenon::addPolynomials(Polynomial a, const Polynomial &b, int64_t times) {
  for (auto &[term, coefficient] : b)
    addTerm(a, term, mul(coefficient, times));
  return a;
}

Polynomial tenon::multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial product;
  for (auto &[x, cx] : a)
    for (auto &[y, cy] : b) {
      Term term(x);
      term.append(y.begin(), y.end());
      llvm::sort(term, isBefore);
      // An indicator is its own square.
      term.erase(std::unique(term.begin(), term.end(),
                             [](AffineExpr a, AffineExpr b) { return a == b && getIndicatedSum(a); }),
                 term.end());
      addTerm(product, term, mul(cx, cy));
    }
  return product;
}

AffineExpr tenon::toExpr(const Polynomial &sum, MLIRContext *context) {
  AffineExpr expr;
  for (auto &[term, coefficient] : llvm::reverse(sum)) {
    AffineExpr product;
    for (AffineExpr factor : term)
      product = product ? product * factor : factor;
    product = product ? product * coefficient : getDimConstant(context, coefficient);
    expr = expr ? expr + product : product;
  }
  return expr ? expr : getDimConstant(context, 0);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// Returns a / b if b is a single term that divides every term of a.
static std::optional<Polynomial> divideExactly(const Polynomial &a, const Polynomial &b) {
  if (b.size() != 1)
    return std::nullopt;
  const auto &[divisor, coefficient] = *b.begin();
  Polynomial quotient;
  for (auto &[term, c] : a) {
    Term rest(term);
    assert(coefficient != 0 && "terms that cancel are erased");
    for (AffineExpr factor : divisor) {
      auto *it = llvm::find(rest, factor);
      if (it == rest.end())
        return std::nullopt;
      rest.erase(it);
    }
    if (c % coefficient != 0)
      return std::nullopt;
    addTerm(quotient, rest, c / coefficient);
  }
  return quotient;
}

static Polynomial makeFactor(AffineExprKind kind, const Polynomial &a, const Polynomial &b, MLIRContext *context) {
  return {{Term{getAffineBinaryOpExpr(kind, toExpr(a, context), toExpr(b, context))}, 1}};
}

static Polynomial makeConstant(int64_t value) { return value ? Polynomial{{Term(), value}} : Polynomial(); }

/// Takes the constant out of a sum.
static int64_t takeConstant(Polynomial &sum) {
  auto it = sum.find(Term());
  if (it == sum.end())
    return 0;
  int64_t constant = it->second;
  sum.erase(it);
  return constant;
}

/// x and d where a term is x / d rounded down.
static std::optional<std::pair<Polynomial, int64_t>> asQuotient(const Term &term) {
  auto binary = dyn_cast_or_null<AffineBinaryOpExpr>(term.size() == 1 ? term.front() : AffineExpr());
  std::optional<int64_t> divisor = binary ? getConstant(binary.getRHS()) : std::nullopt;
  if (!divisor || *divisor <= 0)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::FloorDiv)
    return std::pair(toPolynomial(binary.getLHS()), *divisor);
  if (binary.getKind() == AffineExprKind::CeilDiv)
    return std::pair(addPolynomials(toPolynomial(binary.getLHS()), makeConstant(*divisor - 1)), *divisor);
  return std::nullopt;
}

/// Rewrites (x / d + rest) / divisor as (x + rest * d) / (d * divisor), where `sum` is the dividend of the left side;
/// returns the dividend and the divisor of the right side.
static std::optional<std::pair<Polynomial, int64_t>> joinQuotients(const Polynomial &sum, int64_t divisor) {
  for (auto &[term, coefficient] : sum) {
    auto inner = coefficient == 1 ? asQuotient(term) : std::nullopt;
    int64_t product;
    if (!inner || llvm::MulOverflow(inner->second, divisor, product) || !hasSmallCoefficients(sum) ||
        inner->second > (1 << 20))
      continue;
    Polynomial rest(sum);
    rest.erase(term);
    return std::pair(addPolynomials(inner->first, rest, inner->second), product);
  }
  return std::nullopt;
}

/// The divisor of an indicator, whose dividend is sum * 2 + kIndicatorDivisor - 1.
static constexpr int64_t kIndicatorDivisor = kIndicatorRange; // format: of indicators

/// The sum where `dividend` is that of an indicator.
static std::optional<Polynomial> takeIndicated(const Polynomial &dividend) {
  Polynomial twice = addPolynomials(dividend, makeConstant(1 - kIndicatorDivisor));
  return divideExactly(twice, makeConstant(2));
}

std::optional<Polynomial> tenon::getIndicatedSum(AffineExpr factor) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(factor);
  if (!binary || binary.getKind() != AffineExprKind::FloorDiv || getConstant(binary.getRHS()) != kIndicatorDivisor)
    return std::nullopt;
  return takeIndicated(toPolynomial(binary.getLHS()));
}

/// Common factors are removed, so that an indicator has a unique form.
Polynomial tenon::makeIndicator(Polynomial sum, MLIRContext *context) {
  if (sum.empty() || (sum.size() == 1 && sum.begin()->first.empty()))
    return makeConstant(!sum.empty() && sum.begin()->second > 0);
  int64_t common = 0;
  for (auto &[term, coefficient] : sum)
    common = std::gcd(common, coefficient);
  assert(common > 0 && "terms that cancel are erased");
  sum = *divideExactly(sum, makeConstant(common));
  return makeFactor(AffineExprKind::FloorDiv, addPolynomials(makeConstant(kIndicatorDivisor - 1), sum, 2),
                    makeConstant(kIndicatorDivisor), context);
}

static Polynomial floorByConstant(const Polynomial &a, int64_t divisor, MLIRContext *context) {
  assert(divisor > 0 && "divisors of other signs stay in the quotient");
  // a = divisor * quotient + rest
  Polynomial quotient, rest;
  for (auto &[term, coefficient] : a) {
    int64_t whole = llvm::divideFloorSigned(coefficient, divisor);
    addTerm(quotient, term, whole);
    addTerm(rest, term, coefficient - whole * divisor);
  }
  int64_t constant = takeConstant(rest);
  if (rest.empty())
    return quotient;
  if (auto joined = joinQuotients(addPolynomials(rest, makeConstant(constant)), divisor))
    return addPolynomials(quotient, floorByConstant(joined->first, joined->second, context));
  int64_t common = divisor;
  for (auto &[term, coefficient] : rest)
    common = std::gcd(common, coefficient);
  if (common > 1) {
    Polynomial reduced = *divideExactly(rest, makeConstant(common));
    reduced = addPolynomials(reduced, makeConstant(constant / common));
    return addPolynomials(quotient, floorByConstant(reduced, divisor / common, context));
  }
  if (constant == divisor - 1)
    return addPolynomials(quotient, makeFactor(AffineExprKind::CeilDiv, rest, makeConstant(divisor), context));
  rest = addPolynomials(rest, makeConstant(constant));
  return addPolynomials(quotient, makeFactor(AffineExprKind::FloorDiv, rest, makeConstant(divisor), context));
}

static Polynomial modByConstant(const Polynomial &a, int64_t divisor, MLIRContext *context) {
  assert(divisor > 0 && "divisors of other signs stay in the remainder");
  Polynomial rest;
  for (auto &[term, coefficient] : a)
    addTerm(rest, term, coefficient - llvm::divideFloorSigned(coefficient, divisor) * divisor);
  int64_t constant = takeConstant(rest), common = divisor;
  for (auto &[term, coefficient] : rest)
    common = std::gcd(common, coefficient);
  if (rest.empty() || common == divisor)
    return makeConstant(constant);
  // (g * x + c) mod (g * d) = g * ((x + c / g) mod d) + c mod g
  rest = addPolynomials(*divideExactly(rest, makeConstant(common)), makeConstant(constant / common));
  Polynomial factor = makeFactor(AffineExprKind::Mod, rest, makeConstant(divisor / common), context);
  return addPolynomials(multiply(factor, makeConstant(common)), makeConstant(constant % common));
}

Polynomial tenon::divide(AffineExprKind kind, const Polynomial &a, const Polynomial &b, MLIRContext *context) {
  if (b.empty())
    return makeFactor(kind, a, b, context); // Division by zero is refused when sizes are bound.
  if (std::optional<Polynomial> quotient = divideExactly(a, b))
    return kind == AffineExprKind::Mod ? Polynomial() : *quotient;
  int64_t divisor = b.size() == 1 && b.begin()->first.empty() ? b.begin()->second : 0;
  if (divisor <= 0)
    return makeFactor(kind, a, b, context);
  if (kind == AffineExprKind::Mod)
    return modByConstant(a, divisor, context);
  if (kind == AffineExprKind::FloorDiv && divisor == kIndicatorDivisor)
    if (std::optional<Polynomial> sum = takeIndicated(a))
      return makeIndicator(std::move(*sum), context);
  if (kind == AffineExprKind::CeilDiv)
    return floorByConstant(addPolynomials(a, makeConstant(divisor - 1)), divisor, context);
  return floorByConstant(a, divisor, context);
}

Polynomial tenon::toPolynomial(AffineExpr expr) {
  if (std::optional<int64_t> constant = getConstant(expr))
    return makeConstant(*constant);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return {{Term{expr}, 1}};
  Polynomial lhs = toPolynomial(binary.getLHS()), rhs = toPolynomial(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Add)
    return addPolynomials(std::move(lhs), rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return multiply(lhs, rhs);
  return divide(expr.getKind(), lhs, rhs, expr.getContext());
}

//===----------------------------------------------------------------------===//
// Without quotients
//===----------------------------------------------------------------------===//

bool tenon::hasSmallCoefficients(const Polynomial &sum) {
  constexpr int64_t kSmall = int64_t(1) << 40; // limit: sums stay in 64 bits
  return llvm::all_of(sum, [](const auto &entry) { return entry.second > -kSmall && entry.second < kSmall; });
}

/// Returns the smallest x for which `sum` times x has no fraction once `quotient`, by `divisor`, is expanded; 0 if it
/// occurs with a higher exponent.
static int64_t getMultiplier(const Polynomial &sum, AffineExpr quotient, int64_t divisor) {
  assert(divisor > 0 && "only quotients by positive constants are removed");
  int64_t multiplier = 1;
  for (auto &[term, coefficient] : sum) {
    int64_t power = llvm::count(term, quotient);
    if (power > 1)
      return 0;
    if (power == 1)
      multiplier = std::lcm(multiplier, divisor / std::gcd(divisor, coefficient));
  }
  return multiplier;
}

/// Returns a quotient by a constant that occurs in `sum`, and a multiplier for it.
static std::optional<std::pair<AffineBinaryOpExpr, int64_t>> findQuotient(const Polynomial &sum) {
  for (auto &[term, coefficient] : sum)
    for (AffineExpr factor : term) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(factor);
      if (!binary || factor.getKind() == AffineExprKind::Mod)
        continue;
      int64_t divisor = getConstant(binary.getRHS()).value_or(0);
      int64_t multiplier = divisor > 0 ? getMultiplier(sum, factor, divisor) : 0;
      if (multiplier > 0 && multiplier < (int64_t(1) << 20))
        return std::pair(binary, multiplier);
    }
  return std::nullopt;
}

Polynomial tenon::removeQuotients(Polynomial sum, MLIRContext *context) {
  constexpr int kMaxSteps = 8; // limit: hostile models
  for (int step = 0; step < kMaxSteps; ++step) {
    auto found = findQuotient(sum);
    if (!found || !hasSmallCoefficients(sum))
      break;
    auto [quotient, multiplier] = *found;
    Polynomial dividend = toPolynomial(quotient.getLHS()), divisor = toPolynomial(quotient.getRHS()), result;
    if (quotient.getKind() == AffineExprKind::CeilDiv)
      dividend = addPolynomials(addPolynomials(dividend, divisor), {{Term(), -1}});
    Polynomial whole = addPolynomials(dividend, divide(AffineExprKind::Mod, dividend, divisor, context), -1);
    assert(divisor.size() == 1 && divisor.begin()->first.empty() && "only quotients by constants are found");
    int64_t d = divisor.begin()->second;
    for (auto &[term, coefficient] : sum) {
      int64_t scaled = coefficient * multiplier;
      Term rest(term);
      auto *it = llvm::find(rest, AffineExpr(quotient));
      if (it == rest.end()) {
        addTerm(result, term, scaled);
        continue;
      }
      rest.erase(it);
      result = addPolynomials(std::move(result), multiply(whole, {{rest, scaled / d}}));
    }
    sum = std::move(result);
  }
  return sum;
}
