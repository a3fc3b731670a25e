//===- Facts.h - what is known of symbols ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_FACTS_H
#define TENON_DIALECTS_TENON_FACTS_H

#include "dialects/tenon/Dims.h"
#include "dialects/tenon/Interval.h"
#include "dialects/tenon/Polynomial.h"
#include "llvm/ADT/MapVector.h"

namespace tenon {

/// Facts about the values of symbols, and what follows from them for expressions, independently of the IR. A symbol
/// without facts is an extent, that is, non-negative. Answers are "true for all values" or "unknown".
class Facts {
public:
  explicit Facts(mlir::MLIRContext *context) : context(context) {}

  /// Adds the fact that `symbol` is in `range`, in addition to earlier facts.
  void addRange(mlir::AffineExpr symbol, Interval range);
  /// `symbol` is a multiple of `divisor`, above 0.
  void addMultiple(mlir::AffineExpr symbol, int64_t divisor);
  /// Adds the fact that the expression is non-negative. If it bounds a single symbol, the symbol's range is updated.
  void addNotNegative(mlir::AffineExpr expr);
  /// Replaces `symbol` by `value`, which does not contain it, in all results from now on.
  void replace(mlir::AffineExpr symbol, mlir::AffineExpr value);
  /// Adds an upper bound of a data-dependent symbol; null if it is unknown. A symbol that is bound at several places is
  /// at most the maximum of their bounds.
  void addBound(mlir::AffineExpr symbol, mlir::AffineExpr bound);

  bool isEqual(mlir::AffineExpr a, mlir::AffineExpr b) const;
  bool isAtMost(mlir::AffineExpr a, mlir::AffineExpr b) const { return isNotNegative(subDims(b, a)); }
  bool isNotNegative(mlir::AffineExpr expr) const;
  bool divides(int64_t divisor, mlir::AffineExpr expr) const;
  Interval getRange(mlir::AffineExpr expr) const;

  /// Substitutes symbols by the values that replace them.
  mlir::AffineExpr substitute(mlir::AffineExpr expr) const;
  /// Returns an equivalent expression under these facts in normal form: expressions known to be equal are the same
  /// pointer.
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;
  /// Returns an upper bound without data-dependent symbols; null if it is unknown.
  mlir::AffineExpr getUpperBound(mlir::AffineExpr expr) const;
  /// Returns the larger one; null if either is null, or if it depends on sizes which one is larger.
  mlir::AffineExpr getLarger(mlir::AffineExpr a, mlir::AffineExpr b) const;

private:
  struct Multiple {
    mlir::AffineExpr symbol;
    int64_t divisor;
  };
  Interval getFactorRange(mlir::AffineExpr factor) const;
  Interval getRange(const Polynomial &sum) const;
  Interval getRangeOfTerms(const Polynomial &sum) const;
  Interval getIndicatorRange(mlir::AffineExpr indicated) const;
  mlir::AffineExpr getQuotient(size_t multiple) const { return mlir::getAffineDimExpr(multiple, context); }
  mlir::AffineExpr expand(mlir::AffineExpr expr) const;
  mlir::AffineExpr collapse(mlir::AffineExpr expr) const;
  Polynomial decideCases(Polynomial sum) const;
  Polynomial collapseTerm(const Term &term, int64_t coefficient) const;
  mlir::AffineExpr collapseDivision(mlir::AffineExpr factor) const;
  mlir::AffineExpr getFactorBound(mlir::AffineExpr factor) const;
  bool isShiftedNotNegative(const Polynomial &sum) const;
  bool isNotNegative(const Polynomial &sum, int depth = 0) const;

  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::AffineExpr, Interval> ranges;
  llvm::MapVector<mlir::AffineExpr, mlir::AffineExpr> replacements;
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> bounds; ///< in symbols that data does not decide
  std::vector<Polynomial> notNegative;
  /// Internally, quotient number i is represented by the affine dimension i, which no extent contains.
  std::vector<Multiple> multiples;
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_FACTS_H
