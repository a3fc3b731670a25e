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
  /// byLargest: the largest error. Where elements have so few bits that the rounding of any computation is more, that
  /// is allowed; see getAllowedError.
  double ofLargest = 1e-5;
  /// byElement.
  double relative = 1e-3, absolute = 1e-7;
  /// Integers and booleans must be equal, unless an absolute tolerance was asked for.
  bool forIntegers = false;
};

/// The error that Tolerance::byLargest allows an output of this type. What it is compared with was rounded as well, on
/// other ways: 1e-4 is allowed f32 at least, 1e-2 f16, 5e-2 bf16, and an eighth the types of 8 bits and fewer.
double getAllowedError(tenon_dtype dtype, const Tolerance &tolerance);

/// How far an output is from what was wanted.
struct Difference {
  bool isMeasured = false; ///< false of strings, and where types or shapes differ
  double error = 0;        ///< largest difference over the largest finite element; NaN where one has no distance
  uint64_t wrong = 0, count = 0;

  void add(const Difference &other);
};

/// Fails with kMismatch where the types or shapes differ, or elements of `got` are further from those of `want` than
/// is allowed. NaN equals NaN, and an infinity one of the same sign. The message has the first element that is wrong,
/// by the rule byLargest the one that is furthest off. `difference` may be null.
Status compare(const char *name, const tenon_tensor &got, const tenon_tensor &want, const Tolerance &tolerance,
               Difference *difference = nullptr);

/// The same for any values. Sequences have to be equally long, and strings equal.
Status compareValues(const std::string &name, const ValueView &got, const ValueView &want, const Tolerance &tolerance,
                     Difference *difference = nullptr);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_COMPARE_H
