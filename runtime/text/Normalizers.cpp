//===- Normalizers.cpp - what a text becomes before it is split -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Normalizers.h"
#include "runtime/text/Bytes.h"
#include "runtime/text/CharsMap.h"
#include "runtime/text/Pattern.h"
#include "runtime/text/Unicode.h"
#include "runtime/text/UnicodeForms.h"

#include <algorithm>
#include <memory>

using namespace tenon::text;

// limit: the longest compatibility decomposition has 18 characters, and byte-level letters have up to 4.
static constexpr size_t kMaxGrowth = 64, kMinGrown = 256, kMaxComponents = 64;

static size_t getMaxSize(const AlignedText &text) { return kMaxGrowth * text.size() + kMinGrown; }

static Status makeTooLong() {
  return Status::make(TENON_RESOURCES, "the normalizer makes the text more than %zu times as long", kMaxGrowth);
}

static void lowercase(AlignedText &text) { text.map(appendLowercase); }

static void stripSpaces(AlignedText &text, bool isLeft, bool isRight) {
  std::u32string_view chars = text.chars();
  size_t begin = 0, end = chars.size();
  while (isLeft && begin < end && isWhitespace(chars[begin]))
    ++begin;
  while (isRight && begin < end && isWhitespace(chars[end - 1]))
    --end;
  text.trim(begin, end);
}

static void mapEach(AlignedText &text, char32_t (*map)(char32_t)) {
  text.map([map](char32_t c, std::u32string &changed) { changed.push_back(map(c)); });
}

//===----------------------------------------------------------------------===//
// BERT, and translation by SentencePiece
//===----------------------------------------------------------------------===//

static void cleanText(AlignedText &text) {
  auto isSpace = [](char32_t c) { return c == '\t' || c == '\n' || c == '\r' || isWhitespace(c); };
  text.filter([](char32_t c) {
    bool isLineBreak = c == '\t' || c == '\n' || c == '\r';
    return c != 0 && c != 0xfffd && (isLineBreak || !isControl(c));
  });
  text.map([&](char32_t c, std::u32string &changed) { changed.push_back(isSpace(c) ? U' ' : c); });
}

static void separateIdeographs(AlignedText &text) {
  text.map([](char32_t c, std::u32string &changed) {
    if (isIdeograph(c))
      changed.append({U' ', c, U' '});
    else
      changed.push_back(c);
  });
}

static Status makeBert(Fields &fields, Normalizer &normalizer) {
  bool isCleaned = fields.getBool("clean_text", true), isSeparated = fields.getBool("handle_chinese_chars", true);
  bool isLowered = fields.getBool("lowercase", true), isStripped = fields.getBool("strip_accents", isLowered);
  normalizer = [=](AlignedText &text) -> Status {
    if (isCleaned)
      cleanText(text);
    if (isSeparated)
      separateIdeographs(text);
    if (isStripped) {
      normalize(text, UnicodeForm::nfd);
      text.filter([](char32_t c) { return !isNonspacingMark(c); });
    }
    if (isLowered)
      lowercase(text);
    return {};
  };
  return fields.takeStatus();
}

