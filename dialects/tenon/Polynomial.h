//===- Polynomial.h - the normal form of extents --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_POLYNOMIAL_H
#define TENON_DIALECTS_TENON_POLYNOMIAL_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

namespace tenon {

/// A product of factors in order. A factor is a symbol, or a division or remainder that nothing simplifies.
using Term = llvm::SmallVector<mlir::AffineExpr, 2>;
/// By structure, so that the normal form does not depend on addresses.
struct TermBefore {
  bool operator()(const Term &a, const Term &b) const;
};
/// A sum of terms with their coefficients; none is zero.
using Polynomial = std::map<Term, int64_t, TermBefore>;

void addTerm(Polynomial &sum, const Term &term, int64_t coefficient);
/// a + b * times
Polynomial addPolynomials(Polynomial a, const Polynomial &b, int64_t times = 1);
Polynomial multiply(const Polynomial &a, const Polynomial &b);
/// a / b by kind: floordiv, ceildiv or mod. What is left to divide by a constant d is in one form: no
/// coefficient is outside of [0, d), none has a divisor that d has, and no quotient is divided again.
Polynomial divide(mlir::AffineExprKind kind, const Polynomial &a, const Polynomial &b, mlir::MLIRContext *context);

/// A positive multiple of `sum` in which no extent is divided by a constant: a floordiv d is (a - a mod d) / d.
Polynomial removeQuotients(Polynomial sum, mlir::MLIRContext *context);
/// Whether coefficients may be multiplied and added up without a look at each.
bool hasSmallCoefficients(const Polynomial &sum);

Polynomial toPolynomial(mlir::AffineExpr expr);
mlir::AffineExpr toExpr(const Polynomial &sum, mlir::MLIRContext *context);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_POLYNOMIAL_H
