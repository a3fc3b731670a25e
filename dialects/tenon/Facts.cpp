//===- Facts.cpp - what is known of symbols -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Facts.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// What is said
//===----------------------------------------------------------------------===//

void Facts::addRange(AffineExpr symbol, Interval range) {
  assert(isa<AffineSymbolExpr>(symbol) && "a range is known of a symbol");
  auto [it, isNew] = ranges.try_emplace(symbol, range);
  if (!isNew)
    it->second = intersect(it->second, range);
}

void Facts::addMultiple(AffineExpr symbol, int64_t divisor) {
  assert(isa<AffineSymbolExpr>(symbol) && divisor > 0 && "a symbol is a multiple of a number above 0");
  for (Multiple &known : multiples)
    if (known.symbol == symbol) {
      int64_t common = std::gcd(known.divisor, divisor), product;
      if (!llvm::MulOverflow(known.divisor / common, divisor, product))
        known.divisor = product;
      return;
    }
  multiples.push_back({symbol, divisor});
}

/// Returns the symbol of a sum that consists of one symbol, with a coefficient of 1 or -1, and a constant.
static AffineExpr getOnlySymbol(const Polynomial &sum) {
  AffineExpr symbol;
  for (auto &[term, coefficient] : sum) {
    if (term.empty())
      continue;
    if (symbol || term.size() != 1 || !isa<AffineSymbolExpr>(term.front()) || std::abs(coefficient) != 1)
      return {};
    symbol = term.front();
  }
  return symbol;
}

void Facts::addNotNegative(AffineExpr expr) {
  Polynomial sum = toPolynomial(expand(substitute(expr)));
  notNegative.push_back(sum);
  AffineExpr symbol = getOnlySymbol(sum);
  if (!symbol)
    return;
  auto constant = sum.find(Term());
  int64_t offset = constant == sum.end() ? 0 : constant->second;
  if (sum[Term{symbol}] < 0)
    addRange(symbol, {getFactorRange(symbol).min, offset});
  else if (offset != INT64_MIN)
    addRange(symbol, {-offset, getFactorRange(symbol).max});
}

