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

namespace {

/// Reads a text without keeping anything of it, and says what is wrong. The library's own parser with a callback
/// searches an object's members at the end of each of them, so it takes the square of their number.
class Checker : public nlohmann::json_sax<Json> {
public:
  explicit Checker(std::string &error) : error(error) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override {
    keys.emplace_back();
    return enter();
  }
  bool end_object() override {
    keys.pop_back();
    --depth;
    return true;
  }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override {
    --depth;
    return true;
  }
  bool key(string_t &name) override {
    if (keys.back().insert(name).second)
      return true;
    error = "holds the key '" + name + "' twice";
    return false;
  }
  bool parse_error(std::size_t byte, const std::string &, const nlohmann::detail::exception &fault) override {
    constexpr int kOutOfRange = 4; // the hundreds of such an identifier
    bool isNumber = fault.id / 100 == kOutOfRange;
    error = isNumber ? "holds a number that is too large"
                     : "is no JSON: there is a mistake at byte " + std::to_string(byte);
    return false;
  }

private:
  bool enter() {
    if (++depth <= kMaxDepth)
      return true;
    error = "nests deeper than " + std::to_string(kMaxDepth) + " levels";
    return false;
  }

  std::string &error;
  std::vector<std::set<std::string>> keys; ///< of each object that has begun
  int depth = 0;
};

} // namespace

std::optional<Json> tenon::huggingface::parseJson(llvm::ArrayRef<char> text, std::string &error) {
  error.clear();
  Checker checker(error);
  if (!Json::sax_parse(text.begin(), text.end(), &checker))
    return std::nullopt;
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

std::optional<Json> tenon::huggingface::parseJsonObject(llvm::ArrayRef<char> text, std::string &error) {
  std::optional<Json> json = parseJson(text, error);
  if (!json || json->is_object())
    return json;
  error = "holds no JSON object";
  return std::nullopt;
}
