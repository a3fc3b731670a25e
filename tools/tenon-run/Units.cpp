//===- Units.cpp - times, bytes and rates for people ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Units.h"

#include "tools/tenon-run/HostTensor.h"

namespace tenon::run {

/// Three digits that count, of a number below 1000.
static std::string threeDigits(double value) {
  return format("%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

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

std::string bytesText(uint64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes) / 1024;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return threeDigits(value) + " " + kUnits[unit];
}

std::string groupDigits(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3)
    text.insert(end - 3, ",");
  return text;
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