void Facts::replace(AffineExpr symbol, AffineExpr value) {
  assert(isa<AffineSymbolExpr>(symbol) && "only a symbol stands for something else");
  value = substitute(value);
  assert(!value.isFunctionOfSymbol(cast<AffineSymbolExpr>(symbol).getPosition()) &&
         "a symbol does not occur in what it stands for");
  for (auto &[known, by] : replacements)
    by = simplifyDim(by.replace(symbol, value));
  replacements[symbol] = value;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Returns the range of an indicator: 1 or 0 if the sign of its expression is known.
Interval Facts::getIndicatorRange(AffineExpr indicated) const {
  Interval range = getRangeOfTerms(toPolynomial(indicated));
  return {range.min > 0, range.max > 0};
}

Interval Facts::getFactorRange(AffineExpr factor) const {
  if (auto it = ranges.find(factor); it != ranges.end())
    return it->second;
  if (AffineExpr indicated = getIndicated(factor))
    return getIndicatorRange(indicated);
  if (auto quotient = dyn_cast<AffineDimExpr>(factor)) {
    assert(quotient.getPosition() < multiples.size() && "a dimension stands for the quotient of a known multiple");
    const Multiple &multiple = multiples[quotient.getPosition()];
    Interval range = getFactorRange(multiple.symbol), divisor = Interval::of(multiple.divisor);
    return {ceilDivIntervals(range, divisor).min, floorDivIntervals(range, divisor).max};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(factor);
  if (!binary)
    return isUnknownDim(factor) ? Interval::all() : Interval();
  Interval a = getRange(toPolynomial(binary.getLHS())), b = getRange(toPolynomial(binary.getRHS()));
  switch (factor.getKind()) {
  case AffineExprKind::FloorDiv:
    return floorDivIntervals(a, b);
  case AffineExprKind::CeilDiv:
    return ceilDivIntervals(a, b);
  case AffineExprKind::Mod:
    return modIntervals(a, b);
  default:
    return Interval::all();
  }
}

namespace {
/// A sum in the two cases of an indicator in it, and the expression that is known to be non-negative in each.
struct Cases {
  Polynomial sum[2], known[2];
};
} // namespace

/// The cases of the first indicator that occurs.
static std::optional<Cases> splitCases(const Polynomial &sum) {
  AffineExpr indicator;
  for (auto &[term, coefficient] : sum)
    for (AffineExpr factor : term)
      if (!indicator && getIndicated(factor))
        indicator = factor;
  if (!indicator)
    return std::nullopt;
  Polynomial indicated = toPolynomial(getIndicated(indicator));
  Cases cases{{}, {addPolynomials({}, indicated, -1), addPolynomials(indicated, {{Term(), 1}}, -1)}};
  for (auto &[term, coefficient] : sum) {
    Term rest(term);
    auto *it = llvm::find(rest, indicator);
    if (it == rest.end())
      addTerm(cases.sum[0], term, coefficient);
    else
      rest.erase(it);
    addTerm(cases.sum[1], rest, coefficient);
  }
  return cases;
}

/// If an indicator occurs, the range is the union of those of both cases.
Interval Facts::getRange(const Polynomial &sum) const {
  std::optional<Cases> cases = splitCases(sum);
  if (!cases)
    return getRangeOfTerms(sum);
  // A known non-negative expression may be subtracted for a lower bound, and added for an upper one.
  auto getCase = [&](int i) {
    Interval plain = getRangeOfTerms(cases->sum[i]);
    return Interval{std::max(plain.min, getRangeOfTerms(addPolynomials(cases->sum[i], cases->known[i], -1)).min),
                    std::min(plain.max, getRangeOfTerms(addPolynomials(cases->sum[i], cases->known[i])).max)};
  };
  Interval a = getCase(0), b = getCase(1);
  return intersect(getRangeOfTerms(sum), {std::min(a.min, b.min), std::max(a.max, b.max)});
}

Interval Facts::getRangeOfTerms(const Polynomial &sum) const {
  Interval range = Interval::of(0);
  for (auto &[term, coefficient] : sum) {
    Interval product = Interval::of(coefficient);
    for (AffineExpr factor : term)
      product = mulIntervals(product, getFactorRange(factor));
    range = addIntervals(range, product);
  }
  return range;
}

Interval Facts::getRange(AffineExpr expr) const { return getRange(toPolynomial(expand(substitute(expr)))); }

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

/// Substitutes each factor by its minimum plus a non-negative offset; the added terms are then non-negative, and the
/// subtracted ones are bounded by their ranges.
bool Facts::isShiftedNotNegative(const Polynomial &sum) const {
  constexpr size_t kMaxFactors = 6; // limit: hostile models
  if (getRange(sum).min >= 0)
    return true;
  Polynomial shifted;
  for (auto &[term, coefficient] : sum) {
    if (term.size() > kMaxFactors)
      return false;
    Polynomial product{{Term(), coefficient}};
    for (AffineExpr factor : term) {
      int64_t min = getFactorRange(factor).min;
      if (min == INT64_MIN || std::abs(min) > (int64_t(1) << 20))
        return false;
      product = multiply(product, addPolynomials({{Term{factor}, 1}}, {{Term(), 1}}, min));
      if (!hasSmallCoefficients(product))
        return false;
    }
    shifted = addPolynomials(std::move(shifted), product);
  }
  Interval total = Interval::of(0);
  for (auto &[term, coefficient] : shifted) {
    Interval product = Interval::of(coefficient);
    for (AffineExpr factor : term) {
      Interval range = getFactorRange(factor);
      product = mulIntervals(product, addIntervals(range, Interval::of(-range.min)));
    }
    total = addIntervals(total, product);
  }
  return total.min >= 0;
}

/// For an indicator, both cases must be proven.
bool Facts::isNotNegative(const Polynomial &sum, int depth) const {
  constexpr int kMaxDepth = 2;     // limit: hostile models
  constexpr size_t kMaxTerms = 16; // limit: hostile models
  if (isShiftedNotNegative(sum) || (depth == 0 && isShiftedNotNegative(removeQuotients(sum, context))))
    return true;
  std::optional<Cases> cases = depth < kMaxDepth && sum.size() <= kMaxTerms ? splitCases(sum) : std::nullopt;
  return cases && llvm::all_of(ArrayRef{0, 1}, [&](int i) {
           return isNotNegative(cases->sum[i], depth + 1) ||
                  isNotNegative(addPolynomials(cases->sum[i], cases->known[i], -1), depth + 1);
         });
}

bool Facts::isNotNegative(AffineExpr expr) const {
  if (isUnknownDim(expr))
    return false;
  Polynomial sum = toPolynomial(expand(substitute(expr)));
  if (isNotNegative(sum))
    return true;
  // Since each of many inequalities is tried, the cases of indicators are omitted there.
  return llvm::any_of(notNegative, [&](const Polynomial &known) {
    Polynomial rest = addPolynomials(sum, known, -1);
    return isShiftedNotNegative(rest) || isShiftedNotNegative(removeQuotients(std::move(rest), context));
  });
}

bool Facts::isEqual(AffineExpr a, AffineExpr b) const {
  if (isUnknownDim(a) || isUnknownDim(b))
    return false;
  if (a == b)
    return true;
  AffineExpr difference = simplify(subDims(a, b));
  return getConstant(difference) == 0 || removeQuotients(toPolynomial(expand(difference)), context).empty();
}

bool Facts::divides(int64_t divisor, AffineExpr expr) const {
  assert(divisor > 0 && "a remainder is of a division by a number above 0");
  return getConstant(simplify(modDims(simplify(expr), getDimConstant(context, divisor)))) == 0;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

AffineExpr Facts::substitute(AffineExpr expr) const {
  assert(expr && "an extent that is not known is the unknown one, not null");
  if (replacements.empty())
    return simplifyDim(expr);
  llvm::DenseMap<AffineExpr, AffineExpr> map(replacements.begin(), replacements.end());
  return simplifyDim(expr.replace(map));
}

/// Substitutes each symbol that is known to be a multiple by the product that it equals.
AffineExpr Facts::expand(AffineExpr expr) const {
  if (multiples.empty())
    return expr;
  llvm::DenseMap<AffineExpr, AffineExpr> map;
  for (auto [i, multiple] : llvm::enumerate(multiples))
    map[multiple.symbol] = getQuotient(i) * multiple.divisor;
  return simplifyDim(expr.replace(map));
}

/// Simplifies a division with simplified operands, which ranges may decide.
AffineExpr Facts::collapseDivision(AffineExpr factor) const {
  if (Interval range = getFactorRange(factor); range.isSingleton())
    return getDimConstant(context, range.min);
  auto binary = cast<AffineBinaryOpExpr>(factor);
  AffineExpr lhs = collapse(binary.getLHS()), rhs = collapse(binary.getRHS());
  if (factor.getKind() == AffineExprKind::Mod) {
    Interval a = getRange(lhs), b = getRange(rhs);
    if (a.min >= 0 && a.max < b.min)
      return lhs;
  }
  return simplifyDim(getAffineBinaryOpExpr(factor.getKind(), lhs, rhs));
}

/// Simplifies a term with quotients of multiples: as much of each divisor as possible cancels with the coefficient, and
/// the term is divided by the rest.
Polynomial Facts::collapseTerm(const Term &term, int64_t coefficient) const {
  Polynomial product{{Term(), 1}};
  for (AffineExpr factor : term) {
    if (auto quotient = dyn_cast<AffineDimExpr>(factor)) {
      assert(quotient.getPosition() < multiples.size() && "a dimension stands for the quotient of a known multiple");
      const Multiple &multiple = multiples[quotient.getPosition()];
      int64_t common = std::gcd(coefficient, multiple.divisor);
      coefficient /= common;
      factor = divDims(multiple.symbol, getDimConstant(context, multiple.divisor / common));
    } else if (isa<AffineBinaryOpExpr>(factor)) {
      factor = collapseDivision(factor);
    } else if (Interval range = getFactorRange(factor); range.isSingleton()) {
      factor = getDimConstant(context, range.min);
    }
    product = multiply(product, toPolynomial(factor));
  }
  return multiply(product, {{Term(), coefficient}});
}

AffineExpr Facts::collapse(AffineExpr expr) const {
  Polynomial result;
  for (auto &[term, coefficient] : toPolynomial(expr))
    result = addPolynomials(std::move(result), collapseTerm(term, coefficient));
  return toExpr(result, context);
}

/// Replaces indicators that facts decide. If the indicated expression may be 0, both cases must agree there: the factor
/// of the indicator is a multiple of the expression, as in a maximum of two extents.
Polynomial Facts::decideCases(Polynomial sum) const {
  while (std::optional<Cases> cases = splitCases(sum)) {
    Polynomial factor = addPolynomials(cases->sum[1], cases->sum[0], -1),
               indicated = addPolynomials({}, cases->known[0], -1);
    auto term = factor.find(indicated.begin()->first);
    int64_t times = term == factor.end() ? 0 : term->second / indicated.begin()->second;
    bool isContinuous = times != 0 && addPolynomials(factor, indicated, -times).empty();
    if (isContinuous && isNotNegative(indicated))
      sum = cases->sum[1];
    else if (isContinuous && isNotNegative(cases->known[0]))
      sum = cases->sum[0];
    else
      break;
  }
  return sum;
}

AffineExpr Facts::simplify(AffineExpr expr) const {
  Polynomial sum = toPolynomial(expand(substitute(expr)));
  return collapse(splitCases(sum) ? toExpr(decideCases(std::move(sum)), context) : toExpr(sum, context));
}

//===----------------------------------------------------------------------===//
// Upper bounds
//===----------------------------------------------------------------------===//

AffineExpr Facts::getLarger(AffineExpr a, AffineExpr b) const {
  if (!a || !b)
    return {};
  return isAtMost(a, b) ? b : isAtMost(b, a) ? a : AffineExpr();
}

void Facts::addBound(AffineExpr symbol, AffineExpr bound) {
  assert(isa<AffineSymbolExpr>(symbol) && "a bound is known of a symbol");
  if (bound)
    bound = getUpperBound(bound);
  auto [it, isNew] = bounds.try_emplace(symbol, bound);
  if (!isNew)
    it->second = getLarger(it->second, bound);
}

static bool isInside(AffineExpr expr, llvm::function_ref<bool(AffineExpr)> isWanted) {
  bool result = false;
  expr.walk([&](AffineExpr part) { result |= isWanted(part); });
  return result;
}

/// Returns the upper bound of a factor that is, or contains, a data-dependent symbol.
AffineExpr Facts::getFactorBound(AffineExpr factor) const {
  if (auto it = bounds.find(factor); it != bounds.end())
    return it->second;
  auto binary = cast<AffineBinaryOpExpr>(factor);
  if (factor.getKind() == AffineExprKind::Mod || getConstant(binary.getRHS()).value_or(0) <= 0)
    return {};
  AffineExpr dividend = getUpperBound(binary.getLHS());
  return dividend ? simplifyDim(getAffineBinaryOpExpr(factor.getKind(), dividend, binary.getRHS())) : dividend;
}

AffineExpr Facts::getUpperBound(AffineExpr expr) const {
  auto isData = [&](AffineExpr part) { return bounds.contains(part); };
  Polynomial result;
  for (auto &[term, coefficient] : toPolynomial(substitute(expr))) {
    Polynomial product{{Term(), coefficient}};
    bool isBounded = false, isNegative = coefficient < 0;
    for (AffineExpr factor : term) {
      isNegative |= getFactorRange(factor).min < 0;
      if (isInside(factor, isData)) {
        isBounded = true;
        factor = getFactorBound(factor);
        if (!factor)
          return {};
      }
      product = multiply(product, toPolynomial(factor));
    }
    // A product of non-negative factors is monotonic in each.
    if (isBounded && isNegative)
      return {};
    result = addPolynomials(std::move(result), product);
  }
  return toExpr(result, context);
}
