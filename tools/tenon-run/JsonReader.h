//===- JsonReader.h - numbers from JSON objects -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_JSONREADER_H
#define TENON_TOOLS_TENON_RUN_JSONREADER_H

#include <optional>
#include <string_view>

namespace tenon::run {

/// Returns the number in member `key` of the object `json`; nullopt if the text is no object, is truncated before that
/// member, or has no such member (members of nested values do not count), or if it is no finite number. `key` must not
/// need escapes. Text after the member is not read.
std::optional<double> findJsonNumber(std::string_view json, std::string_view key);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_JSONREADER_H
