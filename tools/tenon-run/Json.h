//===- Json.h - the little JSON that tenon-run writes --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_JSON_H
#define TENON_TOOLS_TENON_RUN_JSON_H

#include <string>
#include <string_view>

namespace tenon::run {

/// Returns `text` in quotation marks. Invalid UTF-8 becomes U+FFFD.
std::string jsonString(std::string_view text);

/// Returns a number; "null" for infinities and NaN, which JSON lacks.
std::string jsonNumber(double value);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_JSON_H
