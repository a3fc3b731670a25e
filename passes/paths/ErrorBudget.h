//===- ErrorBudget.h - which operations spend a model's error -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_ERRORBUDGET_H
#define TENON_PASSES_PATHS_ERRORBUDGET_H

#include "llvm/ADT/ArrayRef.h"
#include <cstddef>
#include <limits>
#include <vector>

namespace tenon {

/// One way to compute an operation.
struct PricedPath {
  double cost;  ///< in a unit that all operations share
  double error; ///< relative to the largest element of the result; 0 for a path that needs no budget
};

/// What paths may be off by.
struct ErrorBudget {
  double each = 0; ///< each operation
  /// Upper bound for the root of the sum of squared errors of all operations: rounding errors are independent, so their
  /// variances add.
  double total = std::numeric_limits<double>::infinity();
};

/// Returns the number of a path for each operation, such that the sum of costs is small and the errors are within the
/// budget. Each operation has a path without an error. That is the multiple-choice knapsack problem with variances as
/// weights, solved greedily along the convex hulls of the operations' paths (Sinha and Zoltners, "The Multiple-Choice
/// Knapsack Problem", 1979): the step that saves the most for its variance comes first. Steps that do not fit are left
/// out.
std::vector<size_t> distributeBudget(llvm::ArrayRef<std::vector<PricedPath>> operations, const ErrorBudget &budget);

} // namespace tenon

#endif // TENON_PASSES_PATHS_ERRORBUDGET_H
