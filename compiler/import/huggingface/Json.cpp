//===- Json.cpp - JSON that nobody vouches for ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Json.h"
#include <set>

using namespace tenon::huggingface;

static constexpr int kMaxDepth = 16;

std::optional<Json> tenon::huggingface::parseJson(llvm::ArrayRef<char> text, std::string &error) {
  error.clear();
  // The keys of each object that is open. What nests too deep is dropped as it comes.
  std::vector<std::set<std::string>> keys;
  auto check = [&](int depth, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      error = "holds the key '" + parsed.get<std::string>() + "' twice";
    if (depth > kMaxDepth)
      error = "nests deeper than " + std::to_string(kMaxDepth) + " levels";
    return error.empty();
  };
  try {
    Json json = Json::parse(text.begin(), text.end(), check);
    if (error.empty())
      return json;
  } catch (const Json::parse_error &e) {
    error = "is no JSON: there is a mistake at byte " + std::to_string(e.byte);
  } catch (const Json::exception &) {
    error = "holds a number that is too large";
  }
  return std::nullopt;
}

std::optional<Json> tenon::huggingface::parseJsonObject(llvm::ArrayRef<char> text, std::string &error) {
  std::optional<Json> json = parseJson(text, error);
  if (!json || json->is_object())
    return json;
  error = "holds no JSON object";
  return std::nullopt;
}
