//===- Interpreter.h - templates, run -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_JINJA_INTERPRETER_H
#define TENON_RUNTIME_TEXT_JINJA_INTERPRETER_H

#include "runtime/text/jinja/Node.h"

namespace tenon::text::jinja {

/// Runs a template. The first error is kept, and ends all loops; values are undefined after it.
class Interpreter {
public:
  /// The variables are those of `variables` and the functions of Builtins.h.
  explicit Interpreter(const Dict &variables);

  /// Sets `text` to the output of a template. Steps and bytes are limited.
  Status run(const Node &root, std::string &text);

  void fail(const std::string &what, tenon_status code = TENON_INVALID);
  bool hasFailed() const { return status.failed(); }
  /// Fails if more bytes have been allocated than allowed. Must be called before a text or a list is created.
  bool spend(size_t bytes);

  /// Calls a function, a macro among them.
  Value call(const Value &function, const Arguments &arguments);
  /// Returns the field of a dict, or the element of a list or string; undefined if there is none.
  Value getItem(const Value &object, const Value &key);
  /// Whether values are equal, as Python's == says.
  bool areEqual(const Value &left, const Value &right);
  /// True if a list or dict contains an element or key, or a text a substring.
  bool contains(const Value &container, const Value &element);
  /// Compares two values. Fails if they are not comparable.
  int compare(const Value &left, const Value &right);

private:
  enum class Leave { no, breakLoop, continueLoop };
  using Scope = std::map<std::string, Value>;

  Leave execute(const Node &node, std::string &text);
  Leave executeBlock(const Node &block, std::string &text);
  Leave executeFor(const Node &node, std::string &text);
  void executeSet(const Node &node);
  void defineMacro(const Node &node);
  bool toElements(const Value &value, List &elements);
  void bindTargets(const std::vector<std::string> &names, const Value &value);

  Value evaluate(const Node &node);
  Value evaluateKind(const Node &node);
  Value evaluateVariable(const Node &node);
  Value evaluateAttribute(const Node &node);
  Value evaluateSlice(const Node &node);
  Value evaluateCall(const Node &node);
  Value evaluateBinary(const Node &node);
  Value evaluateUnary(const Node &node);
  Value evaluateDict(const Node &node);
  Value repeat(const Value &value, int64_t times);
  Value add(const Value &left, const Value &right);
  Value calculate(const std::string &sign, const Value &left, const Value &right);
  Arguments evaluateArguments(const Node &node);
  bool isDefined(const Value &value);
  const Value *find(const std::string &name) const;

  std::vector<Scope> scopes; ///< of the template, and of loops and macros inside of each other
  int line = 1;
  size_t steps = 0, bytes = 0, depth = 0, expressionDepth = 0;
  Status status;
};

} // namespace tenon::text::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_INTERPRETER_H
