//===- Methods.cpp - methods of strings, lists and dicts ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Unicode.h"
#include "runtime/text/jinja/Builtins.h"

#include <algorithm>
#include <unicode/uchar.h>

using namespace tenon::text;
using namespace tenon::text::jinja;

using Method = Value (*)(Interpreter &, const std::string &, const Arguments &);

static std::u32string decode(const std::string &text) {
  std::u32string characters;
  decodeUtf8(text, characters);
  return characters;
}

/// Returns the argument as text; an empty one if there is none.
static std::string takeText(const Arguments &arguments, size_t index, const char *name) {
  const Value *value = arguments.get(index, name);
  return value && value->asString() ? *value->asString() : "";
}

/// What Python's strip() takes for a space.
static bool isPythonSpace(char32_t c) { return isWhitespace(c) || (c >= 0x1c && c <= 0x1f); }

template <bool isLeft, bool isRight>
static Value strip(Interpreter &, const std::string &text, const Arguments &arguments) {
  std::u32string characters = decode(text), set = decode(takeText(arguments, 0, "chars"));
  bool hasSet = !arguments.positional.empty() && arguments.positional[0].asString();
  auto isStripped = [&](char32_t c) { return hasSet ? set.find(c) != set.npos : isPythonSpace(c); };
  size_t begin = 0, end = characters.size();
  while (isLeft && begin < end && isStripped(characters[begin]))
    ++begin;
  while (isRight && begin < end && isStripped(characters[end - 1]))
    --end;
  return toUtf8(std::u32string_view(characters).substr(begin, end - begin));
}

//===----------------------------------------------------------------------===//
// Case
//===----------------------------------------------------------------------===//

static void appendUppercase(char32_t c, std::u32string &text) {
  // The only letter of Latin-1 whose upper case has two characters; for others in SpecialCasing.txt the simple mapping
  // is used.
  if (c == 0xdf)
    text += U"SS";
  else
    text.push_back(static_cast<char32_t>(u_toupper(static_cast<UChar32>(c))));
}

static Value lower(Interpreter &, const std::string &text, const Arguments &) {
  std::u32string changed;
  for (char32_t c : decode(text))
    appendLowercase(c, changed);
  return toUtf8(changed);
}

static Value upper(Interpreter &, const std::string &text, const Arguments &) {
  std::u32string changed;
  for (char32_t c : decode(text))
    appendUppercase(c, changed);
  return toUtf8(changed);
}

/// Capitalizes the beginning of each word, or of the text.
template <bool isEachWord> static Value capitalize(Interpreter &, const std::string &text, const Arguments &) {
  std::u32string changed;
  bool isBegin = true;
  for (char32_t c : decode(text)) {
    if (isBegin)
      appendUppercase(c, changed);
    else
      appendLowercase(c, changed);
    isBegin = isEachWord && !u_isalpha(static_cast<UChar32>(c));
  }
  return toUtf8(changed);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Splits at runs of spaces; spaces at the ends are ignored.
static List splitAtSpaces(const std::string &text, int64_t most) {
  std::u32string characters = decode(text);
  List parts;
  size_t at = 0;
  while (at < characters.size()) {
    while (at < characters.size() && isPythonSpace(characters[at]))
      ++at;
    size_t begin = at;
    bool isRest = most >= 0 && static_cast<int64_t>(parts.size()) == most;
    while (at < characters.size() && (isRest || !isPythonSpace(characters[at])))
      ++at;
    if (at > begin)
      parts.emplace_back(toUtf8(std::u32string_view(characters).substr(begin, at - begin)));
  }
  return parts;
}

template <bool isFromRight>
static Value split(Interpreter &interpreter, const std::string &text, const Arguments &arguments) {
  const Value *limit = arguments.get(1, "maxsplit");
  int64_t most = limit && limit->isInteger() ? limit->toInteger() : -1;
  std::string separator = takeText(arguments, 0, "sep");
  if (!interpreter.spend(text.size() * 2))
    return {};
  if (separator.empty()) {
    if (isFromRight && most >= 0)
      interpreter.fail("rsplit needs a separator", TENON_UNSUPPORTED);
    return splitAtSpaces(text, most);
  }
  std::vector<std::string> parts;
  std::string rest = text;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    size_t place = isFromRight ? rest.rfind(separator) : rest.find(separator);
    if (place == rest.npos || !interpreter.spend(rest.size() / 64 + sizeof(Value)))
      break;
    parts.push_back(isFromRight ? rest.substr(place + separator.size()) : rest.substr(0, place));
    rest = isFromRight ? rest.substr(0, place) : rest.substr(place + separator.size());
  }
  parts.push_back(rest);
  if (isFromRight)
    std::reverse(parts.begin(), parts.end());
  return List(parts.begin(), parts.end());
}

static Value splitLines(Interpreter &interpreter, const std::string &text, const Arguments &) {
  List lines;
  for (size_t begin = 0; begin < text.size() && interpreter.spend(sizeof(Value));) {
    size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
  }
  return lines;
}

