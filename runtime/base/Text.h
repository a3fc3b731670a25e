//===- Text.h - numbers for people -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_TEXT_H
#define TENON_RUNTIME_BASE_TEXT_H

#include <cstdint>
#include <string>

namespace tenon::rt {

/// "1,234,567".
std::string groupDigits(uint64_t number);

/// Formats a number below 1000 with three significant digits: "9.99", "10.0", "100".
std::string threeDigits(double value);

/// Formats a size with three significant digits: "512 B", "488 KiB", "20.7 MiB".
std::string bytesText(uint64_t bytes);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_TEXT_H
