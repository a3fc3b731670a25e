//===- SizeFormula.h - expressions of sizes in a normal form ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The planner builds a size as a tower of sums, products and maxima. Here it becomes the maximum of a few polynomials
// in the symbols, of which none is below another for all sizes: "3776*batch*length + 128*length".
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_SIZEFORMULA_H
#define TENON_COMPILER_REPORT_SIZEFORMULA_H

#include "runtime/plan/Plan.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A polynomial with integer coefficients. Its variables, atoms, are the symbols of a plan, and those of its
/// expressions that are not polynomials, such as quotients.
class SizePolynomial {
public:
  /// The atoms of a product in ascending order, repeated by exponent; empty for the constant term.
  using Monomial = std::vector<uint32_t>;

  static SizePolynomial constant(int64_t value);
  static SizePolynomial atom(uint32_t atom);

  /// Returns none if a coefficient overflows, or if there are too many terms to be readable.
  static std::optional<SizePolynomial> add(const SizePolynomial &a, const SizePolynomial &b, int64_t factor = 1);
  static std::optional<SizePolynomial> multiply(const SizePolynomial &a, const SizePolynomial &b);

  std::optional<int64_t> getConstant() const;
  const std::map<Monomial, int64_t> &getTerms() const { return terms; }
  bool operator==(const SizePolynomial &other) const { return terms == other.terms; }

private:
  void addTerm(const Monomial &monomial, int64_t coefficient);
  std::map<Monomial, int64_t> terms; // without zeros
};

/// The normal forms of a plan's expressions. Symbols are assumed to be non-negative, as they are in every plan.
class SizeFormulas {
public:
  explicit SizeFormulas(const rt::Plan &plan);

  /// Returns "max(3776*batch*length, 128*length + 64)", or the number if it is constant. None if it is longer than
  /// `width` bytes.
  std::optional<std::string> getText(uint32_t expr, size_t width) const;
  /// Returns the polynomials whose maximum an expression is, the largest degree first.
  const std::vector<SizePolynomial> &getForm(uint32_t expr) const { return forms[expr]; }

  /// Returns the expression of an atom that is not a symbol.
  uint32_t getAtomExpr(uint32_t atom) const { return atoms[atom - plan.symbols.size()]; }

private:
  using Form = std::vector<SizePolynomial>;

  std::optional<Form> combine(const rt::Expr &expr) const;
  Form makeAtom(uint32_t expr);
  bool findSign(const rt::Expr &expr) const;
  /// True if the value is non-negative for all sizes.
  bool isNonNegative(const SizePolynomial &polynomial) const;
  bool dominates(const SizePolynomial &a, const SizePolynomial &b) const;
  void addCandidate(Form &form, SizePolynomial candidate) const;
  std::string getText(const SizePolynomial &polynomial) const;

  const rt::Plan &plan;
  std::vector<Form> forms;      // one for each expression
  std::vector<bool> isPositive; // likewise: whether its value is known not to be negative
  std::vector<uint32_t> atoms;  // the expressions that atoms beyond the symbols stand for
};

} // namespace tenon

#endif // TENON_COMPILER_REPORT_SIZEFORMULA_H
