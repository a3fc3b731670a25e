//===- PathErrors.h - what paths were measured to be off ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHERRORS_H
#define TENON_PASSES_PATHS_PATHERRORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tenon {

class Path;

/// Caches measured errors between choices of paths, for example with another budget for a copy of the module, so that
/// no error is measured twice. It is thread-safe.
class PathErrors {
public:
  /// Returns path.measureError(op), or the cached result for an equal operation with the same weights. If the error
  /// certainly exceeds `limit`, returns any number above it without a measurement.
  double measure(const Path &path, mlir::Operation *op, double limit = std::numeric_limits<double>::infinity());

  void forgetTaken();
  /// Records that an operation has taken a non-default path with this error.
  void addTaken(double error);
  /// Returns the largest recorded error; 0 if all operations have their default implementation.
  double getLargestTaken() const { return largestTaken; }
  /// What is decided one after the other for a function.
  enum Step { earlyForms, paths, lateForms };
  /// Records the sum of squared errors that a step has added to a function of a target.
  void setVariance(mlir::func::FuncOp function, Step step, double variance);
  /// Returns the sum of squared errors of all steps of a function so far.
  double getVariance(mlir::func::FuncOp function);
  /// Returns the root of the largest sum of squared errors of a function.
  double getLargestTotal() const;

private:
  using Variances = std::array<double, 3>; ///< by step
  Variances getLargest() const;

  std::mutex mutex;
  std::map<std::vector<const void *>, double> known; ///< by path and uniqued attributes and types
  double largestTaken = 0;
  std::map<std::pair<std::string, std::string>, Variances> variances; ///< by target and function
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHERRORS_H
