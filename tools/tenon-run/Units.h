//===- Units.h - times, bytes and rates for people --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_UNITS_H
#define TENON_TOOLS_TENON_RUN_UNITS_H

#include "runtime/base/Text.h"

namespace tenon::run {

/// "340 ns", "2.14 us", "12.2 ms", "1.30 s": three digits that count.
std::string timeText(double milliseconds);

/// Formats a rate with three significant digits: "0.96", "810", "1,230,000".
std::string rateText(double perSecond);

using rt::bytesText;
using rt::groupDigits;
using rt::threeDigits;

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_UNITS_H
