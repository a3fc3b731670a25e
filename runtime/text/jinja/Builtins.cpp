//===- Builtins.cpp - filters, tests and functions ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/Unicode.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

using namespace tenon::text;
using namespace tenon::text::jinja;

using Filter = Value (*)(Interpreter &, const Value &, const Arguments &);

//===----------------------------------------------------------------------===//
// Filters of texts
//===----------------------------------------------------------------------===//

/// Returns the value as text, for text filters.
static std::string takeText(Interpreter &interpreter, const Value &value) {
  std::string text = toText(value);
  return interpreter.spend(text.size()) ? text : "";
}

/// Calls a method of the text that a value is.
template <const char *const &name>
static Value callTextMethod(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  return callMethod(interpreter, takeText(interpreter, value), name, arguments).value_or(Value());
}

static constexpr const char *kStrip = "strip", *kLower = "lower", *kUpper = "upper", *kCapitalize = "capitalize",
                            *kReplace = "replace";

static Value toJsonFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  const Value *indent = arguments.get(0, "indent");
  int spaces = indent && indent->isInteger() ? static_cast<int>(std::clamp<int64_t>(indent->toInteger(), 0, 16)) : -1;
  for (const auto &[name, ignored] : arguments.named)
    if (name != "indent" && name != "ensure_ascii")
      interpreter.fail("tojson: the argument '" + name + "' is not supported", TENON_UNSUPPORTED);
  if (value.isUndefined())
    interpreter.fail("'" + value.getUndefinedName() + "' is undefined");
  std::string text = toJsonText(value, spaces);
  return interpreter.spend(text.size()) ? Value(std::move(text)) : Value();
}

static Value indentFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  const Value *width = arguments.get(0, "width"), *first = arguments.get(1, "first"),
              *blank = arguments.get(2, "blank");
  std::string spaces =
      width && width->asString()
          ? *width->asString()
          : std::string(static_cast<size_t>(std::clamp<int64_t>(width ? width->toInteger() : 4, 0, 256)), ' ');
  std::string text = takeText(interpreter, value), indented;
  size_t lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  if (!interpreter.spend(text.size() + lines * spaces.size()))
    return {};
  for (size_t begin = 0, i = 0; i < lines; ++i) {
    size_t end = std::min(text.find('\n', begin), text.size());
    bool isIndented = i == 0 ? first && first->isTrue() : end > begin || (blank && blank->isTrue());
    indented += (i == 0 ? "" : "\n") + (isIndented ? spaces : "") + text.substr(begin, end - begin);
    begin = end + 1;
  }
  return indented;
}

static Value escapeFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  std::string escaped;
  for (char c : takeText(interpreter, value))
    escaped += c == '&'    ? "&amp;"
               : c == '<'  ? "&lt;"
               : c == '>'  ? "&gt;"
               : c == '\'' ? "&#39;"
               : c == '"'  ? "&#34;"
                           : std::string(1, c);
  return interpreter.spend(escaped.size()) ? Value(std::move(escaped)) : Value();
}

/// Capitalizes letters after spaces, hyphens and opening brackets, unlike the method of the same name.
static Value titleFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  std::u32string characters;
  std::string title;
  decodeUtf8(takeText(interpreter, value), characters);
  bool isBegin = true;
  for (char32_t c : characters) {
    Value letter = toUtf8(std::u32string_view(&c, 1));
    title += *callMethod(interpreter, letter, isBegin ? "upper" : "lower", {}).value_or(letter).asString();
    isBegin = isWhitespace(c) || std::u32string_view(U"-({[<").find(c) != std::u32string_view::npos;
  }
  return title;
}

static Value stringFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  return takeText(interpreter, value);
}

//===----------------------------------------------------------------------===//
// Filters of lists
//===----------------------------------------------------------------------===//

/// Returns the elements of a list or string, or the keys of a dict. Fails for other values.
static List takeElements(Interpreter &interpreter, const Value &value) {
  List elements;
  if (const List *list = value.asList()) {
    elements = *list;
  } else if (const Dict *dict = value.asDict()) {
    for (const auto &[key, ignored] : dict->entries)
      elements.emplace_back(key);
  } else if (const std::string *string = value.asString()) {
    std::u32string characters;
    decodeUtf8(*string, characters);
    if (interpreter.spend(characters.size() * sizeof(Value)))
      for (char32_t c : characters)
        elements.emplace_back(toUtf8(std::u32string_view(&c, 1)));
  } else if (!value.isUndefined()) {
    interpreter.fail(std::string("expected a list, found ") + value.getKind());
  }
  interpreter.spend(elements.size() * sizeof(Value));
  return elements;
}

