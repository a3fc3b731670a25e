//===- Json.cpp - JSON that nobody vouches for ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Json.h"
#include "runtime/text/Unicode.h"

#include <set>
#include <vector>

using namespace tenon::text;

// limit: sequences of components nest, and a hostile file could overflow the stack.
static constexpr int kMaxDepth = 24;

namespace {
/// Validates a text without building a document.
class Checker : public nlohmann::json_sax<Json> {
public:
  std::string error;

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
    error = fault.id / 100 == kOutOfRange ? "holds a number that is too large"
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

  std::vector<std::set<std::string>> keys; ///< of each object that has begun
  int depth = 0;
};
} // namespace

Status tenon::text::checkJson(std::string_view text) {
  Checker checker;
  if (Json::sax_parse(text.begin(), text.end(), &checker))
    return {};
  return Status::make(TENON_INVALID, "%s", checker.error.c_str());
}

Status tenon::text::parseJson(std::string_view text, Json &json) {
  TENON_TRY(checkJson(text));
  json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  return {};
}

Fields::Fields(const Json &json, std::string path) : json(json), path(std::move(path)) {
  if (!json.is_object())
    fail(Status::make(TENON_INVALID, "'%s' is no object", this->path.c_str()));
}

const Json *Fields::find(const char *key) const {
  if (!json.is_object())
    return nullptr;
  auto field = json.find(key);
  return field == json.end() || field->is_null() ? nullptr : &*field;
}

void Fields::fail(Status fault) {
  if (!status.failed())
    status = std::move(fault);
}

void Fields::failUnknown(const char *key, const std::string &found, const char *known) {
  fail(Status::make(TENON_UNSUPPORTED, "'%s.%s' is '%s', which is not supported; known are %s", path.c_str(), key,
                    found.c_str(), known));
}

const Json *Fields::read(const char *key, bool isRequired, bool (*isOfType)(const Json &), const char *wanted) {
  const Json *field = find(key);
  if (!field) {
    if (isRequired)
      fail(Status::make(TENON_INVALID, "'%s' has no field '%s'", path.c_str(), key));
    return nullptr;
  }
  if (isOfType(*field))
    return field;
  fail(Status::make(TENON_INVALID, "'%s.%s' is no %s", path.c_str(), key, wanted));
  return nullptr;
}

std::string Fields::getString(const char *key, const std::optional<std::string> &otherwise) {
  const Json *field = read(key, !otherwise, [](const Json &value) { return value.is_string(); }, "string");
  return field ? field->get<std::string>() : otherwise.value_or("");
}

bool Fields::getBool(const char *key, std::optional<bool> otherwise) {
  const Json *field = read(key, !otherwise, [](const Json &value) { return value.is_boolean(); }, "boolean");
  return field ? field->get<bool>() : otherwise.value_or(false);
}

uint64_t Fields::getCount(const char *key, uint64_t most, std::optional<uint64_t> otherwise) {
  const Json *field =
      read(key, !otherwise, [](const Json &value) { return value.is_number_unsigned(); }, "integer from 0 on");
  uint64_t count = field ? field->get<uint64_t>() : otherwise.value_or(0);
  if (count <= most)
    return count;
  fail(Status::make(TENON_INVALID, "'%s.%s' is %llu, more than the %llu that are allowed", path.c_str(), key,
                    static_cast<unsigned long long>(count), static_cast<unsigned long long>(most)));
  return most;
}

double Fields::getNumber(const char *key, std::optional<double> otherwise) {
  const Json *field = read(key, !otherwise, [](const Json &value) { return value.is_number(); }, "number");
  return field ? field->get<double>() : otherwise.value_or(0);
}

char32_t Fields::getCharacter(const char *key, std::optional<char32_t> otherwise) {
  const Json *field = read(key, !otherwise, [](const Json &value) { return value.is_string(); }, "character");
  if (!field)
    return otherwise.value_or(U' ');
  std::u32string characters;
  if (!decodeUtf8(field->get_ref<const std::string &>(), characters) && characters.size() == 1)
    return characters.front();
  fail(Status::make(TENON_INVALID, "'%s.%s' is not one character", path.c_str(), key));
  return U' ';
}

const Json &Fields::getArray(const char *key) {
  static const Json empty = Json::array();
  const Json *field = read(key, true, [](const Json &value) { return value.is_array(); }, "array");
  return field ? *field : empty;
}

const Json &Fields::getObject(const char *key) {
  static const Json empty = Json::object();
  const Json *field = read(key, true, [](const Json &value) { return value.is_object(); }, "object");
  return field ? *field : empty;
}
