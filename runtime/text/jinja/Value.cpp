//===- Value.cpp - values of templates ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/jinja/Value.h"
#include "runtime/text/Unicode.h"

#include <charconv>
#include <cmath>

using namespace tenon::text;
using namespace tenon::text::jinja;

const Value *Arguments::get(size_t position, const char *name) const {
  if (position < positional.size())
    return &positional[position];
  for (const auto &[key, value] : named)
    if (key == name)
      return &value;
  return nullptr;
}

const Value *Dict::find(const std::string &key) const {
  auto it = index.find(key);
  return it == index.end() ? nullptr : &entries[it->second].second;
}

void Dict::set(const std::string &key, Value value) {
  auto [it, isNew] = index.try_emplace(key, entries.size());
  if (isNew)
    entries.emplace_back(key, std::move(value));
  else
    entries[it->second].second = std::move(value);
}

bool Value::isTrue() const {
  if (isUndefined() || isNone())
    return false;
  if (isNumber())
    return toDouble() != 0;
  if (asString())
    return !asString()->empty();
  if (asList())
    return !asList()->empty();
  return !asDict() || asDict()->isNamespace || !asDict()->entries.empty();
}

const char *Value::getKind() const {
  static constexpr const char *kNames[] = {"undefined", "none", "boolean", "integer", "number",
                                           "string",    "list", "dict",    "function"};
  return kNames[content.index()];
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {
/// Builds a value while parsing. The library's own objects sort their keys, or have linear lookup.
class Builder : public nlohmann::json_sax<Json> {
public:
  Value result;

  bool null() override { return add(Value::None()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return value <= INT64_MAX ? add(static_cast<int64_t>(value)) : add(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t &) override { return add(value); }
  bool string(string_t &value) override { return add(value); }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override {
    levels.push_back({std::make_shared<Dict>(), {}, {}});
    return true;
  }
  bool end_object() override { return close(levels.back().dict); }
  bool start_array(std::size_t) override {
    levels.push_back({nullptr, {}, {}});
    return true;
  }
  bool end_array() override { return close(Value(std::move(levels.back().list))); }
  bool key(string_t &name) override {
    levels.back().key = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &) override { return false; }

private:
  struct Level {
    std::shared_ptr<Dict> dict; ///< null: a list
    List list;
    std::string key;
  };

  bool add(Value value) {
    if (levels.empty())
      result = std::move(value);
    else if (levels.back().dict)
      levels.back().dict->set(levels.back().key, std::move(value));
    else
      levels.back().list.push_back(std::move(value));
    return true;
  }
  bool close(Value value) {
    levels.pop_back();
    return add(std::move(value));
  }

  std::vector<Level> levels;
};
} // namespace

Status jinja::parseValue(std::string_view text, Value &value) {
  TENON_TRY(checkJson(text));
  Builder builder;
  Json::sax_parse(text.begin(), text.end(), &builder);
  value = std::move(builder.result);
  return {};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Formats the shortest digits that identify the number, like Python's repr().
static std::string formatDouble(double value, bool isJson) {
  if (std::isnan(value))
    return isJson ? "NaN" : "nan";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + (isJson ? "Infinity" : "inf");
  char digits[64];
  double size = std::fabs(value);
  bool isScientific = size != 0 && (size < 1e-4 || size >= 1e16);
  auto end = std::to_chars(digits, digits + sizeof digits, value,
                           isScientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(digits, end.ptr);
  if (!isScientific && text.find('.') == text.npos)
    text += ".0";
  return text;
}

static std::string quote(const std::string &text) {
  char mark = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string quoted(1, mark);
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    static constexpr char kHex[] = "0123456789abcdef";
    if (c == mark || c == '\\')
      quoted += {'\\', c};
    else if (c == '\n')
      quoted += "\\n";
    else if (c == '\r')
      quoted += "\\r";
    else if (c == '\t')
      quoted += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    else
      quoted += c;
  }
  return quoted + mark;
}

static std::string quoteJson(const std::string &text) {
  return Json(text).dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

/// What both ways to print have in common.
static bool printScalar(const Value &value, bool isJson, std::string &text) {
  if (const bool *isSet = value.asBool())
    text += isJson ? (*isSet ? "true" : "false") : (*isSet ? "True" : "False");
  else if (value.isInteger())
    text += std::to_string(value.toInteger());
  else if (const double *number = value.asDouble())
    text += formatDouble(*number, isJson);
  else if (value.isNone())
    text += isJson ? "null" : "None";
  else if (const std::string *string = value.asString())
    text += isJson ? quoteJson(*string) : quote(*string);
  else
    return false;
  return true;
}

static void print(const Value &value, bool isJson, int indent, size_t level, std::string &text) {
  // limit: lists that contain the same list several times, recursively, have an exponential size when printed.
  constexpr size_t kMaxBytes = 65 << 20;
  if (text.size() > kMaxBytes || printScalar(value, isJson, text))
    return;
  const List *list = value.asList();
  const Dict *dict = value.asDict();
  if (!list && !dict) {
    text += !value.isUndefined() ? "<function>" : level > 0 ? "Undefined" : "";
    return;
  }
  size_t count = list ? list->size() : dict->entries.size();
  auto breakLine = [&](size_t depth) {
    if (indent >= 0 && count > 0)
      text += "\n" + std::string(static_cast<size_t>(indent) * depth, ' ');
  };
  bool isTuple = value.isTuple() && !isJson;
  text += isTuple ? '(' : list ? '[' : '{';
  for (size_t i = 0; i < count; ++i) {
    if (i != 0)
      text += indent >= 0 ? "," : ", ";
    breakLine(level + 1);
    if (dict)
      text += (isJson ? quoteJson(dict->entries[i].first) : quote(dict->entries[i].first)) + ": ";
    print(list ? (*list)[i] : dict->entries[i].second, isJson, indent, level + 1, text);
  }
  breakLine(level);
  if (isTuple)
    text += count == 1 ? ",)" : ")";
  else
    text += list ? ']' : '}';
}

std::string jinja::toText(const Value &value) {
  if (const std::string *string = value.asString())
    return *string;
  std::string text;
  print(value, /*isJson=*/false, -1, 0, text);
  return text;
}

std::string jinja::toJsonText(const Value &value, int indent) {
  std::string text;
  print(value, /*isJson=*/true, indent, 0, text);
  return text;
}
