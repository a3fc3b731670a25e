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

struct Tolerance {
  /// What ONNX's own backend tests allow.
  double relative = 1e-3, absolute = 1e-7;
  /// Integers and booleans must be equal, unless an absolute tolerance was asked for.
  bool forIntegers = false;
};

/// Fails with kMismatch where the types or shapes differ, or an element of `got` is further from that of
/// `want` than absolute + relative * |want|. NaN equals NaN, and an infinity one of the same sign. The
/// message has the first such element, how many there are, and the largest error.
Status compare(const char *name, const tenon_tensor &got, const tenon_tensor &want, const Tolerance &tolerance);

/// The same for any values. Sequences have to be equally long, and strings equal.
Status compareValues(const std::string &name, const ValueView &got, const ValueView &want, const Tolerance &tolerance);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_COMPARE_H
