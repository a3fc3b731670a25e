//===- Json.cpp - the little JSON that tenon-run writes ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Json.h"

#include "tools/tenon-run/Utf8.h"

#include <cmath>
#include <cstdio>

namespace tenon::run {

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    size_t length = utf8Length(text);
    unsigned char c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      result += "\xef\xbf\xbd";
      length = 1;
    } else if (c == '"' || c == '\\') {
      result += '\\';
      result += text[0];
    } else if (c < 0x20) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", c);
      result += escape;
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result + "\"";
}

std::string jsonNumber(double value) {
  if (!std::isfinite(value))
    return "null";
  char text[40];
  snprintf(text, sizeof text, "%.9g", value);
  return text;
}

} // namespace tenon::run