/// Drops control characters, and replaces space-like ones by a space (sentencepiece's nmt rules).
static void normalizeForTranslation(AlignedText &text) {
  text.filter([](char32_t c) {
    bool isDropped = (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f;
    return !isDropped;
  });
  mapEach(text, [](char32_t c) {
    constexpr char32_t kSpaces[] = {0x9, 0xa, 0xc, 0xd, 0x1680, 0x2028, 0x2029, 0x2581, 0xfeff, 0xfffd};
    bool isSpace = std::find(std::begin(kSpaces), std::end(kSpaces), c) != std::end(kSpaces);
    return isSpace || (c >= 0x200b && c <= 0x200f) ? U' ' : c;
  });
}

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

static Status makeStrip(Fields &fields, Normalizer &normalizer) {
  bool isLeft = fields.getBool("strip_left"), isRight = fields.getBool("strip_right");
  normalizer = [=](AlignedText &text) -> Status {
    stripSpaces(text, isLeft, isRight);
    return {};
  };
  return fields.takeStatus();
}

static Status readContent(Fields &fields, const char *key, std::u32string &content) {
  std::string bytes = fields.getString(key);
  if (decodeUtf8(bytes, content))
    fields.fail(Status::make(TENON_INVALID, "'%s.%s' is no UTF-8", fields.getPath().c_str(), key));
  return fields.takeStatus();
}

static Status makePrepend(Fields &fields, Normalizer &normalizer) {
  std::u32string content;
  TENON_TRY(readContent(fields, "prepend", content));
  normalizer = [content](AlignedText &text) -> Status {
    text.prepend(content);
    return {};
  };
  return {};
}

static Status makeReplace(Fields &fields, Normalizer &normalizer) {
  std::u32string content;
  TENON_TRY(readContent(fields, "content", content));
  auto regex = std::make_shared<Regex>();
  TENON_TRY(readPattern(fields, *regex));
  normalizer = [regex, content](AlignedText &text) -> Status {
    std::vector<Part> parts;
    TENON_TRY(regex->findParts(text.chars(), parts));
    if (parts.size() * content.size() > getMaxSize(text))
      return makeTooLong();
    text.replace(parts, content);
    return {};
  };
  return {};
}

static Status makeCharsMap(Fields &fields, Normalizer &normalizer) {
  std::string encoded = fields.getString("precompiled_charsmap", "");
  TENON_TRY(fields.takeStatus());
  // Models that SentencePiece trained with the rule "identity" have no map.
  if (encoded.empty())
    return {};
  auto map = std::make_shared<CharsMap>();
  TENON_TRY(map->readBase64(encoded));
  normalizer = [map](AlignedText &text) -> Status {
    map->apply(text);
    return {};
  };
  return {};
}

static Status makeComponent(const Json &json, const std::string &path, std::vector<Normalizer> &normalizers);

static Status makeSequence(Fields &fields, std::vector<Normalizer> &normalizers) {
  const Json &components = fields.getArray("normalizers");
  TENON_TRY(fields.takeStatus());
  for (size_t i = 0; i < components.size() && normalizers.size() <= kMaxComponents; ++i)
    TENON_TRY(makeComponent(components[i], fields.getPath() + ".normalizers." + std::to_string(i), normalizers));
  return {};
}

/// A normalizer without fields.
static Normalizer makeSimple(const std::string &type) {
  static constexpr struct {
    const char *type;
    void (*apply)(AlignedText &);
  } kSimple[] = {{"NFC", [](AlignedText &text) { normalize(text, UnicodeForm::nfc); }},
                 {"NFD", [](AlignedText &text) { normalize(text, UnicodeForm::nfd); }},
                 {"NFKC", [](AlignedText &text) { normalize(text, UnicodeForm::nfkc); }},
                 {"NFKD", [](AlignedText &text) { normalize(text, UnicodeForm::nfkd); }},
                 {"Lowercase", lowercase},
                 {"StripAccents", [](AlignedText &text) { text.filter([](char32_t c) { return !isMark(c); }); }},
                 {"Nmt", normalizeForTranslation},
                 {"ByteLevel", toByteLetters}};
  for (const auto &[name, apply] : kSimple)
    if (type == name)
      return [apply = apply](AlignedText &text) -> Status {
        apply(text);
        return {};
      };
  return nullptr;
}

/// Appends the function of a component; nothing if it is the identity.
static Status makeComponent(const Json &json, const std::string &path, std::vector<Normalizer> &normalizers) {
  static constexpr struct {
    const char *type;
    Status (*make)(Fields &, Normalizer &);
  } kComponents[] = {{"BertNormalizer", makeBert},
                     {"Strip", makeStrip},
                     {"Prepend", makePrepend},
                     {"Replace", makeReplace},
                     {"Precompiled", makeCharsMap}};
  Fields fields(json, path);
  std::string type = fields.getString("type");
  TENON_TRY(fields.takeStatus());
  if (type == "Sequence")
    return makeSequence(fields, normalizers);
  Normalizer normalizer = makeSimple(type);
  bool isKnown = static_cast<bool>(normalizer);
  for (const auto &[name, make] : kComponents)
    if (type == name) {
      TENON_TRY(make(fields, normalizer));
      isKnown = true;
    }
  if (!isKnown)
    fields.failUnknown(
        "type", type,
        "BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, "
        "Sequence, Strip and StripAccents");
  if (normalizer)
    normalizers.push_back(std::move(normalizer));
  return fields.takeStatus();
}

Status tenon::text::makeNormalizer(const Json &json, Normalizer &normalizer) {
  std::vector<Normalizer> components;
  if (!json.is_null())
    TENON_TRY(makeComponent(json, "normalizer", components));
  if (components.size() > kMaxComponents)
    return Status::make(TENON_INVALID, "'normalizer' has more than %zu components", kMaxComponents);
  normalizer = [components = std::move(components)](AlignedText &text) -> Status {
    size_t maxSize = getMaxSize(text);
    for (const Normalizer &component : components) {
      TENON_TRY(component(text));
      if (text.size() > maxSize)
        return makeTooLong();
    }
    return {};
  };
  return {};
}
