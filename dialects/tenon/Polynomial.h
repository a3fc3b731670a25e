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

/// A product of sorted factors. A factor is a symbol, or an irreducible division or remainder.
using Term = llvm::SmallVector<mlir::AffineExpr, 2>;
/// Compares structurally, so that the normal form does not depend on addresses.
struct TermBefore {
  bool operator()(const Term &a, const Term &b) const;
};
/// A sum of terms with their nonzero coefficients.
using Polynomial = std::map<Term, int64_t, TermBefore>;

void addTerm(Polynomial &sum, const Term &term, int64_t coefficient);
/// a + b * times
Polynomial addPolynomials(Polynomial a, const Polynomial &b, int64_t times = 1);
Polynomial multiply(const Polynomial &a, const Polynomial &b);
/// Divides a by b by kind: floordiv, ceildiv or mod. The remaining division by a constant d is in normal form: all
/// coefficients are in [0, d), d has no common divisor with them, and no quotient is divided again.
Polynomial divide(mlir::AffineExprKind kind, const Polynomial &a, const Polynomial &b, mlir::MLIRContext *context);

/// Returns a positive multiple of `sum` without divisions of extents by constants: a floordiv d is (a - a mod d) / d.
Polynomial removeQuotients(Polynomial sum, mlir::MLIRContext *context);
/// True if coefficients are small enough to be multiplied and added without overflow checks.
bool hasSmallCoefficients(const Polynomial &sum);

Polynomial toPolynomial(mlir::AffineExpr expr);
mlir::AffineExpr toExpr(const Polynomial &sum, mlir::MLIRContext *context);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_POLYNOMIAL_H
