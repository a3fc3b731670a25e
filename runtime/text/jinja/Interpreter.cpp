//===- Interpreter.cpp - templates, run -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/jinja/Interpreter.h"
#include "runtime/text/Unicode.h"
#include "runtime/text/jinja/Builtins.h"

#include <algorithm>
#include <cmath>

using namespace tenon::text;
using namespace tenon::text::jinja;

// limit: for hostile templates; those of real models take some thousand steps.
static constexpr size_t kMaxSteps = 5'000'000, kMaxBytes = 64 << 20, kMaxDepth = 60;

Interpreter::Interpreter(const Dict &variables) {
  addFunctions(scopes.emplace_back());
  for (const auto &[name, value] : variables.entries)
    scopes.front()[name] = value;
}

void Interpreter::fail(const std::string &what, tenon_status code) {
  if (!status.failed())
    status = Status::make(code, "line %d: %s", line, what.c_str());
}

bool Interpreter::spend(size_t count) {
  bytes += std::min(count, kMaxBytes + 1);
  if (bytes > kMaxBytes)
    fail("the template makes more than " + std::to_string(kMaxBytes >> 20) + " MiB of text", TENON_RESOURCES);
  return !status.failed();
}

Status Interpreter::run(const Node &root, std::string &text) {
  text.clear();
  if (execute(root, text) != Leave::no)
    fail("'break' and 'continue' are outside of a loop");
  return std::move(status);
}

const Value *Interpreter::find(const std::string &name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto it = scope->find(name); it != scope->end())
      return &it->second;
  return nullptr;
}

