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

/// The key of an operation under which the times of its paths are recorded.
struct PathRegion {
  std::string target; ///< name of the enclosing module: the target that it is compiled for
  std::string text;   ///< canonical: the operation, its types, sizes and attributes, and which operands are weights

  static PathRegion get(mlir::Operation *op);
  /// Returns the XXH3 of the text as 32 hexadecimal digits, as in the profile database.
  std::string getFingerprint() const;
};

/// A path that an operation may take.
struct PathOption {
  llvm::StringRef name;
  std::optional<double>
      error; ///< measured with the weights at hand; nothing for a path that is as exact as the default
};

/// Measured times of paths. Implementations are thread-safe.
class PathTimes {
public:
  virtual ~PathTimes() = default;

  /// Returns the nanoseconds that a path takes for a region on the machine of its target; none if it was not measured.
  virtual std::optional<double> find(const PathRegion &region, llvm::StringRef path) = 0;

  /// True if paths are taken in turn to be measured; false if the fastest one is taken.
  virtual bool isMeasuring() const { return false; }

  /// Returns the number of the option that a region takes in this measurement. All options are exact enough; the first
  /// one has the smallest estimate.
  virtual size_t pick(const PathRegion &, llvm::ArrayRef<PathOption>) { return 0; }
};

/// The estimate of a path's time, and a measurement if there is one.
struct PathCost {
  double cycles = 0;
  std::optional<double> nanoseconds;
};

/// Makes the costs of all operations comparable, element by element: costs are measured times, or else estimates scaled
/// by the ratio of measurements to estimates. The scale of an operation is the geometric mean of this ratio over its
/// own paths, or else over all operations. If nothing was measured, costs are cycles.
std::vector<std::vector<double>> blendCosts(llvm::ArrayRef<std::vector<PathCost>> operations);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHTIMES_H
