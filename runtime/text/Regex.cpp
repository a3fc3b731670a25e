//===- Regex.cpp - regular expressions of tokenizers ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Regex.h"
#include "runtime/text/Unicode.h"

#include <cstring>
#include <optional>
#include <unicode/regex.h>
#include <unicode/unistr.h>

using namespace tenon::text;

struct Regex::Pattern {
  std::string source;
  std::unique_ptr<icu::RegexPattern> compiled;
  std::u32string literal; ///< instead of `compiled`
};

Regex::Regex() = default;
Regex::~Regex() = default;
Regex::Regex(Regex &&) noexcept = default;
Regex &Regex::operator=(Regex &&) noexcept = default;

// Oniguruma's \s is White_Space, ICU's lacks U+000B and U+0085. Oniguruma's \w includes superscript digits of Latin-1,
// for which it has separate tables. Oniguruma's \h is a hexadecimal digit, ICU's a space.
#define TENON_WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be"
static const char *translateClass(char escape) {
  switch (escape) {
  case 's':
    return "\\p{White_Space}";
  case 'S':
    return "\\P{White_Space}";
  case 'w':
    return "[" TENON_WORD "]";
  case 'W':
    return "[^" TENON_WORD "]";
  case 'h':
    return "[0-9a-fA-F]";
  case 'H':
    return "[^0-9a-fA-F]";
  default:
    return nullptr;
  }
}

/// Translates zero-width assertions: ICU's \b ignores marks.
static const char *translatePlace(char escape) {
#define TENON_IS_WORD(look) "(?" look "[" TENON_WORD "])"
  if (escape == 'b')
    return "(?:" TENON_IS_WORD("<=") TENON_IS_WORD("!") "|" TENON_IS_WORD("<!") TENON_IS_WORD("=") ")";
  if (escape == 'B')
    return "(?:" TENON_IS_WORD("<=") TENON_IS_WORD("=") "|" TENON_IS_WORD("<!") TENON_IS_WORD("!") ")";
  return nullptr;
}

/// Translates syntax that the two engines interpret differently. Sets `unknown` to a construct without a translation.
static std::string translate(std::string_view pattern, std::string &unknown) {
  std::string text;
  int sets = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      char escape = pattern[++i];
      if (const char *translated = translateClass(escape)) {
        text += translated;
      } else if (const char *place = sets == 0 ? translatePlace(escape) : nullptr) {
        text += place;
      } else {
        // Escapes that both engines define differently, or that only ICU has.
        if (strchr("NOKGyYgkRXMCQE", escape))
          unknown = std::string("\\") + escape;
        text += {c, escape};
      }
      continue;
    }
    if (c == '[')
      ++sets;
    if (c == ']' && sets > 0)
      --sets;
    if (sets > 0 && pattern.substr(i, 2) == "--")
      unknown = "--";
    // Groups with this prefix have flags; ICU's flags other than i and x have another meaning.
    if (sets == 0 && pattern.substr(i, 2) == "(?") {
      size_t end = pattern.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-", i + 2);
      std::string_view flags = pattern.substr(i + 2, end == pattern.npos ? pattern.npos : end - i - 2);
      if (flags.find_first_not_of("ix-") != flags.npos)
        unknown = std::string(pattern.substr(i, flags.size() + 2));
    }
    text += c;
  }
  return text;
}

Status Regex::compile(std::string_view source) {
  std::string unknown, shown(source.substr(0, 200));
  std::string text = translate(source, unknown);
  if (!unknown.empty())
    return Status::make(TENON_UNSUPPORTED, "the regular expression '%s' has '%s', which is not supported",
                        shown.c_str(), unknown.c_str());
  UErrorCode error = U_ZERO_ERROR;
  UParseError where;
  // In Oniguruma ^ and $ always match at line boundaries, which only a line feed creates.
  std::unique_ptr<icu::RegexPattern> compiled(icu::RegexPattern::compile(
      icu::UnicodeString::fromUTF8(text), UREGEX_MULTILINE | UREGEX_UNIX_LINES, where, error));
  if (U_FAILURE(error) || !compiled)
    return Status::make(TENON_UNSUPPORTED, "the regular expression '%s' is not supported (ICU: %s)", shown.c_str(),
                        u_errorName(error));
  pattern = std::make_unique<Pattern>();
  pattern->source = std::move(shown);
  pattern->compiled = std::move(compiled);
  return {};
}

Status Regex::compileLiteral(std::string_view literal) {
  pattern = std::make_unique<Pattern>();
  if (literal.empty() || decodeUtf8(literal, pattern->literal))
    return Status::make(TENON_INVALID, "a pattern is empty, or no UTF-8");
  return {};
}

static void addMatch(size_t begin, size_t end, size_t &last, std::vector<Part> &parts) {
  if (last < begin)
    parts.push_back({last, begin, false});
  parts.push_back({begin, end, true});
  last = end;
}

static void findLiteral(std::u32string_view literal, std::u32string_view text, std::vector<Part> &parts) {
  size_t last = 0;
  for (size_t at = text.find(literal); at != text.npos; at = text.find(literal, last))
    addMatch(at, at + literal.size(), last, parts);
  if (last < text.size())
    parts.push_back({last, text.size(), false});
}

static Status makeFault(UErrorCode error, const std::string &source) {
  bool isTooMuch = error == U_REGEX_TIME_OUT || error == U_REGEX_STACK_OVERFLOW;
  return Status::make(TENON_RESOURCES, "the regular expression '%s' %s (ICU: %s)", source.c_str(),
                      isTooMuch ? "takes too many steps on this text" : "cannot be searched for", u_errorName(error));
}

/// Indices of characters for those of UTF-16 units.
static std::vector<uint32_t> indexUnits(std::u32string_view text) {
  std::vector<uint32_t> characterOf;
  characterOf.reserve(text.size() + 1);
  for (uint32_t i = 0; i < text.size(); ++i)
    characterOf.resize(characterOf.size() + (text[i] < 0x10000 ? 1 : 2), i);
  characterOf.push_back(static_cast<uint32_t>(text.size()));
  return characterOf;
}

Status Regex::findParts(std::u32string_view text, std::vector<Part> &parts) const {
  if (!pattern->literal.empty()) {
    findLiteral(pattern->literal, text, parts);
    return {};
  }
  // limit: ICU counts some ten thousand steps as one; and bytes that backtracking may take.
  constexpr int32_t kMaxSteps = 2000, kMaxStack = 64 << 20;
  UErrorCode error = U_ZERO_ERROR;
  icu::UnicodeString units =
      icu::UnicodeString::fromUTF32(reinterpret_cast<const UChar32 *>(text.data()), static_cast<int32_t>(text.size()));
  std::vector<uint32_t> characterOf = indexUnits(text);
  std::unique_ptr<icu::RegexMatcher> matcher(pattern->compiled->matcher(units, error));
  if (U_SUCCESS(error)) {
    matcher->setTimeLimit(kMaxSteps, error);
    matcher->setStackLimit(kMaxStack, error);
  }
  size_t last = 0;
  std::optional<size_t> lastMatch;
  while (U_SUCCESS(error) && matcher->find(error)) {
    size_t begin = characterOf[static_cast<size_t>(matcher->start(error))];
    size_t end = characterOf[static_cast<size_t>(matcher->end(error))];
    // Users of Oniguruma skip an empty match directly after another match.
    if (begin == end && lastMatch == end)
      continue;
    addMatch(begin, end, last, parts);
    lastMatch = end;
  }
  if (U_FAILURE(error))
    return makeFault(error, pattern->source);
  if (last < text.size())
    parts.push_back({last, text.size(), false});
  return {};
}
