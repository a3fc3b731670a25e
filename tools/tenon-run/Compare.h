//===- Compare.h - got against wanted ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_COMPARE_H
#define TENON_TOOLS_TENON_RUN_COMPARE_H

#include "tools/tenon-run/HostValue.h"

namespace tenon::run {

/// What a comparison allows.
struct Tolerance {
  enum Rule {
    byLargest, ///< the error of an output: its largest difference over its largest element, as `tenon compile` measures
    byElement  ///< of each element: absolute + relative * |want|, as ONNX's own tests do
  };
  Rule rule = byLargest;
  /// For byLargest: the largest error. For element types with few bits, whose rounding exceeds it, more is allowed; see
  /// getAllowedError.
  double ofLargest = 1e-5;
  /// byElement.
  double relative = 1e-3, absolute = 1e-7;
  /// Integers and booleans must be equal, unless an absolute tolerance was asked for.
  bool forIntegers = false;
};

/// Returns the error that Tolerance::byLargest allows for this type. The reference was rounded, too, in other ways: at
/// least 1e-4 is allowed for f32, 1e-2 for f16, 5e-2 for bf16, and 1/8 for types of at most 8 bits.
double getAllowedError(tenon_dtype dtype, const Tolerance &tolerance);

/// How far an output is from what was wanted.
struct Difference {
  bool isMeasured = false; ///< false of strings, and where types or shapes differ
  double error = 0;        ///< largest difference over the largest finite element; NaN where one has no distance
  uint64_t wrong = 0, count = 0;

  void add(const Difference &other);
};

/// Fails with kMismatch if the types or shapes differ, or if elements of `got` differ from those of `want` by more than
/// the tolerance. NaN equals NaN, and an infinity one of the same sign. The message names the first wrong element or,
/// with byLargest, the one with the largest error. `difference` may be null.
Status compare(const char *name, const tenon_tensor &got, const tenon_tensor &want, const Tolerance &tolerance,
               Difference *difference = nullptr);

/// The same for any values. Sequences must have the same length, and strings must be equal.
Status compareValues(const std::string &name, const ValueView &got, const ValueView &want, const Tolerance &tolerance,
                     Difference *difference = nullptr);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_COMPARE_H
