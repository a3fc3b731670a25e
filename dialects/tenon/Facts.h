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

/// What holds of the values of symbols, and what follows from it for expressions. It knows nothing of the IR.
/// A symbol of which nothing was said is an extent: not negative. Answers are "yes, for all values" or "not known".
class Facts {
public:
  explicit Facts(mlir::MLIRContext *context) : context(context) {}

  /// `symbol` lies in `range`, besides what was said before.
  void addRange(mlir::AffineExpr symbol, Interval range);
  /// `symbol` is a multiple of `divisor`, above 0.
  void addMultiple(mlir::AffineExpr symbol, int64_t divisor);
  /// The expression is not negative. Where that bounds one symbol, the symbol's range follows.
  void addNotNegative(mlir::AffineExpr expr);
  /// `symbol` stands for `value`, in which it does not occur, and is written so from now on.
  void replace(mlir::AffineExpr symbol, mlir::AffineExpr value);
  /// `symbol`, which data decides, is at most `bound`; null where that is not known. A symbol that gets its value at
  /// several places is at most the largest of their bounds.
  void addBound(mlir::AffineExpr symbol, mlir::AffineExpr bound);

  bool isEqual(mlir::AffineExpr a, mlir::AffineExpr b) const;
  bool isAtMost(mlir::AffineExpr a, mlir::AffineExpr b) const { return isNotNegative(subDims(b, a)); }
  bool isNotNegative(mlir::AffineExpr expr) const;
  bool divides(int64_t divisor, mlir::AffineExpr expr) const;
  Interval getRange(mlir::AffineExpr expr) const;

  /// The expression with what symbols stand for in their place.
  mlir::AffineExpr substitute(mlir::AffineExpr expr) const;
  /// An expression of the same value under these facts, in one form: what is found equal is the same pointer.
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;
  /// What an expression is at most, in symbols that data does not decide; null where that is not known.
  mlir::AffineExpr getUpperBound(mlir::AffineExpr expr) const;
  /// The larger one; null where either is, or where sizes decide which it is.
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
  /// Inside of the algebra the quotient of number i is written as the affine dimension i, which no extent has.
  std::vector<Multiple> multiples;
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_FACTS_H
