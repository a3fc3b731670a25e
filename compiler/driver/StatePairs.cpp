//===- StatePairs.cpp - which outputs a model keeps for the next run -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/StatePairs.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

using namespace llvm;
using namespace tenon;

namespace {
/// A name with at most one star, which matches any text.
struct Pattern {
  StringRef before, after;
  bool hasStar = false;

  explicit Pattern(StringRef text) : hasStar(text.contains('*')) { std::tie(before, after) = text.split('*'); }
  /// Returns the text that the star matches in `name`; none if the name does not match.
  std::optional<StringRef> match(StringRef name) const {
    if (!hasStar)
      return name == before ? std::optional(StringRef()) : std::nullopt;
    if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
      return std::nullopt;
    return name.drop_front(before.size()).drop_back(after.size());
  }
  std::string fill(StringRef text) const { return (before + text + after).str(); }
};
} // namespace

static std::string listNames(ArrayRef<std::string> names) {
  return names.empty() ? "none" : "'" + join(names, "', '") + "'";
}

Expected<std::vector<std::string>> tenon::expandStatePairs(ArrayRef<std::string> patterns, ArrayRef<std::string> inputs,
                                                           ArrayRef<std::string> outputs) {
  std::vector<std::string> pairs;
  StringSet<> taken;
  for (StringRef text : patterns) {
    auto [left, right] = text.split('=');
    if (left.empty() || right.empty() || left.count('*') > 1 || left.count('*') != right.count('*'))
      return makeError(CompileStatus::misuse,
                       "--state: expected INPUT=OUTPUT, with one star in both or in neither, got '" + text + "'");
    Pattern input(left), output(right);
    bool isMatched = false;
    for (const std::string &name : inputs) {
      std::optional<StringRef> star = input.match(name);
      if (!star)
        continue;
      isMatched = true;
      std::string wanted = output.fill(*star);
      if (!is_contained(outputs, wanted))
        return makeError(CompileStatus::invalid, "--state '" + text + "': input '" + name + "' goes with output '" +
                                                     wanted + "', and the outputs are " + listNames(outputs));
      if (!taken.insert("i" + name).second || !taken.insert("o" + wanted).second)
        return makeError(CompileStatus::invalid,
                         "--state '" + text + "': '" + name + "' or '" + wanted + "' is in another pair already");
      pairs.push_back(name + "=" + wanted);
    }
    if (!isMatched)
      return makeError(CompileStatus::invalid,
                       "--state '" + text + "': matches no input, and the inputs are " + listNames(inputs));
  }
  return pairs;
}
