//===- Units.cpp - times, bytes and rates for people ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Units.h"

namespace tenon::run {

std::string timeText(double milliseconds) {
  struct Unit {
    double inMilliseconds;
    const char *name;
  };
  static constexpr Unit kUnits[] = {{1e-6, "ns"}, {1e-3, "us"}, {1, "ms"}};
  for (const Unit &unit : kUnits)
    if (milliseconds < 999.5 * unit.inMilliseconds)
      return threeDigits(milliseconds / unit.inMilliseconds) + " " + unit.name;
  return threeDigits(milliseconds / 1e3) + " s";
}

std::string rateText(double perSecond) {
  if (perSecond < 999.5)
    return threeDigits(perSecond);
  uint64_t scale = 1;
  while (perSecond / double(scale) >= 999.5)
    scale *= 10;
  double digits = perSecond / double(scale);
  uint64_t whole = uint64_t(digits);
  whole += digits - double(whole) >= 0.5;
  return groupDigits(whole * scale);
}

} // namespace tenon::run