/// Fails where a value is undefined that is needed.
bool Interpreter::isDefined(const Value &value) {
  if (value.isUndefined())
    fail("'" + value.getUndefinedName() + "' is undefined");
  return !value.isUndefined();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Interpreter::Leave Interpreter::executeBlock(const Node &block, std::string &text) {
  for (const auto &child : block.children) {
    if (Leave leave = execute(*child, text); leave != Leave::no)
      return leave;
    if (hasFailed())
      break;
  }
  return Leave::no;
}

Interpreter::Leave Interpreter::execute(const Node &node, std::string &text) {
  line = node.line;
  if (++steps > kMaxSteps)
    fail("the template takes too many steps", TENON_RESOURCES);
  switch (node.kind) {
  case Node::Kind::text:
    if (spend(node.name.size()))
      text += node.name;
    return Leave::no;
  case Node::Kind::print: {
    std::string printed = toText(evaluate(*node.children[0]));
    if (spend(printed.size()))
      text += printed;
    return Leave::no;
  }
  case Node::Kind::block:
    return executeBlock(node, text);
  case Node::Kind::forLoop:
    return executeFor(node, text);
  case Node::Kind::ifElse: {
    bool isTrue = evaluate(*node.children[0]).isTrue();
    const auto &branch = node.children[isTrue ? 1 : 2];
    return branch && !hasFailed() ? execute(*branch, text) : Leave::no;
  }
  case Node::Kind::set:
    executeSet(node);
    return Leave::no;
  case Node::Kind::setBlock: {
    std::string captured;
    Leave leave = execute(*node.children[0], captured);
    scopes.back()[node.name] = Value(std::move(captured));
    return leave;
  }
  case Node::Kind::macro:
    defineMacro(node);
    return Leave::no;
  case Node::Kind::breakLoop:
    return Leave::breakLoop;
  case Node::Kind::continueLoop:
    return Leave::continueLoop;
  default:
    evaluate(node);
    return Leave::no;
  }
}

void Interpreter::executeSet(const Node &node) {
  Value value = evaluate(*node.children[0]);
  if (hasFailed())
    return;
  if (node.name != "field")
    return bindTargets(node.names, value);
  const Value *object = find(node.names[0]);
  Dict *dict = object ? object->asDict() : nullptr;
  if (!dict || !dict->isNamespace)
    return fail("'" + node.names[0] + "' is not a namespace, and only fields of namespaces can be set");
  dict->set(node.names[1], std::move(value));
}

void Interpreter::bindTargets(const std::vector<std::string> &names, const Value &value) {
  if (names.size() == 1) {
    scopes.back()[names[0]] = value;
    return;
  }
  const List *list = value.asList();
  if (!list || list->size() != names.size())
    return fail("expected " + std::to_string(names.size()) + " values, found " +
                (list ? std::to_string(list->size()) : value.getKind()));
  for (size_t i = 0; i < names.size(); ++i)
    scopes.back()[names[i]] = (*list)[i];
}

/// Returns the elements that a loop iterates over. Returns false if a value is not iterable.
bool Interpreter::toElements(const Value &value, List &elements) {
  if (const List *list = value.asList()) {
    elements = *list;
  } else if (const Dict *dict = value.asDict()) {
    for (const auto &[key, ignored] : dict->entries)
      elements.emplace_back(key);
  } else if (const std::string *string = value.asString()) {
    std::u32string characters;
    decodeUtf8(*string, characters);
    if (spend(characters.size() * sizeof(Value)))
      for (char32_t c : characters)
        elements.emplace_back(toUtf8(std::u32string_view(&c, 1)));
  } else if (!value.isUndefined()) {
    fail(std::string("expected a list, found ") + value.getKind());
    return false;
  }
  return spend(elements.size() * sizeof(Value));
}

/// The variable `loop` of one iteration.
static Value makeLoop(const List &elements, size_t i, size_t depth) {
  auto loop = std::make_shared<Dict>();
  auto count = static_cast<int64_t>(elements.size()), index = static_cast<int64_t>(i);
  loop->set("index", index + 1);
  loop->set("index0", index);
  loop->set("revindex", count - index);
  loop->set("revindex0", count - index - 1);
  loop->set("first", i == 0);
  loop->set("last", i + 1 == elements.size());
  loop->set("length", count);
  loop->set("depth", static_cast<int64_t>(depth));
  loop->set("depth0", static_cast<int64_t>(depth) - 1);
  loop->set("previtem", i > 0 ? elements[i - 1] : Value::makeUndefined("there is no previous item"));
  loop->set("nextitem", i + 1 < elements.size() ? elements[i + 1] : Value::makeUndefined("there is no next item"));
  loop->set("cycle", Value(Function([i](Interpreter &, const Arguments &arguments) {
              const List &values = arguments.positional;
              return values.empty() ? Value() : values[i % values.size()];
            })));
  return loop;
}

Interpreter::Leave Interpreter::executeFor(const Node &node, std::string &text) {
  List all, elements;
  if (!toElements(evaluate(*node.children[0]), all))
    return Leave::no;
  if (++depth > kMaxDepth)
    fail("loops and macros nest too deep", TENON_RESOURCES);
  scopes.emplace_back();
  for (const Value &element : all) {
    if (node.children[1]) {
      bindTargets(node.names, element);
      if (!evaluate(*node.children[1]).isTrue())
        continue;
    }
    elements.push_back(element);
  }
  Leave leave = Leave::no;
  for (size_t i = 0; i < elements.size() && leave != Leave::breakLoop && !hasFailed(); ++i) {
    scopes.back().clear();
    bindTargets(node.names, elements[i]);
    scopes.back()["loop"] = makeLoop(elements, i, 1);
    leave = execute(*node.children[2], text);
  }
  scopes.pop_back();
  --depth;
  if (elements.empty() && node.children[3] && !hasFailed())
    return execute(*node.children[3], text);
  return Leave::no;
}

void Interpreter::defineMacro(const Node &node) {
  // A macro sees the variables of the template, not those of its caller.
  scopes.back()[node.name] = Value(Function([this, &node](Interpreter &, const Arguments &arguments) -> Value {
    if (++depth > kMaxDepth) {
      fail("loops and macros nest too deep", TENON_RESOURCES);
      --depth;
      return {};
    }
    if (arguments.positional.size() > node.names.size())
      fail("macro '" + node.name + "' takes no more than " + std::to_string(node.names.size()) + " arguments");
    std::vector<Scope> callers(std::make_move_iterator(scopes.begin() + 1), std::make_move_iterator(scopes.end()));
    scopes.resize(1);
    scopes.emplace_back();
    for (size_t i = 0; i < node.names.size(); ++i) {
      const Value *given = arguments.get(i, node.names[i].c_str());
      const auto &otherwise = node.children[i + 1];
      Value value = given       ? *given
                    : otherwise ? evaluate(*otherwise)
                                : Value::makeUndefined("parameter '" + node.names[i] + "' was not provided");
      scopes.back()[node.names[i]] = std::move(value);
    }
    std::string text;
    execute(*node.children[0], text);
    scopes.resize(1);
    std::move(callers.begin(), callers.end(), std::back_inserter(scopes));
    --depth;
    return Value(std::move(text));
  }));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Value Interpreter::evaluate(const Node &node) {
  if (++steps > kMaxSteps)
    fail("the template takes too many steps", TENON_RESOURCES);
  if (hasFailed())
    return {};
  constexpr size_t kMaxExpressions = 1000; // limit: of the stack
  if (++expressionDepth > kMaxExpressions)
    fail("expressions nest too deep", TENON_RESOURCES);
  Value value = hasFailed() ? Value() : evaluateKind(node);
  --expressionDepth;
  return value;
}

Value Interpreter::evaluateKind(const Node &node) {
  auto child = [&](size_t i) { return evaluate(*node.children[i]); };
  switch (node.kind) {
  case Node::Kind::constant:
    return node.value;
  case Node::Kind::variable:
    return evaluateVariable(node);
  case Node::Kind::list: {
    List list;
    for (const auto &element : node.children)
      list.push_back(evaluate(*element));
    return spend(list.size() * sizeof(Value)) ? Value(std::move(list), node.name == "tuple") : Value();
  }
  case Node::Kind::dict:
    return evaluateDict(node);
  case Node::Kind::attribute:
    return evaluateAttribute(node);
  case Node::Kind::subscript: {
    Value object = child(0);
    return isDefined(object) ? getItem(object, child(1)) : Value();
  }
  case Node::Kind::slice:
    return evaluateSlice(node);
  case Node::Kind::call:
    return evaluateCall(node);
  case Node::Kind::filter: {
    Value value = child(0);
    return applyFilter(*this, node.name, value, evaluateArguments(node));
  }
  case Node::Kind::test: {
    Value value = child(0);
    return applyTest(*this, node.name, value, evaluateArguments(node));
  }
  case Node::Kind::unary:
    return evaluateUnary(node);
  case Node::Kind::binary:
    return evaluateBinary(node);
  case Node::Kind::andOr: {
    Value left = child(0);
    return left.isTrue() == (node.name == "or") ? left : child(1);
  }
  case Node::Kind::conditional:
    if (child(0).isTrue())
      return child(1);
    return node.children[2] ? child(2) : Value::makeUndefined("an 'if' without 'else' has no value here");
  default:
    return {};
  }
}

Value Interpreter::evaluateVariable(const Node &node) {
  const Value *value = find(node.name);
  return value ? *value : Value::makeUndefined(node.name);
}

Value Interpreter::evaluateDict(const Node &node) {
  auto dict = std::make_shared<Dict>();
  for (size_t i = 0; i < node.children.size(); i += 2) {
    Value key = evaluate(*node.children[i]);
    if (!key.asString()) {
      fail("keys of dicts have to be strings");
      return {};
    }
    dict->set(*key.asString(), evaluate(*node.children[i + 1]));
  }
  return spend(dict->entries.size() * sizeof(Value)) ? Value(std::move(dict)) : Value();
}

Value Interpreter::evaluateAttribute(const Node &node) {
  Value object = evaluate(*node.children[0]);
  if (!isDefined(object))
    return {};
  const Value *field = object.asDict() ? object.asDict()->find(node.name) : nullptr;
  return field ? *field : Value::makeUndefined(node.name);
}

/// Returns the position of an index, where negative ones count from the end; none if it is out of range.
static std::optional<size_t> findPosition(int64_t index, size_t size) {
  auto count = static_cast<int64_t>(size);
  if (index < 0)
    index += count;
  return index >= 0 && index < count ? std::optional(static_cast<size_t>(index)) : std::nullopt;
}

Value Interpreter::getItem(const Value &object, const Value &key) {
  if (const Dict *dict = object.asDict()) {
    const Value *field = key.asString() ? dict->find(*key.asString()) : nullptr;
    return field ? *field : Value::makeUndefined(toText(key));
  }
  if (!key.isInteger())
    return Value::makeUndefined(toText(key));
  if (const List *list = object.asList()) {
    std::optional<size_t> position = findPosition(key.toInteger(), list->size());
    return position ? (*list)[*position] : Value::makeUndefined("element " + toText(key));
  }
  if (const std::string *string = object.asString()) {
    std::u32string characters;
    decodeUtf8(*string, characters);
    std::optional<size_t> position = findPosition(key.toInteger(), characters.size());
    if (position)
      return toUtf8(std::u32string_view(characters).substr(*position, 1));
  }
  return Value::makeUndefined("element " + toText(key));
}

/// The elements that Python's x[begin:end:step] has.
template <typename Sequence>
static Sequence slice(const Sequence &all, const Value &begin, const Value &end, int64_t step) {
  auto size = static_cast<int64_t>(all.size());
  auto clamp = [&](const Value &index, int64_t otherwise) {
    if (!index.isInteger())
      return otherwise;
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size, position = index.toInteger();
    position += position < 0 && position >= -size ? size : 0;
    return std::clamp(position < 0 ? low : position, low, high);
  };
  int64_t from = clamp(begin, step < 0 ? size - 1 : 0), to = clamp(end, step < 0 ? -1 : size);
  Sequence part;
  // The distance is compared, because a sum could overflow.
  for (int64_t i = from; step < 0 ? i > to : i < to;) {
    part.push_back(all[static_cast<size_t>(i)]);
    int64_t left = step < 0 ? i - to : to - i;
    if (step == INT64_MIN || std::abs(step) >= left)
      break;
    i += step;
  }
  return part;
}

Value Interpreter::evaluateSlice(const Node &node) {
  Value object = evaluate(*node.children[0]);
  Value parts[3];
  for (size_t i = 0; i < 3; ++i) {
    parts[i] = node.children[i + 1] ? evaluate(*node.children[i + 1]) : Value(Value::None());
    if (!parts[i].isNone() && !parts[i].isInteger())
      fail("bounds of slices have to be integers");
  }
  int64_t step = parts[2].isNone() ? 1 : parts[2].toInteger();
  if (step == 0)
    fail("the step of a slice is 0");
  if (hasFailed() || !isDefined(object))
    return {};
  if (const List *list = object.asList())
    return spend(list->size() * sizeof(Value)) ? Value(slice(*list, parts[0], parts[1], step), object.isTuple())
                                               : Value();
  if (const std::string *string = object.asString()) {
    std::u32string characters;
    decodeUtf8(*string, characters);
    return spend(string->size()) ? Value(toUtf8(slice(characters, parts[0], parts[1], step))) : Value();
  }
  fail(std::string("a value of type ") + object.getKind() + " has no slices");
  return {};
}

Arguments Interpreter::evaluateArguments(const Node &node) {
  Arguments arguments;
  for (size_t i = 0; i < node.names.size(); ++i) {
    Value value = evaluate(*node.children[i + 1]);
    if (node.names[i].empty())
      arguments.positional.push_back(std::move(value));
    else
      arguments.named.emplace_back(node.names[i], std::move(value));
  }
  return arguments;
}

Value Interpreter::call(const Value &function, const Arguments &arguments) {
  if (const Function *callable = function.asFunction())
    return (*callable)(*this, arguments);
  if (isDefined(function))
    fail(std::string("a value of type ") + function.getKind() + " cannot be called");
  return {};
}

Value Interpreter::evaluateCall(const Node &node) {
  const Node &callee = *node.children[0];
  if (callee.kind != Node::Kind::attribute) {
    Value function = evaluate(callee);
    return call(function, evaluateArguments(node));
  }
  Value object = evaluate(*callee.children[0]);
  Arguments arguments = evaluateArguments(node);
  if (hasFailed() || !isDefined(object))
    return {};
  line = node.line;
  if (std::optional<Value> result = callMethod(*this, object, callee.name, arguments))
    return *result;
  const Value *field = object.asDict() ? object.asDict()->find(callee.name) : nullptr;
  if (field)
    return call(*field, arguments);
  fail(std::string("a value of type ") + object.getKind() + " has no method '" + callee.name + "'", TENON_UNSUPPORTED);
  return {};
}

Value Interpreter::evaluateUnary(const Node &node) {
  Value value = evaluate(*node.children[0]);
  if (node.name == "not")
    return !value.isTrue();
  if (!value.isNumber() || (value.isInteger() && value.toInteger() == INT64_MIN)) {
    fail(std::string("a value of type ") + value.getKind() + " has no sign");
    return {};
  }
  if (node.name == "+")
    return value;
  return value.isInteger() ? Value(-value.toInteger()) : Value(-value.toDouble());
}

bool Interpreter::contains(const Value &container, const Value &element) {
  if (const List *list = container.asList())
    return std::any_of(list->begin(), list->end(), [&](const Value &each) { return areEqual(each, element); });
  if (const Dict *dict = container.asDict()) {
    if (element.asDict() || element.asList())
      fail(std::string("a value of type ") + element.getKind() + " is no key of a dict");
    return element.asString() && dict->find(*element.asString());
  }
  if (container.asString() && element.asString())
    return container.asString()->find(*element.asString()) != std::string::npos;
  if (!container.isUndefined())
    fail(std::string("a value of type ") + container.getKind() + " contains nothing");
  return false;
}

bool Interpreter::areEqual(const Value &left, const Value &right) {
  if (++steps > kMaxSteps)
    fail("the template takes too many steps", TENON_RESOURCES);
  if (hasFailed())
    return false;
  if (left.isNumber() && right.isNumber())
    return left.isInteger() && right.isInteger() ? left.toInteger() == right.toInteger()
                                                 : left.toDouble() == right.toDouble();
  if (left.asString() && right.asString())
    return *left.asString() == *right.asString();
  if (left.asList() && right.asList()) {
    const List &a = *left.asList(), &b = *right.asList();
    return left.isTuple() == right.isTuple() && a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [this](const Value &x, const Value &y) { return areEqual(x, y); });
  }
  if (left.asDict() && right.asDict()) {
    const Dict &a = *left.asDict(), &b = *right.asDict();
    return a.entries.size() == b.entries.size() &&
           std::all_of(a.entries.begin(), a.entries.end(), [&](const auto &entry) {
             const Value *theirs = b.find(entry.first);
             return theirs && areEqual(entry.second, *theirs);
           });
  }
  return (left.isNone() && right.isNone()) || (left.isUndefined() && right.isUndefined());
}

int Interpreter::compare(const Value &left, const Value &right) {
  if (left.isInteger() && right.isInteger())
    return left.toInteger() < right.toInteger() ? -1 : left.toInteger() > right.toInteger();
  if (left.isNumber() && right.isNumber())
    return left.toDouble() < right.toDouble() ? -1 : left.toDouble() > right.toDouble();
  if (left.asString() && right.asString())
    return left.asString()->compare(*right.asString());
  if (left.asList() && right.asList() && left.isTuple() == right.isTuple()) {
    const List &a = *left.asList(), &b = *right.asList();
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (!areEqual(a[i], b[i]))
        return hasFailed() ? 0 : compare(a[i], b[i]);
    return a.size() < b.size() ? -1 : a.size() > b.size();
  }
  fail(std::string("values of types ") + left.getKind() + " and " + right.getKind() + " have no order");
  return 0;
}

Value Interpreter::add(const Value &left, const Value &right) {
  if (left.asString() && right.asString())
    return spend(left.asString()->size() + right.asString()->size()) ? Value(*left.asString() + *right.asString())
                                                                     : Value();
  if (left.asList() && right.asList() && left.isTuple() == right.isTuple()) {
    List all = *left.asList();
    all.insert(all.end(), right.asList()->begin(), right.asList()->end());
    return spend(all.size() * sizeof(Value)) ? Value(std::move(all), left.isTuple()) : Value();
  }
  return calculate("+", left, right);
}

/// Floor division and remainder, as in Python.
static std::pair<int64_t, int64_t> divideDown(int64_t a, int64_t b) {
  int64_t quotient = a / b, remainder = a % b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) {
    --quotient;
    remainder += b;
  }
  return {quotient, remainder};
}

