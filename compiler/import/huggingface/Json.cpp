//===- Json.cpp - JSON that nobody vouches for ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Json.h"
#include "compiler/errors/CompileError.h"
#include <set>

using namespace tenon;
using namespace tenon::huggingface;

static constexpr int kMaxDepth = 16;

namespace {

/// Validates a text without building a document. The library's own parser with a callback searches an object's members
/// at the end of each, which takes quadratic time.
class Checker : public nlohmann::json_sax<Json> {
public:
  const std::string &getFault() const { return fault; }

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
    fault = "holds the key '" + name + "' twice";
    return false;
  }
  bool parse_error(std::size_t byte, const std::string &, const nlohmann::detail::exception &exception) override {
    constexpr int kOutOfRange = 4; // the hundreds of such an identifier
    bool isNumber = exception.id / 100 == kOutOfRange;
    fault = isNumber ? "holds a number that is too large"
                     : "is no JSON: there is a mistake at byte " + std::to_string(byte);
    return false;
  }

private:
  bool enter() {
    if (++depth <= kMaxDepth)
      return true;
    fault = "nests deeper than " + std::to_string(kMaxDepth) + " levels";
    return false;
  }

  std::string fault;
  std::vector<std::set<std::string>> keys; ///< of each object that has begun
  int depth = 0;
};

} // namespace

llvm::Expected<Json> huggingface::parseJson(llvm::ArrayRef<char> text) {
  Checker checker;
  if (!Json::sax_parse(text.begin(), text.end(), &checker))
    return makeError(CompileStatus::invalid, checker.getFault());
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

llvm::Expected<Json> huggingface::parseJsonObject(llvm::ArrayRef<char> text) {
  llvm::Expected<Json> json = parseJson(text);
  if (json && !json->is_object())
    return makeError(CompileStatus::invalid, "holds no JSON object");
  return json;
}