static Value replace(Interpreter &interpreter, const std::string &text, const Arguments &arguments) {
  std::string from = takeText(arguments, 0, "old"), to = takeText(arguments, 1, "new"), changed;
  const Value *limit = arguments.get(2, "count");
  int64_t left = limit && limit->isInteger() && limit->toInteger() >= 0 ? limit->toInteger() : INT64_MAX;
  if (from.empty()) {
    interpreter.fail("replace: the text to replace is empty", TENON_UNSUPPORTED);
    return {};
  }
  size_t last = 0;
  for (size_t at = text.find(from); at != text.npos && left > 0; at = text.find(from, last), --left) {
    if (!interpreter.spend(at - last + to.size()))
      return {};
    changed.append(text, last, at - last).append(to);
    last = at + from.size();
  }
  return changed + text.substr(last);
}

template <bool isBegin> static Value startsOrEnds(Interpreter &, const std::string &text, const Arguments &arguments) {
  List wanted = arguments.positional;
  if (wanted.size() == 1 && wanted[0].asList())
    wanted = List(*wanted[0].asList());
  return std::any_of(wanted.begin(), wanted.end(), [&](const Value &value) {
    const std::string *part = value.asString();
    return part && part->size() <= text.size() &&
           text.compare(isBegin ? 0 : text.size() - part->size(), part->size(), *part) == 0;
  });
}

static Value findText(Interpreter &, const std::string &text, const Arguments &arguments) {
  size_t place = text.find(takeText(arguments, 0, "sub"));
  return place == text.npos ? Value(int64_t(-1)) : Value(static_cast<int64_t>(decode(text.substr(0, place)).size()));
}

static Value countText(Interpreter &, const std::string &text, const Arguments &arguments) {
  std::string part = takeText(arguments, 0, "sub");
  int64_t count = part.empty() ? static_cast<int64_t>(decode(text).size()) + 1 : 0;
  for (size_t at = part.empty() ? text.npos : text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

static Value join(Interpreter &interpreter, const std::string &text, const Arguments &arguments) {
  Arguments separator;
  separator.positional.emplace_back(text);
  return arguments.positional.empty() ? Value() : applyFilter(interpreter, "join", arguments.positional[0], separator);
}

template <int8_t first, int8_t last> static Value isAllOf(Interpreter &, const std::string &text, const Arguments &) {
  std::u32string characters = decode(text);
  return !characters.empty() && std::all_of(characters.begin(), characters.end(), [](char32_t c) {
    int8_t category = u_charType(static_cast<UChar32>(c));
    return category >= first && category <= last;
  });
}

static constexpr struct {
  const char *name;
  Method call;
} kStringMethods[] = {{"capitalize", capitalize<false>},
                      {"count", countText},
                      {"endswith", startsOrEnds<false>},
                      {"find", findText},
                      {"isalpha", isAllOf<U_UPPERCASE_LETTER, U_OTHER_LETTER>},
                      {"isdigit", isAllOf<U_DECIMAL_DIGIT_NUMBER, U_DECIMAL_DIGIT_NUMBER>},
                      {"join", join},
                      {"lower", lower},
                      {"lstrip", strip<true, false>},
                      {"replace", replace},
                      {"rsplit", split<true>},
                      {"rstrip", strip<false, true>},
                      {"split", split<false>},
                      {"splitlines", splitLines},
                      {"startswith", startsOrEnds<true>},
                      {"strip", strip<true, true>},
                      {"title", capitalize<true>},
                      {"upper", upper}};

static std::optional<Value> callDictMethod(Interpreter &interpreter, const Dict &dict, const std::string &name,
                                           const Arguments &arguments) {
  if (name == "get") {
    const Value *key = arguments.get(0, "key"), *otherwise = arguments.get(1, "default");
    const Value *field = key && key->asString() ? dict.find(*key->asString()) : nullptr;
    return field ? *field : otherwise ? *otherwise : Value(Value::None());
  }
  if (name != "items" && name != "keys" && name != "values")
    return std::nullopt;
  List list;
  for (const auto &[key, value] : dict.entries)
    list.push_back(name == "items"  ? Value(List{Value(key), value}, /*isTuple=*/true)
                   : name == "keys" ? Value(key)
                                    : value);
  return interpreter.spend(list.size() * 2 * sizeof(Value)) ? Value(std::move(list)) : Value();
}

std::optional<Value> jinja::callMethod(Interpreter &interpreter, const Value &object, const std::string &name,
                                       const Arguments &arguments) {
  if (const Dict *dict = object.asDict(); dict && !dict->isNamespace)
    return callDictMethod(interpreter, *dict, name, arguments);
  const std::string *text = object.asString();
  for (const auto &[known, method] : kStringMethods)
    if (text && name == known)
      return interpreter.spend(text->size()) ? method(interpreter, *text, arguments) : Value();
  return std::nullopt;
}