Value Interpreter::calculate(const std::string &sign, const Value &left, const Value &right) {
  if (!isDefined(left) || !isDefined(right))
    return {};
  if (!left.isNumber() || !right.isNumber()) {
    fail("'" + sign + "' does not go with values of types " + left.getKind() + " and " + right.getKind());
    return {};
  }
  bool isDivision = sign == "/" || sign == "//" || sign == "%";
  if (isDivision && right.toDouble() == 0) {
    fail("a division by 0");
    return {};
  }
  if (left.isInteger() && right.isInteger() && sign != "/" && sign != "**") {
    int64_t a = left.toInteger(), b = right.toInteger(), result = 0;
    bool overflows = sign == "+"   ? __builtin_add_overflow(a, b, &result)
                     : sign == "-" ? __builtin_sub_overflow(a, b, &result)
                     : sign == "*" ? __builtin_mul_overflow(a, b, &result)
                                   : a == INT64_MIN && b == -1;
    if (overflows)
      fail("an integer does not fit into 64 bits");
    else if (isDivision)
      result = sign == "//" ? divideDown(a, b).first : divideDown(a, b).second;
    return result;
  }
  double a = left.toDouble(), b = right.toDouble();
  if (sign == "**") {
    double power = std::pow(a, b);
    constexpr double kMaxExact = 9007199254740992; // math: 2^53
    bool isExact = left.isInteger() && right.isInteger() && b >= 0;
    if (isExact && std::fabs(power) > kMaxExact)
      fail("an integer does not fit into 53 bits");
    return isExact ? Value(static_cast<int64_t>(power)) : Value(power);
  }
  return sign == "+"    ? a + b
         : sign == "-"  ? a - b
         : sign == "*"  ? a * b
         : sign == "/"  ? a / b
         : sign == "//" ? std::floor(a / b)
                        : a - std::floor(a / b) * b;
}