static Value lengthFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  if (const List *list = value.asList())
    return static_cast<int64_t>(list->size());
  return static_cast<int64_t>(takeElements(interpreter, value).size());
}

static Value listFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  return takeElements(interpreter, value);
}

static Value firstFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  List elements = takeElements(interpreter, value);
  return elements.empty() ? Value::makeUndefined("'first' of an empty list") : elements.front();
}

static Value lastFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  List elements = takeElements(interpreter, value);
  return elements.empty() ? Value::makeUndefined("'last' of an empty list") : elements.back();
}

/// The value of a path like "function.name".
static Value getPath(Interpreter &interpreter, Value value, const std::string &path) {
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    int64_t index = 0;
    bool isIndex = std::from_chars(part.data(), part.data() + part.size(), index).ptr == part.data() + part.size() &&
                   !part.empty();
    value = interpreter.getItem(value, isIndex ? Value(index) : Value(part));
    begin = end + 1;
  }
  return value;
}

static std::string takeName(const Arguments &arguments, size_t index, const char *name) {
  const Value *value = arguments.get(index, name);
  return value && value->asString() ? *value->asString() : "";
}

static Value joinFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  std::string separator = takeName(arguments, 0, "d"), attribute = takeName(arguments, 1, "attribute"), text;
  bool isFirst = true;
  for (const Value &element : takeElements(interpreter, value)) {
    std::string part = toText(attribute.empty() ? element : getPath(interpreter, element, attribute));
    if (!interpreter.spend(part.size() + separator.size()))
      return {};
    text += (isFirst ? "" : separator) + part;
    isFirst = false;
  }
  return text;
}

static Value reverseFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  List elements = takeElements(interpreter, value);
  std::reverse(elements.begin(), elements.end());
  if (!value.asString())
    return elements;
  std::string text;
  for (const Value &element : elements)
    text += *element.asString();
  return text;
}

/// Returns the key by which texts are compared case-insensitively.
static Value foldCase(const Value &value, bool isFolded) {
  std::u32string characters, folded;
  if (!isFolded || !value.asString() || decodeUtf8(*value.asString(), characters))
    return value;
  for (char32_t c : characters)
    appendLowercase(c, folded);
  return toUtf8(folded);
}

static bool isSet(const Arguments &arguments, size_t index, const char *name) {
  const Value *value = arguments.get(index, name);
  return value && value->isTrue();
}

static Value sortFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  bool isReversed = isSet(arguments, 0, "reverse"), isFolded = !isSet(arguments, 1, "case_sensitive");
  std::string attribute = takeName(arguments, 2, "attribute");
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value &element : takeElements(interpreter, value))
    keyed.emplace_back(foldCase(attribute.empty() ? element : getPath(interpreter, element, attribute), isFolded),
                       element);
  // Insertion into a sorted list: if a comparison fails in between, the library's sort would be undefined.
  std::vector<std::pair<Value, Value>> sorted;
  for (auto &entry : keyed) {
    auto place = std::upper_bound(sorted.begin(), sorted.end(), entry, [&](const auto &a, const auto &b) {
      int order = interpreter.compare(a.first, b.first);
      return isReversed ? order > 0 : order < 0;
    });
    sorted.insert(place, std::move(entry));
    if (interpreter.hasFailed())
      return {};
  }
  List elements;
  for (auto &[key, element] : sorted)
    elements.push_back(std::move(element));
  return elements;
}

static Value itemsFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  if (value.isUndefined())
    return List();
  std::optional<Value> items = value.asDict() ? callMethod(interpreter, value, "items", {}) : std::nullopt;
  if (!items)
    interpreter.fail("'items' and 'dictsort' need a dict");
  return items.value_or(Value());
}

static Value dictSortFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  Arguments sorting;
  sorting.named = {{"attribute", Value(takeName(arguments, 1, "by") == "value" ? "1" : "0")},
                   {"case_sensitive", Value(isSet(arguments, 0, "case_sensitive"))},
                   {"reverse", Value(isSet(arguments, 2, "reverse"))}};
  return sortFilter(interpreter, itemsFilter(interpreter, value, arguments), sorting);
}

static Value uniqueFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  List unique;
  for (const Value &element : takeElements(interpreter, value)) {
    Value key = foldCase(element, true);
    bool isKnown = std::any_of(unique.begin(), unique.end(),
                               [&](const Value &each) { return interpreter.areEqual(foldCase(each, true), key); });
    if (!isKnown)
      unique.push_back(element);
  }
  return unique;
}

