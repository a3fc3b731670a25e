//===- Pattern.h - what is searched for: a text or a regular expression ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_PATTERN_H
#define TENON_RUNTIME_TEXT_PATTERN_H

#include "runtime/text/Json.h"
#include "runtime/text/Regex.h"

namespace tenon::text {

/// Reads the field "pattern" of a component: {"String": "a"} or {"Regex": "a+"}.
Status readPattern(Fields &fields, Regex &regex);

/// Reads the field `key`, the split behaviour; the default is isolated if `isOptional`.
SplitBehavior readBehavior(Fields &fields, const char *key, bool isOptional);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_PATTERN_H
