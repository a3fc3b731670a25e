//===- WeightFormat.cpp - which weights are stored in how many bits --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/WeightFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace tenon;
using Kind = WeightFormat::Kind;

static constexpr std::pair<StringLiteral, Kind> kFormats[] = {
    {"f32", Kind::f32}, {"bf16", Kind::bf16}, {"f16", Kind::f16}, {"int8", Kind::int8}, {"int4", Kind::int4}};

static StringRef getName(Kind kind) {
  return find_if(kFormats, [&](const auto &format) { return format.second == kind; })->first;
}

static std::optional<Kind> findKind(StringRef name) {
  for (const auto &[known, kind] : kFormats)
    if (known == name)
      return kind;
  return std::nullopt;
}

int64_t WeightFormat::getBits() const {
  switch (kind) {
  case Kind::f32:
    return 32;
  case Kind::bf16:
  case Kind::f16:
    return 16;
  case Kind::int8:
    return 8;
  case Kind::int4:
    return 4;
  }
  llvm_unreachable("every kind has a width");
}

static Error parseSuboption(StringRef text, WeightFormat &format) {
  auto [key, value] = text.split('=');
  if (text == "asymmetric" || text == "symmetric") {
    format.isAsymmetric = text == "asymmetric";
    return Error::success();
  }
  if (key != "group" || key.size() == text.size())
    return createStringError("there is no suboption '" + text +
                             "'; known are group=N, group=row, symmetric and asymmetric");
  if (value == "row") {
    format.group = 0;
    return Error::success();
  }
  // Numbers that share an i32 have one scale.
  constexpr int64_t kMinGroup = 8; // format: 4-bit numbers of an i32
  if (value.getAsInteger(10, format.group) || format.group < kMinGroup || format.group % kMinGroup != 0)
    return createStringError("expected group=row, or a multiple of " + Twine(kMinGroup) + ", got '" + text + "'");
  return Error::success();
}

Expected<WeightFormat> WeightFormat::parse(StringRef text) {
  auto [name, suboptions] = text.split(':');
  std::optional<Kind> kind = findKind(name);
  if (!kind) {
    std::string known = join(map_range(kFormats, [](const auto &format) { return format.first.str(); }), ", ");
    return createStringError("there is no format '" + name + "' of weights; known are " + known);
  }
  WeightFormat format;
  format.kind = *kind;
  if (format.isInteger())
    format.group = 32; // default: a large element takes bits of few others
  if (name.size() == text.size())
    return format;
  if (!format.isInteger())
    return createStringError("'" + name + "' has no suboptions, got '" + suboptions + "'");
  SmallVector<StringRef> parts;
  suboptions.split(parts, ',');
  for (StringRef part : parts)
    if (Error error = parseSuboption(part, format))
      return error;
  return format;
}

std::string WeightFormat::describe() const {
  std::string text = getName(kind).str();
  if (!isInteger())
    return text;
  text += group == 0 ? " (row" : " (group " + std::to_string(group);
  return text + (isAsymmetric ? ", asymmetric)" : ")");
}

/// Returns the end of the pattern in "PATTERN=FORMAT": the last '=' before a format name, since suboptions contain '=',
/// too.
static size_t findPatternEnd(StringRef text) {
  for (size_t end = text.rfind('='); end != StringRef::npos; end = end == 0 ? StringRef::npos : text.rfind('=', end))
    if (findKind(text.drop_front(end + 1).split(':').first))
      return end;
  // The format is misspelled: the pattern ends before the suboptions.
  return findKind(text.split(':').first) ? StringRef::npos : text.split(':').first.rfind('=');
}

Expected<WeightRule> WeightRule::parse(StringRef text) {
  WeightRule rule;
  rule.text = text.str();
  size_t end = findPatternEnd(text);
  StringRef rest = end == StringRef::npos ? text : text.drop_front(end + 1);
  if (end == 0)
    return createStringError("expected a pattern before '=', got '" + text + "'");
  if (end != StringRef::npos)
    rule.pattern = text.take_front(end).str();
  if (Expected<GlobPattern> names = GlobPattern::create(rule.pattern); !names)
    return createStringError("'" + rule.pattern + "' is no pattern: " + toString(names.takeError()));
  Expected<WeightFormat> format = WeightFormat::parse(rest);
  if (!format)
    return format.takeError();
  rule.format = *format;
  return rule;
}

Expected<std::vector<std::optional<WeightFormat>>> WeightRules::choose(ArrayRef<std::string> names,
                                                                       ArrayRef<bool> isLarge) const {
  assert(names.size() == isLarge.size() && "each weight has a name and a size");
  constexpr size_t kMaxListed = 12; // limit: a line for people
  std::vector<std::optional<WeightFormat>> formats(names.size());
  for (const WeightRule &rule : rules) {
    if (rule.pattern.empty()) {
      for (size_t i = 0; i < names.size(); ++i)
        if (isLarge[i])
          formats[i] = rule.format;
      continue;
    }
    GlobPattern pattern = cantFail(GlobPattern::create(rule.pattern), "patterns are checked in parse()");
    bool isMatched = false;
    for (auto [name, format] : zip(names, formats))
      if (pattern.match(name)) {
        format = rule.format;
        isMatched = true;
      }
    if (isMatched)
      continue;
    std::vector<std::string> known;
    copy_if(names, std::back_inserter(known), [](const std::string &name) { return !name.empty(); });
    size_t shown = std::min(known.size(), kMaxListed);
    std::string listed =
        known.empty() ? "there are none"
                      : "they are '" + join(known.begin(), known.begin() + static_cast<ptrdiff_t>(shown), "', '") + "'";
    if (known.size() > shown)
      listed += " and " + std::to_string(known.size() - shown) + " more";
    return createStringError("--weights '" + rule.text + "': '" + rule.pattern +
                             "' matches the name of no constant matrix; " + listed);
  }
  return formats;
}
