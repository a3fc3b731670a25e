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

/// The number that member `key` of the object `json` has; nullopt where the text is no object, is cut short before
/// that member, or has no such member of its own (those of nested values do not count), or it is no finite number.
/// `key` has no escapes. Text after the member is not read.
std::optional<double> findJsonNumber(std::string_view json, std::string_view key);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_JSONREADER_H
