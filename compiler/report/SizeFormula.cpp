//===- SizeFormula.cpp - expressions of sizes in a normal form --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/SizeFormula.h"
#include "compiler/report/ArtifactView.h"
#include "runtime/plan/Expressions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tenon;
using rt::ExprOp;

/// limit: readability, and the cost of pairwise comparisons in a maximum.
static constexpr size_t kMaxTerms = 64, kMaxPolynomials = 16, kMaxDegree = 8;

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

SizePolynomial SizePolynomial::constant(int64_t value) {
  SizePolynomial result;
  result.addTerm({}, value);
  return result;
}

SizePolynomial SizePolynomial::atom(uint32_t atom) {
  SizePolynomial result;
  result.addTerm({atom}, 1);
  return result;
}

void SizePolynomial::addTerm(const Monomial &monomial, int64_t coefficient) {
  int64_t &sum = terms[monomial];
  sum += coefficient;
  if (sum == 0)
    terms.erase(monomial);
}

std::optional<SizePolynomial> SizePolynomial::add(const SizePolynomial &a, const SizePolynomial &b, int64_t factor) {
  SizePolynomial result = a;
  for (const auto &[monomial, coefficient] : b.terms) {
    int64_t product, sum;
    auto it = result.terms.find(monomial);
    if (llvm::MulOverflow(coefficient, factor, product) ||
        llvm::AddOverflow(it == result.terms.end() ? int64_t(0) : it->second, product, sum))
      return std::nullopt;
    result.addTerm(monomial, product);
  }
  return result.terms.size() <= kMaxTerms ? std::optional(result) : std::nullopt;
}

std::optional<SizePolynomial> SizePolynomial::multiply(const SizePolynomial &a, const SizePolynomial &b) {
  SizePolynomial result;
  for (const auto &[first, times] : a.terms) {
    SizePolynomial row;
    for (const auto &[second, coefficient] : b.terms) {
      Monomial monomial;
      std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(monomial));
      int64_t product;
      if (monomial.size() > kMaxDegree || llvm::MulOverflow(times, coefficient, product))
        return std::nullopt;
      row.addTerm(monomial, product);
    }
    std::optional<SizePolynomial> sum = add(result, row);
    if (!sum)
      return std::nullopt;
    result = std::move(*sum);
  }
  return result;
}