/// Returns the arguments after the name of a filter or test that `map`, `select` and others apply.
static Arguments takeRest(const Arguments &arguments, size_t count) {
  Arguments rest;
  for (size_t i = count; i < arguments.positional.size(); ++i)
    rest.positional.push_back(arguments.positional[i]);
  rest.named = arguments.named;
  return rest;
}

static Value mapFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  List mapped;
  const Value *attribute = arguments.get(SIZE_MAX, "attribute"), *otherwise = arguments.get(SIZE_MAX, "default");
  for (const Value &element : takeElements(interpreter, value)) {
    if (interpreter.hasFailed())
      return {};
    if (!attribute) {
      mapped.push_back(applyFilter(interpreter, takeName(arguments, 0, ""), element, takeRest(arguments, 1)));
      continue;
    }
    Value field = getPath(interpreter, element, toText(*attribute));
    mapped.push_back(field.isUndefined() && otherwise ? *otherwise : field);
  }
  return mapped;
}

static Value select(Interpreter &interpreter, const Value &value, const Arguments &arguments, bool hasAttribute,
                    bool isWanted) {
  size_t nameAt = hasAttribute ? 1 : 0;
  std::string attribute = hasAttribute ? takeName(arguments, 0, "") : "", test = takeName(arguments, nameAt, "");
  List selected;
  for (const Value &element : takeElements(interpreter, value)) {
    if (interpreter.hasFailed())
      return {};
    Value tested = hasAttribute ? getPath(interpreter, element, attribute) : element;
    bool isTrue =
        test.empty() ? tested.isTrue() : applyTest(interpreter, test, tested, takeRest(arguments, nameAt + 1));
    if (isTrue == isWanted)
      selected.push_back(element);
  }
  return selected;
}

template <bool hasAttribute, bool isWanted>
static Value selectFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  return select(interpreter, value, arguments, hasAttribute, isWanted);
}

static Value sumFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  std::string attribute = takeName(arguments, 0, "attribute");
  double sum = 0;
  bool isInteger = true;
  for (const Value &element : takeElements(interpreter, value)) {
    Value number = attribute.empty() ? element : getPath(interpreter, element, attribute);
    if (!number.isNumber())
      interpreter.fail("'sum' needs numbers");
    isInteger = isInteger && number.isInteger();
    sum += number.toDouble();
  }
  return isInteger ? Value(static_cast<int64_t>(sum)) : Value(sum);
}

template <int sign> static Value extremeFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  Value best = Value::makeUndefined("an element of an undefined value");
  for (const Value &element : takeElements(interpreter, value))
    if (best.isUndefined() || interpreter.compare(foldCase(element, true), foldCase(best, true)) * sign > 0)
      best = element;
  return best;
}

//===----------------------------------------------------------------------===//
// Other filters
//===----------------------------------------------------------------------===//

static Value defaultFilter(Interpreter &, const Value &value, const Arguments &arguments) {
  const Value *otherwise = arguments.get(0, "default_value");
  bool isReplaced = value.isUndefined() || (isSet(arguments, 1, "boolean") && !value.isTrue());
  return !isReplaced ? value : otherwise ? *otherwise : Value("");
}

/// Parses the number in a value or text; none if it is not a number.
static std::optional<double> parseNumber(const Value &value) {
  if (value.isNumber())
    return value.toDouble();
  double number = 0;
  const std::string *text = value.asString();
  if (!text || text->empty())
    return std::nullopt;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(number) : std::nullopt;
}

static Value intFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  if (value.isUndefined())
    interpreter.fail("'" + value.getUndefinedName() + "' is undefined");
  const Value *otherwise = arguments.get(0, "default");
  if (value.isInteger())
    return value.toInteger();
  std::optional<double> number = parseNumber(value);
  constexpr double kMax = 9007199254740992; // math: 2^53
  if (number && std::fabs(*number) <= kMax)
    return static_cast<int64_t>(*number);
  return otherwise ? *otherwise : Value(int64_t(0));
}

static Value floatFilter(Interpreter &interpreter, const Value &value, const Arguments &arguments) {
  if (value.isUndefined())
    interpreter.fail("'" + value.getUndefinedName() + "' is undefined");
  const Value *otherwise = arguments.get(0, "default");
  std::optional<double> number = parseNumber(value);
  return number ? Value(*number) : otherwise ? *otherwise : Value(0.0);
}

