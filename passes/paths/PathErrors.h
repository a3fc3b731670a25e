//===- PathErrors.h - what paths were measured to be off ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHERRORS_H
#define TENON_PASSES_PATHS_PATHERRORS_H

#include <limits>
#include <map>
#include <mutex>
#include <vector>

namespace mlir {
class Operation;
}

namespace tenon {

class Path;

/// Remembers measured errors from one choice of paths to the next, with another budget for a copy of the module: no
/// error is measured twice. Several threads may use it.
class PathErrors {
public:
  /// path.measureError(op), or what that was for an equal operation with the same weights. Where it is certain to
  /// exceed `limit`, the result is any number that does, and nothing is measured.
  double measure(const Path &path, mlir::Operation *op, double limit = std::numeric_limits<double>::infinity());

  void forgetTaken() { largestTaken = largestTotal = 0; }
  /// An operation has taken a path, other than its own, of this error.
  void addTaken(double error);
  /// The largest error of those; 0 where every operation is computed in its own way.
  double getLargestTaken() const { return largestTaken; }
  /// The operations of a function have taken paths whose squared errors have a sum with this root.
  void addTotal(double total);
  /// The largest of those.
  double getLargestTotal() const { return largestTotal; }

private:
  std::mutex mutex;
  std::map<std::vector<const void *>, double> known; ///< by path and uniqued attributes and types
  double largestTaken = 0, largestTotal = 0;
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHERRORS_H
