//===- Node.h - templates as trees ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_JINJA_NODE_H
#define TENON_RUNTIME_TEXT_JINJA_NODE_H

#include "runtime/text/jinja/Value.h"

namespace tenon::text::jinja {

/// A statement or an expression. The comments describe the children.
struct Node {
  enum class Kind {
    // Statements.
    text,     ///< prints `name`
    print,    ///< value
    block,    ///< statements
    forLoop,  ///< iterable, condition or null, body, else or null; `names` are the targets
    ifElse,   ///< condition, body, else or null
    set,      ///< value; `names` are the targets, or one and a field
    setBlock, ///< body; `name` is the target
    macro,    ///< body, then the default of each parameter, or null; `names` are the parameters
    breakLoop,
    continueLoop,
    // Expressions.
    constant,   ///< `value`
    variable,   ///< `name`
    list,       ///< elements; `name` is "tuple" where it is one
    dict,       ///< key, value, key, value...
    attribute,  ///< object; `name`
    subscript,  ///< object, key
    slice,      ///< object, begin, end and step, each maybe null
    call,       ///< function, then arguments; `names` of each, "" where it is positional
    filter,     ///< value, then arguments; `name`, and `names` as in calls
    test,       ///< value, then arguments; `name`
    unary,      ///< operand; `name` is the operator
    binary,     ///< left, right
    andOr,      ///< left, right, of which the second is evaluated where the first does not decide
    conditional ///< condition, value, other value or null
  };

  Kind kind;
  int line;
  std::string name;
  std::vector<std::string> names;
  Value value;
  std::vector<std::unique_ptr<Node>> children;
};

} // namespace tenon::text::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_NODE_H
