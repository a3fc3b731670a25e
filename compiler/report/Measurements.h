//===- Measurements.h - times of kernels, and limits of a machine ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_MEASUREMENTS_H
#define TENON_COMPILER_REPORT_MEASUREMENTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace tenon {

/// What was measured on a machine.
struct Measurements {
  /// All launches of a kernel in a run.
  struct Kernel {
    double seconds = 0;
    uint64_t flops = 0, bytes = 0; ///< 0 where they were not known
  };

  std::string processor; ///< printable
  uint64_t threads = 0;
  double flopsPerSecond = 0, bytesPerSecond = 0; ///< limits of arithmetic and of reading memory
  std::map<std::string, Kernel> kernels;         ///< by name; none where only the limits are known

  /// Returns the attainable performance of a kernel with this arithmetic intensity.
  double getLimit(double intensity) const { return std::min(flopsPerSecond, intensity * bytesPerSecond); }
};

/// Parses the output of `tenon-run --layers --json` or `tenon devices --json`. An error describes what is wrong with
/// the text.
llvm::Expected<Measurements> parseMeasurements(llvm::StringRef json);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_MEASUREMENTS_H