static Value absFilter(Interpreter &interpreter, const Value &value, const Arguments &) {
  if (!value.isNumber() || (value.isInteger() && value.toInteger() == INT64_MIN))
    interpreter.fail("'abs' needs a number");
  return value.isInteger() && !interpreter.hasFailed() ? Value(std::abs(value.toInteger()))
                                                       : Value(std::fabs(value.toDouble()));
}

static Value sameFilter(Interpreter &, const Value &value, const Arguments &) { return value; }

static constexpr struct {
  const char *name;
  Filter apply;
} kFilters[] = {{"abs", absFilter},
                {"capitalize", callTextMethod<kCapitalize>},
                {"count", lengthFilter},
                {"d", defaultFilter},
                {"default", defaultFilter},
                {"dictsort", dictSortFilter},
                {"e", escapeFilter},
                {"escape", escapeFilter},
                {"first", firstFilter},
                {"float", floatFilter},
                {"indent", indentFilter},
                {"int", intFilter},
                {"items", itemsFilter},
                {"join", joinFilter},
                {"last", lastFilter},
                {"length", lengthFilter},
                {"list", listFilter},
                {"lower", callTextMethod<kLower>},
                {"map", mapFilter},
                {"max", extremeFilter<1>},
                {"min", extremeFilter<-1>},
                {"reject", selectFilter<false, false>},
                {"rejectattr", selectFilter<true, false>},
                {"replace", callTextMethod<kReplace>},
                {"reverse", reverseFilter},
                {"safe", sameFilter},
                {"select", selectFilter<false, true>},
                {"selectattr", selectFilter<true, true>},
                {"sort", sortFilter},
                {"string", stringFilter},
                {"sum", sumFilter},
                {"title", titleFilter},
                {"tojson", toJsonFilter},
                {"trim", callTextMethod<kStrip>},
                {"unique", uniqueFilter},
                {"upper", callTextMethod<kUpper>}};

