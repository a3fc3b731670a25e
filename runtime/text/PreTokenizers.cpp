//===- PreTokenizers.cpp - where a text is split before the model sees it -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/PreTokenizers.h"
#include "runtime/text/Bytes.h"
#include "runtime/text/Pattern.h"
#include "runtime/text/Unicode.h"

#include <memory>

using namespace tenon::text;

// limit: real ones have up to four.
static constexpr size_t kMaxComponents = 64;

static void append(std::vector<AlignedText> texts, std::vector<Piece> &pieces) {
  for (AlignedText &text : texts)
    pieces.push_back({std::move(text), {}, false});
}

/// Splits at characters.
template <typename Predicate> static PreTokenizer makeSplit(Predicate isMatch, SplitBehavior behavior) {
  return [=](std::vector<Piece> &pieces) {
    return splitPieces(pieces, [&](const AlignedText &text, std::vector<Piece> &parts) -> Status {
      append(split(text, findCharacters(text.chars(), isMatch), behavior), parts);
      return {};
    });
  };
}

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

/// Finds words, and runs of other non-space characters.
static std::vector<Part> findWords(std::u32string_view text) {
  auto kindOf = [](char32_t c) { return isWordCharacter(c) ? 0 : isWhitespace(c) ? 1 : 2; };
  std::vector<Part> parts;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    int kind = kindOf(text[begin]);
    for (end = begin + 1; end < text.size() && kindOf(text[end]) == kind;)
      ++end;
    parts.push_back({begin, end, kind == 1});
  }
  return parts;
}

static Status makeWhitespace(Fields &, PreTokenizer &preTokenizer) {
  preTokenizer = [](std::vector<Piece> &pieces) {
    return splitPieces(pieces, [](const AlignedText &text, std::vector<Piece> &parts) -> Status {
      append(split(text, findWords(text.chars()), SplitBehavior::removed), parts);
      return {};
    });
  };
  return {};
}

static Status makeWhitespaceSplit(Fields &, PreTokenizer &preTokenizer) {
  preTokenizer = makeSplit(isWhitespace, SplitBehavior::removed);
  return {};
}

static Status makeBert(Fields &, PreTokenizer &preTokenizer) {
  preTokenizer = [spaces = makeSplit(isWhitespace, SplitBehavior::removed),
                  marks = makeSplit(isPunctuation, SplitBehavior::isolated)](std::vector<Piece> &pieces) -> Status {
    TENON_TRY(spaces(pieces));
    return marks(pieces);
  };
  return {};
}

static Status makePunctuation(Fields &fields, PreTokenizer &preTokenizer) {
  preTokenizer = makeSplit(isPunctuation, readBehavior(fields, "behavior", /*isOptional=*/true));
  return fields.takeStatus();
}

static Status makeDigits(Fields &fields, PreTokenizer &preTokenizer) {
  bool isEach = fields.getBool("individual_digits");
  preTokenizer = makeSplit(isNumeric, isEach ? SplitBehavior::isolated : SplitBehavior::contiguous);
  return fields.takeStatus();
}

static Status makeDelimiter(Fields &fields, PreTokenizer &preTokenizer) {
  char32_t delimiter = fields.getCharacter("delimiter");
  preTokenizer = makeSplit([delimiter](char32_t c) { return c == delimiter; }, SplitBehavior::removed);
  return fields.takeStatus();
}

static Status makePatternSplit(Fields &fields, PreTokenizer &preTokenizer) {
  bool isInverted = fields.getBool("invert");
  SplitBehavior behavior = readBehavior(fields, "behavior", /*isOptional=*/false);
  auto regex = std::make_shared<Regex>();
  TENON_TRY(readPattern(fields, *regex));
  preTokenizer = [=](std::vector<Piece> &pieces) {
    return splitPieces(pieces, [&](const AlignedText &text, std::vector<Piece> &parts) -> Status {
      std::vector<Part> found;
      TENON_TRY(regex->findParts(text.chars(), found));
      for (Part &part : found)
        part.isMatch ^= isInverted;
      append(split(text, std::move(found), behavior), parts);
      return {};
    });
  };
  return {};
}

static Status makeFixedLength(Fields &fields, PreTokenizer &preTokenizer) {
  size_t length = fields.getCount("length", 1 << 20);
  if (length == 0)
    fields.fail(Status::make(TENON_INVALID, "'%s.length' is 0", fields.getPath().c_str()));
  preTokenizer = [length](std::vector<Piece> &pieces) {
    return splitPieces(pieces, [&](const AlignedText &text, std::vector<Piece> &parts) -> Status {
      for (size_t begin = 0; begin < text.size(); begin += length)
        parts.push_back({text.slice(begin, std::min(begin + length, text.size())), {}, false});
      return {};
    });
  };
  return fields.takeStatus();
}

