//===- Builtins.h - filters, tests, methods and functions -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_JINJA_BUILTINS_H
#define TENON_RUNTIME_TEXT_JINJA_BUILTINS_H

#include "runtime/text/jinja/Interpreter.h"

namespace tenon::text::jinja {

/// Applies the filter or test `name` to `value`; an unknown name fails with TENON_UNSUPPORTED.
Value applyFilter(Interpreter &interpreter, const std::string &name, const Value &value, const Arguments &arguments);
bool applyTest(Interpreter &interpreter, const std::string &name, const Value &value, const Arguments &arguments);

/// Calls a method of a string, list or dict. None if the value has no such method.
std::optional<Value> callMethod(Interpreter &interpreter, const Value &object, const std::string &name,
                                const Arguments &arguments);

/// Adds raise_exception, range, namespace, dict and strftime_now.
void addFunctions(std::map<std::string, Value> &scope);

} // namespace tenon::text::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_BUILTINS_H