Value jinja::applyFilter(Interpreter &interpreter, const std::string &name, const Value &value,
                         const Arguments &arguments) {
  if (interpreter.hasFailed())
    return {};
  for (const auto &[known, apply] : kFilters)
    if (name == known)
      return apply(interpreter, value, arguments);
  interpreter.fail("the filter '" + name + "' is not supported", TENON_UNSUPPORTED);
  return {};
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

bool jinja::applyTest(Interpreter &interpreter, const std::string &name, const Value &value,
                      const Arguments &arguments) {
  using Test = bool (*)(Interpreter &, const Value &, const Value &);
  static constexpr struct {
    const char *name;
    Test test;
  } kTests[] = {
      {"defined", [](Interpreter &, const Value &v, const Value &) { return !v.isUndefined(); }},
      {"undefined", [](Interpreter &, const Value &v, const Value &) { return v.isUndefined(); }},
      {"none", [](Interpreter &, const Value &v, const Value &) { return v.isNone(); }},
      {"boolean", [](Interpreter &, const Value &v, const Value &) { return v.asBool() != nullptr; }},
      {"true", [](Interpreter &, const Value &v, const Value &) { return v.asBool() && *v.asBool(); }},
      {"false", [](Interpreter &, const Value &v, const Value &) { return v.asBool() && !*v.asBool(); }},
      {"string", [](Interpreter &, const Value &v, const Value &) { return v.asString() != nullptr; }},
      {"number", [](Interpreter &, const Value &v, const Value &) { return v.isNumber(); }},
      {"integer", [](Interpreter &, const Value &v, const Value &) { return v.isInteger() && !v.asBool(); }},
      {"float", [](Interpreter &, const Value &v, const Value &) { return v.asDouble() != nullptr; }},
      {"mapping", [](Interpreter &, const Value &v, const Value &) { return v.asDict() && !v.asDict()->isNamespace; }},
      {"callable", [](Interpreter &, const Value &v, const Value &) { return v.asFunction() != nullptr; }},
      {"iterable", [](Interpreter &, const Value &v,
                      const Value &) { return v.asList() || v.asDict() || v.asString() || v.isUndefined(); }},
      {"sequence", [](Interpreter &, const Value &v,
                      const Value &) { return v.asList() || v.asDict() || v.asString() || v.isUndefined(); }},
      {"odd", [](Interpreter &, const Value &v, const Value &) { return v.toInteger() % 2 != 0; }},
      {"even", [](Interpreter &, const Value &v, const Value &) { return v.toInteger() % 2 == 0; }},
      {"divisibleby", [](Interpreter &, const Value &v,
                         const Value &n) { return n.toInteger() > 0 && v.toInteger() % n.toInteger() == 0; }},
      {"eq", [](Interpreter &i, const Value &v, const Value &w) { return i.areEqual(v, w); }},
      {"equalto", [](Interpreter &i, const Value &v, const Value &w) { return i.areEqual(v, w); }},
      {"==", [](Interpreter &i, const Value &v, const Value &w) { return i.areEqual(v, w); }},
      {"ne", [](Interpreter &i, const Value &v, const Value &w) { return !i.areEqual(v, w); }},
      {"!=", [](Interpreter &i, const Value &v, const Value &w) { return !i.areEqual(v, w); }},
      {"gt", [](Interpreter &i, const Value &v, const Value &w) { return i.compare(v, w) > 0; }},
      {"ge", [](Interpreter &i, const Value &v, const Value &w) { return i.compare(v, w) >= 0; }},
      {"lt", [](Interpreter &i, const Value &v, const Value &w) { return i.compare(v, w) < 0; }},
      {"le", [](Interpreter &i, const Value &v, const Value &w) { return i.compare(v, w) <= 0; }},
      {"in", [](Interpreter &i, const Value &v, const Value &w) { return i.contains(w, v); }},
      {"lower",
       [](Interpreter &i, const Value &v, const Value &) { return i.areEqual(v, applyFilter(i, "lower", v, {})); }},
      {"upper",
       [](Interpreter &i, const Value &v, const Value &) { return i.areEqual(v, applyFilter(i, "upper", v, {})); }}};
  const Value *argument = arguments.get(0, "");
  for (const auto &[known, test] : kTests)
    if (name == known)
      return test(interpreter, value, argument ? *argument : Value());
  interpreter.fail("the test '" + name + "' is not supported", TENON_UNSUPPORTED);
  return false;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Value makeRange(Interpreter &interpreter, const Arguments &arguments) {
  constexpr uint64_t kMaxElements = 100'000; // limit: of Jinja's sandbox, too
  const List &given = arguments.positional;
  if (given.empty() || given.size() > 3 ||
      !std::all_of(given.begin(), given.end(), [](const Value &v) { return v.isInteger(); })) {
    interpreter.fail("range takes one to three integers");
    return {};
  }
  int64_t begin = given.size() > 1 ? given[0].toInteger() : 0, end = given[given.size() > 1 ? 1 : 0].toInteger();
  int64_t step = given.size() > 2 ? given[2].toInteger() : 1;
  List elements;
  if (step == 0)
    interpreter.fail("the step of a range is 0");
  while (!interpreter.hasFailed() && (step > 0 ? begin < end : begin > end)) {
    elements.emplace_back(begin);
    if (elements.size() > kMaxElements)
      interpreter.fail("a range has more than 100000 elements", TENON_RESOURCES);
    if (__builtin_add_overflow(begin, step, &begin))
      break;
  }
  return interpreter.spend(elements.size() * sizeof(Value)) ? Value(std::move(elements)) : Value();
}

template <bool isNamespace> static Value makeDict(Interpreter &interpreter, const Arguments &arguments) {
  auto dict = std::make_shared<Dict>();
  dict->isNamespace = isNamespace;
  for (const Value &value : arguments.positional)
    if (const Dict *other = value.asDict())
      for (const auto &[key, element] : other->entries)
        dict->set(key, element);
  for (const auto &[key, value] : arguments.named)
    dict->set(key, value);
  return interpreter.spend(dict->entries.size() * sizeof(Value)) ? Value(std::move(dict)) : Value();
}

static Value raiseException(Interpreter &interpreter, const Arguments &arguments) {
  const Value *message = arguments.get(0, "message");
  interpreter.fail("the template says: " + (message ? toText(*message) : ""));
  return {};
}

static Value formatNow(Interpreter &interpreter, const Arguments &arguments) {
  const Value *format = arguments.get(0, "format");
  std::time_t now = std::time(nullptr);
  std::tm local;
  char text[256] = "";
  if (!format || !format->asString() || !localtime_r(&now, &local) ||
      (!format->asString()->empty() && std::strftime(text, sizeof text, format->asString()->c_str(), &local) == 0))
    interpreter.fail("strftime_now takes a format, of which at most 255 bytes become");
  return text;
}

void jinja::addFunctions(std::map<std::string, Value> &scope) {
  scope["range"] = Value(Function(makeRange));
  scope["namespace"] = Value(Function(makeDict<true>));
  scope["dict"] = Value(Function(makeDict<false>));
  scope["raise_exception"] = Value(Function(raiseException));
  scope["strftime_now"] = Value(Function(formatNow));
}