/// Words with the space before them, numbers, and runs of other characters: GPT-2's pattern.
static constexpr char kWordPattern[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

static Status makeByteLevel(Fields &fields, PreTokenizer &preTokenizer) {
  bool hasPrefix = fields.getBool("add_prefix_space"), isSplit = fields.getBool("use_regex", true);
  auto regex = std::make_shared<Regex>();
  TENON_TRY(regex->compile(kWordPattern));
  preTokenizer = [=](std::vector<Piece> &pieces) -> Status {
    TENON_TRY(splitPieces(pieces, [&](AlignedText &text, std::vector<Piece> &parts) -> Status {
      if (hasPrefix && !text.empty() && text.chars().front() != U' ')
        text.prepend(U" ");
      if (!isSplit) {
        parts.push_back({std::move(text), {}, false});
        return {};
      }
      std::vector<Part> found;
      TENON_TRY(regex->findParts(text.chars(), found));
      append(split(text, std::move(found), SplitBehavior::isolated), parts);
      return {};
    }));
    for (Piece &piece : pieces)
      if (!piece.hasTokens)
        toByteLetters(piece.text);
    return {};
  };
  return fields.takeStatus();
}

Metaspace Metaspace::read(Fields &fields) {
  Metaspace metaspace{fields.getCharacter("replacement"), Prepend::always, fields.getBool("split", true)};
  std::string scheme = fields.getString("prepend_scheme", "always");
  if (scheme == "first")
    metaspace.prepend = Prepend::first;
  else if (scheme == "never")
    metaspace.prepend = Prepend::never;
  else if (scheme != "always")
    fields.failUnknown("prepend_scheme", scheme, "always, first and never");
  // As older files say it.
  if (!fields.getBool("add_prefix_space", true)) {
    if (fields.has("prepend_scheme") && metaspace.prepend != Prepend::never)
      fields.fail(Status::make(TENON_INVALID, "'%s.add_prefix_space' is false, but 'prepend_scheme' is '%s'",
                               fields.getPath().c_str(), scheme.c_str()));
    metaspace.prepend = Prepend::never;
  }
  return metaspace;
}

static Status makeMetaspace(Fields &fields, PreTokenizer &preTokenizer) {
  Metaspace metaspace = Metaspace::read(fields);
  preTokenizer = [metaspace](std::vector<Piece> &pieces) {
    return splitPieces(pieces, [&](AlignedText &text, std::vector<Piece> &parts) -> Status {
      text.map([&](char32_t c, std::u32string &changed) { changed.push_back(c == U' ' ? metaspace.replacement : c); });
      bool isPrepended = metaspace.prepend == Metaspace::Prepend::always ||
                         (metaspace.prepend == Metaspace::Prepend::first && text.getOrigin() == 0);
      if (isPrepended && !text.empty() && text.chars().front() != metaspace.replacement)
        text.prepend(std::u32string_view(&metaspace.replacement, 1));
      if (!metaspace.isSplit) {
        parts.push_back({std::move(text), {}, false});
        return {};
      }
      auto isSpace = [&](char32_t c) { return c == metaspace.replacement; };
      append(split(text, findCharacters(text.chars(), isSpace), SplitBehavior::mergedWithNext), parts);
      return {};
    });
  };
  return fields.takeStatus();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static Status makeComponent(const Json &json, const std::string &path, std::vector<PreTokenizer> &components) {
  static constexpr struct {
    const char *type;
    Status (*make)(Fields &, PreTokenizer &);
  } kComponents[] = {{"BertPreTokenizer", makeBert},        {"ByteLevel", makeByteLevel},
                     {"CharDelimiterSplit", makeDelimiter}, {"Digits", makeDigits},
                     {"FixedLength", makeFixedLength},      {"Metaspace", makeMetaspace},
                     {"Punctuation", makePunctuation},      {"Split", makePatternSplit},
                     {"Whitespace", makeWhitespace},        {"WhitespaceSplit", makeWhitespaceSplit}};
  Fields fields(json, path);
  std::string type = fields.getString("type");
  TENON_TRY(fields.takeStatus());
  if (type == "Sequence") {
    const Json &inner = fields.getArray("pretokenizers");
    TENON_TRY(fields.takeStatus());
    for (size_t i = 0; i < inner.size() && components.size() <= kMaxComponents; ++i)
      TENON_TRY(makeComponent(inner[i], path + ".pretokenizers." + std::to_string(i), components));
    return {};
  }
  for (const auto &[name, make] : kComponents)
    if (type == name)
      return make(fields, components.emplace_back());
  fields.failUnknown("type", type,
                     "BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace, Punctuation, "
                     "Sequence, Split, Whitespace and WhitespaceSplit");
  return fields.takeStatus();
}

Status tenon::text::makePreTokenizer(const Json &json, PreTokenizer &preTokenizer) {
  std::vector<PreTokenizer> components;
  if (!json.is_null())
    TENON_TRY(makeComponent(json, "pre_tokenizer", components));
  if (components.size() > kMaxComponents)
    return Status::make(TENON_INVALID, "'pre_tokenizer' has more than %zu components", kMaxComponents);
  preTokenizer = [components = std::move(components)](std::vector<Piece> &pieces) -> Status {
    for (const PreTokenizer &component : components)
      TENON_TRY(component(pieces));
    return {};
  };
  return {};
}
