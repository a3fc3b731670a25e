//===- JsonReader.cpp - numbers from JSON objects ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/JsonReader.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace tenon::run {

namespace {

/// Reads one object member by member, and skips the values that are not requested.
class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}

  std::optional<double> find(std::string_view key) {
    if (!take('{') || take('}'))
      return std::nullopt;
    do {
      std::optional<std::string_view> name = takeString();
      if (!name || !take(':'))
        return std::nullopt;
      if (*name == key)
        return takeNumber();
      if (!skipValue())
        return std::nullopt;
    } while (take(','));
    return std::nullopt;
  }

private:
  void skipSpace() {
    while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != std::string_view::npos)
      text.remove_prefix(1);
  }

  bool take(char c) {
    skipSpace();
    if (text.empty() || text.front() != c)
      return false;
    text.remove_prefix(1);
    return true;
  }

  /// Returns the text between two quotes, with escapes unchanged.
  std::optional<std::string_view> takeString() {
    if (!take('"'))
      return std::nullopt;
    size_t end = 0;
    while (end < text.size() && text[end] != '"')
      end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size())
      return std::nullopt;
    std::string_view string = text.substr(0, end);
    text.remove_prefix(end + 1);
    return string;
  }

  /// Returns the characters of a number or a name, up to the end of the value.
  std::string_view takeToken() {
    skipSpace();
    size_t end = std::min(text.find_first_of(" \t\r\n,:{}[]\""), text.size());
    std::string_view token = text.substr(0, end);
    text.remove_prefix(end);
    return token;
  }

  std::optional<double> takeNumber() {
    std::string token(takeToken());
    // strtod() also accepts "0x10", "inf" and " 1", which are not JSON.
    if (token.find_first_not_of("0123456789+-.eE") != token.npos || token.empty())
      return std::nullopt;
    char *end;
    double value = strtod(token.c_str(), &end);
    return *end || !std::isfinite(value) ? std::nullopt : std::optional(value);
  }

  /// Brackets are counted without recursion, because the text may be hostile.
  bool skipValue() {
    size_t depth = 0;
    do {
      skipSpace();
      if (text.empty())
        return false;
      char c = text.front();
      if (c == '"') {
        if (!takeString())
          return false;
      } else if (c == '{' || c == '[') {
        ++depth;
        text.remove_prefix(1);
      } else if (c == '}' || c == ']') {
        if (depth-- == 0)
          return false;
        text.remove_prefix(1);
      } else if (c == ',' || c == ':') {
        if (depth == 0)
          return false;
        text.remove_prefix(1);
      } else {
        takeToken();
      }
    } while (depth > 0);
    return true;
  }

  std::string_view text;
};

} // namespace

std::optional<double> findJsonNumber(std::string_view json, std::string_view key) { return Reader(json).find(key); }

} // namespace tenon::run
