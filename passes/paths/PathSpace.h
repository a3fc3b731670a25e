//===- PathSpace.h - all that could be chosen for a graph ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHSPACE_H
#define TENON_PASSES_PATHS_PATHSPACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A path that an operation, or all operations of a region, may take.
struct PathAlternative {
  std::string path;
  double cycles = 0;                                ///< by estimate, of all cores together
  std::optional<double> nanoseconds = std::nullopt; ///< of real runs
  double largestError = 0;                          ///< of an operation; 0 for one that needs no budget
  double variance = 0;                              ///< the sum of the squared errors of all operations
  bool isDefault = false;
  double cost = 0; ///< in a unit that all regions share
  /// For a form of the graph: the part of `cycles` and `cost` that belongs to no path of its operations.
  double restCycles = 0, restCost = 0;
};

/// Operations that are equal except for their weights, and therefore take the same path.
struct PathDecision {
  std::string region;      ///< canonical text
  std::string fingerprint; ///< of the region
  std::vector<std::string> nodes;
  size_t numOperations = 0;
  std::vector<PathAlternative> alternatives; ///< that all of the operations have, the cheapest first
};

/// Collects the alternatives of operations for each target. It is thread-safe.
class PathSpace {
public:
  /// The position of an operation: its function, and the number of operations of the dialect before it.
  using Place = std::pair<std::string, size_t>;

  /// `operation` is a decision of a single one.
  void add(llvm::StringRef target, Place place, PathDecision operation);

  /// Returns the decisions for a target, the most expensive ones first.
  std::vector<PathDecision> list(llvm::StringRef target) const;

private:
  mutable std::mutex mutex;
  std::map<std::string, std::map<Place, PathDecision>, std::less<>> byTarget;
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHSPACE_H
