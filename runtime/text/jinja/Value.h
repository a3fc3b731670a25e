//===- Value.h - values of templates --------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_JINJA_VALUE_H
#define TENON_RUNTIME_TEXT_JINJA_VALUE_H

#include "runtime/text/Json.h"

#include <functional>
#include <map>
#include <memory>
#include <variant>
#include <vector>

namespace tenon::text::jinja {

class Value;
class Interpreter;

using List = std::vector<Value>;

/// Arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  /// Returns the argument at `index`, or with this name; null if there is none.
  const Value *get(size_t index, const char *name) const;
};

using Function = std::function<Value(Interpreter &, const Arguments &)>;

/// Entries in the order in which they were added.
struct Dict {
  std::vector<std::pair<std::string, Value>> entries;
  bool isNamespace = false; ///< its entries may be set

  const Value *find(const std::string &key) const;
  void set(const std::string &key, Value value);

private:
  std::map<std::string, size_t> index;
};

/// A list, or a tuple, which is printed with other brackets.
struct Elements {
  List list;
  bool isTuple = false;
};

/// The value of an expression. Copies share strings, lists and dicts, which are immutable except for namespaces.
class Value {
public:
  struct Undefined {
    std::string name;
  };
  struct None {};

  Value() : content(Undefined{}) {}
  Value(None none) : content(none) {}
  Value(bool value) : content(value) {}
  Value(int64_t value) : content(value) {}
  Value(double value) : content(value) {}
  Value(std::string text) : content(std::make_shared<const std::string>(std::move(text))) {}
  Value(const char *text) : Value(std::string(text)) {}
  Value(List list, bool isTuple = false)
      : content(std::make_shared<const Elements>(Elements{std::move(list), isTuple})) {}
  Value(std::shared_ptr<Dict> dict) : content(std::move(dict)) {}
  Value(Function function) : content(std::make_shared<const Function>(std::move(function))) {}
  static Value makeUndefined(std::string name) {
    Value value;
    value.content = Undefined{std::move(name)};
    return value;
  }

  bool isUndefined() const { return std::holds_alternative<Undefined>(content); }
  bool isNone() const { return std::holds_alternative<None>(content); }
  bool isString() const { return get<std::shared_ptr<const std::string>>() != nullptr; }
  /// An integer or a boolean.
  bool isInteger() const { return get<int64_t>() || get<bool>(); }
  bool isNumber() const { return isInteger() || get<double>(); }
  const bool *asBool() const { return get<bool>(); }
  const double *asDouble() const { return get<double>(); }
  int64_t toInteger() const { return get<bool>() ? *get<bool>() : get<int64_t>() ? *get<int64_t>() : 0; }
  double toDouble() const { return get<double>() ? *get<double>() : static_cast<double>(toInteger()); }
  /// Null where it is something else.
  const std::string *asString() const { return getShared<const std::string>(); }
  const List *asList() const {
    const auto *elements = getShared<const Elements>();
    return elements ? &elements->list : nullptr;
  }
  bool isTuple() const {
    const auto *elements = getShared<const Elements>();
    return elements && elements->isTuple;
  }
  Dict *asDict() const { return getShared<Dict>(); }
  const Function *asFunction() const { return getShared<const Function>(); }
  const std::string &getUndefinedName() const { return get<Undefined>()->name; }

  bool isTrue() const;
  /// "list", "string"..., for messages.
  const char *getKind() const;

private:
  template <typename T> const T *get() const { return std::get_if<T>(&content); }
  template <typename T> T *getShared() const {
    const auto *shared = get<std::shared_ptr<T>>();
    return shared ? shared->get() : nullptr;
  }

  std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const std::string>,
               std::shared_ptr<const Elements>, std::shared_ptr<Dict>, std::shared_ptr<const Function>>
      content;
};

/// Parses JSON, and keeps the order of keys. Fails as parseJson does.
Status parseValue(std::string_view json, Value &value);

/// As Python's str() prints it.
std::string toText(const Value &value);
/// Formats a value like Python's json.dumps, without escapes for non-ASCII characters. A negative `indent` means a
/// single line.
std::string toJsonText(const Value &value, int indent);

} // namespace tenon::text::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_VALUE_H
