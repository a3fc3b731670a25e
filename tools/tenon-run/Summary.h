//===- Summary.h - values in a line of text -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_SUMMARY_H
#define TENON_TOOLS_TENON_RUN_SUMMARY_H

#include "tools/tenon-run/HostValue.h"

namespace tenon::run {

/// Returns "y  f32[2]  min 0  max 1  mean 0.5  [0, 1]"; a sequence has an additional line for each tensor.
std::string summaryText(const std::string &name, const ValueView &value);

/// Returns the same as a JSON object. A sequence has a list of objects as "tensors"; an empty optional has "value":
/// null.
std::string summaryJson(const std::string &name, const ValueView &value);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_SUMMARY_H
