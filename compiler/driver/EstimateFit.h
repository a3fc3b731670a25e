//===- EstimateFit.h - estimates of schedules, fitted to measurements -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_ESTIMATEFIT_H
#define TENON_COMPILER_DRIVER_ESTIMATEFIT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// Fits the estimates of each schedule source to measurements, by the scale that minimizes the squared errors of
/// logarithms: the geometric mean of measurement over estimate.
class EstimateFit {
public:
  /// Adds a measurement: a schedule of `source` took the fraction `measured` of the time of the policies' schedule,
  /// where `estimate` was expected; both are positive.
  void add(llvm::StringRef source, double estimate, double measured);
  /// Returns the factor for estimates of `source`; 1 if nothing was measured.
  double getScale(llvm::StringRef source) const;
  /// Returns the factor by which estimates are off, as a geometric mean, without and with the scales; none if nothing
  /// was measured.
  std::optional<double> getError(bool isFitted) const;

private:
  std::map<std::string, std::vector<double>, std::less<>> logs; ///< of measurement over estimate, by source
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_ESTIMATEFIT_H
