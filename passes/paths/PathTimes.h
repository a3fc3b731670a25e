//===- PathTimes.h - what real runs say of paths ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHTIMES_H
#define TENON_PASSES_PATHS_PATHTIMES_H

#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class Operation;
}

namespace tenon {

/// An operation, as what its paths take is recorded under.
struct PathRegion {
  std::string target; ///< name of the enclosing module: the target that it is compiled for
  std::string text;   ///< canonical: the operation, its types, sizes and attributes, and which operands are weights

  static PathRegion get(mlir::Operation *op);
  /// 32 hexadecimal digits: XXH3 of the text, as in the profile database.
  std::string getFingerprint() const;
};

/// A path that an operation may take.
struct PathOption {
  llvm::StringRef name;
  std::optional<double>
      error; ///< measured with the weights at hand; nothing for a path that is as exact as the default
};

/// What real runs say of paths. Several threads may use it.
class PathTimes {
public:
  virtual ~PathTimes() = default;

  /// Nanoseconds that a path takes for a region on the machine of its target; nothing where that was not measured.
  virtual std::optional<double> find(const PathRegion &region, llvm::StringRef path) = 0;

  /// Whether paths are taken in turn, to be measured. Otherwise the fastest one is.
  virtual bool isMeasuring() const { return false; }

  /// Which of the options a region takes to be measured: its place. The options are exact enough, the one that is
  /// expected to be the fastest comes first.
  virtual size_t pick(const PathRegion &, llvm::ArrayRef<PathOption>) { return 0; }
};

/// What is known of a path's time: an estimate, and maybe a measurement.
struct PathCost {
  double cycles = 0;
  std::optional<double> nanoseconds;
};

/// Makes the costs of all operations comparable, element by element: measured times where there are any, and estimates
/// scaled by what measurements say of estimates. The scale of an operation is the geometric mean of time over estimate
/// of its own paths, or else of all operations. Without a measurement, costs are cycles.
std::vector<std::vector<double>> blendCosts(llvm::ArrayRef<std::vector<PathCost>> operations);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHTIMES_H