Value Interpreter::repeat(const Value &value, int64_t times) {
  const List *list = value.asList();
  size_t count = static_cast<size_t>(std::max<int64_t>(times, 0));
  size_t size = list ? list->size() * sizeof(Value) : value.asString()->size();
  if (size == 0)
    return value;
  if (!spend(count > kMaxBytes ? kMaxBytes + 1 : count * size))
    return {};
  List elements;
  std::string text;
  for (size_t i = 0; i < count; ++i)
    if (list)
      elements.insert(elements.end(), list->begin(), list->end());
    else
      text += *value.asString();
  return list ? Value(std::move(elements), value.isTuple()) : Value(std::move(text));
}

Value Interpreter::evaluateBinary(const Node &node) {
  Value left = evaluate(*node.children[0]), right = evaluate(*node.children[1]);
  if (hasFailed())
    return {};
  line = node.line;
  const std::string &sign = node.name;
  if (sign == "==" || sign == "!=")
    return areEqual(left, right) == (sign == "==");
  if (sign == "in" || sign == "not in")
    return contains(right, left) == (sign == "in");
  if (sign == "<" || sign == ">" || sign == "<=" || sign == ">=") {
    int order = compare(left, right);
    return sign == "<" ? order < 0 : sign == ">" ? order > 0 : sign == "<=" ? order <= 0 : order >= 0;
  }
  if (sign == "~") {
    std::string text = toText(left) + toText(right);
    return spend(text.size()) ? Value(std::move(text)) : Value();
  }
  if (sign == "*" && (left.asString() || left.asList()) && right.isInteger())
    return repeat(left, right.toInteger());
  if (sign == "*" && (right.asString() || right.asList()) && left.isInteger())
    return repeat(right, left.toInteger());
  return sign == "+" ? add(left, right) : calculate(sign, left, right);
}