std::optional<int64_t> SizePolynomial::getConstant() const {
  if (terms.empty())
    return 0;
  return terms.size() == 1 && terms.begin()->first.empty() ? std::optional(terms.begin()->second) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Determines from its operands whether the value of an expression is known to be non-negative.
bool SizeFormulas::findSign(const rt::Expr &expr) const {
  switch (expr.op) {
  case ExprOp::constant:
    return expr.a >= 0;
  case ExprOp::symbol:
    return true;
  case ExprOp::sub:
    return false;
  case ExprOp::max:
    return isPositive[expr.a] || isPositive[expr.b];
  case ExprOp::mod: // has the sign of the divisor
    return isPositive[expr.b];
  case ExprOp::add:
  case ExprOp::mul:
  case ExprOp::floordiv:
  case ExprOp::ceildiv:
  case ExprOp::min:
  case ExprOp::align:
    return isPositive[expr.a] && isPositive[expr.b];
  }
  return false;
}

bool SizeFormulas::isNonNegative(const SizePolynomial &polynomial) const {
  auto isPositiveAtom = [&](uint32_t atom) { return atom < plan.symbols.size() || isPositive[getAtomExpr(atom)]; };
  return llvm::all_of(polynomial.getTerms(),
                      [&](const auto &term) { return term.second >= 0 && llvm::all_of(term.first, isPositiveAtom); });
}

/// Whether a is no less than b for all sizes.
bool SizeFormulas::dominates(const SizePolynomial &a, const SizePolynomial &b) const {
  std::optional<SizePolynomial> difference = SizePolynomial::add(a, b, -1);
  return difference && isNonNegative(*difference);
}

/// Adds a polynomial to a maximum, and removes those that are never the largest.
void SizeFormulas::addCandidate(Form &form, SizePolynomial candidate) const {
  if (llvm::any_of(form, [&](const SizePolynomial &other) { return dominates(other, candidate); }))
    return;
  llvm::erase_if(form, [&](const SizePolynomial &other) { return dominates(candidate, other); });
  form.push_back(std::move(candidate));
}

SizeFormulas::SizeFormulas(const rt::Plan &plan) : plan(plan) {
  for (uint32_t i = 0; i < plan.exprs.size(); ++i) {
    isPositive.push_back(findSign(plan.exprs[i]));
    std::optional<Form> form = combine(plan.exprs[i]);
    forms.push_back(form && form->size() <= kMaxPolynomials ? std::move(*form) : makeAtom(i));
    assert(!forms.back().empty() && "a maximum is of one polynomial at least");
  }
}

SizeFormulas::Form SizeFormulas::makeAtom(uint32_t expr) {
  atoms.push_back(expr);
  return {SizePolynomial::atom(plan.symbols.size() + atoms.size() - 1)};
}

/// Returns the form of an expression that is a maximum of polynomials because its operands are.
std::optional<SizeFormulas::Form> SizeFormulas::combine(const rt::Expr &expr) const {
  if (expr.op == ExprOp::constant)
    return Form{SizePolynomial::constant(expr.a)};
  if (expr.op == ExprOp::symbol)
    return Form{SizePolynomial::atom(expr.a)};
  const Form &a = forms[expr.a], &b = forms[expr.b];
  Form result;
  if (expr.op == ExprOp::max) {
    for (const Form *form : {&a, &b})
      for (const SizePolynomial &polynomial : *form)
        addCandidate(result, polynomial);
    return result;
  }
  // Rounding has no effect if every coefficient is a multiple.
  if (expr.op == ExprOp::align && b.size() == 1 && b[0].getConstant().value_or(0) > 0) {
    int64_t divisor = *b[0].getConstant();
    bool isMultiple = llvm::all_of(a, [&](const SizePolynomial &polynomial) {
      return llvm::all_of(polynomial.getTerms(), [&](const auto &term) { return term.second % divisor == 0; });
    });
    return isMultiple ? std::optional(a) : std::nullopt;
  }
  bool isSum = expr.op == ExprOp::add, isDifference = expr.op == ExprOp::sub && b.size() == 1;
  // A non-negative factor preserves the order.
  bool isProduct =
      expr.op == ExprOp::mul && ((a.size() == 1 && b.size() == 1) || (a.size() == 1 && isNonNegative(a[0])) ||
                                 (b.size() == 1 && isNonNegative(b[0])));
  if (!isSum && !isDifference && !isProduct)
    return std::nullopt;
  for (const SizePolynomial &first : a)
    for (const SizePolynomial &second : b) {
      std::optional<SizePolynomial> value =
          isProduct ? SizePolynomial::multiply(first, second) : SizePolynomial::add(first, second, isSum ? 1 : -1);
      if (!value)
        return std::nullopt;
      addCandidate(result, std::move(*value));
      if (result.size() > kMaxPolynomials)
        return std::nullopt;
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string SizeFormulas::getText(const SizePolynomial &polynomial) const {
  // Products of many symbols come first, as in the usual notation of polynomials.
  std::vector<std::pair<SizePolynomial::Monomial, int64_t>> terms(polynomial.getTerms().begin(),
                                                                  polynomial.getTerms().end());
  llvm::stable_sort(terms, [](const auto &a, const auto &b) { return a.first.size() > b.first.size(); });
  std::string text;
  for (const auto &[monomial, coefficient] : terms) {
    uint64_t magnitude = coefficient < 0 ? 0 - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
    text += coefficient < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    std::string product = magnitude == 1 && !monomial.empty() ? "" : std::to_string(magnitude);
    for (uint32_t atom : monomial) {
      product += product.empty() ? "" : "*";
      if (atom < plan.symbols.size()) {
        product += getPrintable(plan.symbols[atom].name);
      } else {
        char buffer[512];
        rt::printExpr(plan, getAtomExpr(atom), buffer, sizeof buffer);
        product += getPrintable(buffer);
      }
    }
    text += product;
  }
  return text.empty() ? "0" : text;
}

std::optional<std::string> SizeFormulas::getText(uint32_t expr, size_t width) const {
  const Form &form = forms[expr];
  std::vector<std::string> texts;
  for (const SizePolynomial &polynomial : form)
    texts.push_back(getText(polynomial));
  std::string text = texts[0];
  for (size_t i = 1; i < texts.size(); ++i)
    text += ", " + texts[i];
  if (texts.size() > 1)
    text = "max(" + text + ")";
  return text.size() <= width ? std::optional(text) : std::nullopt;
}
