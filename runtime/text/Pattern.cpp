//===- Pattern.cpp - what is searched for: a text or a regular expression -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Pattern.h"

using namespace tenon::text;

Status tenon::text::readPattern(Fields &fields, Regex &regex) {
  const Json &pattern = fields.getObject("pattern");
  if (Status status = fields.takeStatus(); status.failed())
    return status;
  auto entry = pattern.begin();
  if (pattern.size() != 1 || !entry->is_string() || (entry.key() != "String" && entry.key() != "Regex"))
    return Status::make(TENON_INVALID, "'%s.pattern' has to hold just 'String' or 'Regex'", fields.getPath().c_str());
  const auto &text = entry->get_ref<const std::string &>();
  return entry.key() == "Regex" ? regex.compile(text) : regex.compileLiteral(text);
}

SplitBehavior tenon::text::readBehavior(Fields &fields, const char *key, bool isOptional) {
  static constexpr struct {
    const char *name;
    SplitBehavior behavior;
  } kBehaviors[] = {{"Removed", SplitBehavior::removed},
                    {"Isolated", SplitBehavior::isolated},
                    {"MergedWithPrevious", SplitBehavior::mergedWithPrevious},
                    {"MergedWithNext", SplitBehavior::mergedWithNext},
                    {"Contiguous", SplitBehavior::contiguous}};
  std::string found = fields.getString(key, isOptional ? std::optional<std::string>("Isolated") : std::nullopt);
  for (const auto &[name, behavior] : kBehaviors)
    if (found == name)
      return behavior;
  fields.failUnknown(key, found, "Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous");
  return SplitBehavior::isolated;
}
