//===- Decoders.cpp - from tokens back to text ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Decoders.h"
#include "runtime/text/Bytes.h"
#include "runtime/text/Pattern.h"
#include "runtime/text/PreTokenizers.h"
#include "runtime/text/Unicode.h"

#include <memory>

using namespace tenon::text;

// limit: real decoders have up to five components; the growth of a text is bounded.
static constexpr size_t kMaxComponents = 64, kMaxGrowth = 64, kMinGrown = 256;

using Tokens = std::vector<std::string>;

static size_t countBytes(const Tokens &tokens) {
  size_t bytes = 0;
  for (const std::string &token : tokens)
    bytes += token.size();
  return bytes;
}

static void replaceAll(std::string &text, std::string_view from, std::string_view to) {
  if (from.empty())
    return;
  std::string changed;
  size_t last = 0;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, last)) {
    changed.append(text, last, at - last).append(to);
    last = at + from.size();
  }
  changed.append(text, last);
  text.swap(changed);
}

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

static Status makeByteLevel(Fields &fields, Decoder &decoder) {
  decoder = [](Tokens &tokens) -> Status {
    std::string all, bytes;
    std::u32string letters;
    for (const std::string &token : tokens) {
      bytes.clear();
      bool isOfBytes = !decodeUtf8(token, letters);
      for (size_t i = 0; isOfBytes && i < letters.size(); ++i) {
        std::optional<unsigned char> byte = getLetterByte(letters[i]);
        isOfBytes = byte.has_value();
        bytes.push_back(static_cast<char>(byte.value_or(0)));
      }
      all += isOfBytes ? bytes : token;
    }
    tokens = {replaceInvalidUtf8(all)};
    return {};
  };
  return fields.takeStatus();
}

/// Removes spaces that English does not have, like BERT's tokenizer in Python.
static void cleanUp(std::string &text) {
  static constexpr std::pair<const char *, const char *> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (auto [from, to] : kRules)
    replaceAll(text, from, to);
}

static Status makeWordPiece(Fields &fields, Decoder &decoder) {
  std::string prefix = fields.getString("prefix");
  bool isCleaned = fields.getBool("cleanup");
  decoder = [=](Tokens &tokens) -> Status {
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::string &token = tokens[i];
      if (i != 0 && token.compare(0, prefix.size(), prefix) == 0)
        token.erase(0, prefix.size());
      else if (i != 0)
        token.insert(0, " ");
      if (isCleaned)
        cleanUp(token);
    }
    return {};
  };
  return fields.takeStatus();
}

static Status makeMetaspace(Fields &fields, Decoder &decoder) {
  Metaspace metaspace = Metaspace::read(fields);
  decoder = [metaspace](Tokens &tokens) -> Status {
    std::u32string chars;
    for (size_t i = 0; i < tokens.size(); ++i) {
      decodeUtf8(tokens[i], chars);
      bool isDropped = i == 0 && metaspace.prepend != Metaspace::Prepend::never;
      tokens[i].clear();
      for (char32_t c : chars)
        if (c != metaspace.replacement)
          appendUtf8(c, tokens[i]);
        else if (!isDropped)
          tokens[i] += ' ';
    }
    return {};
  };
  return fields.takeStatus();
}

/// Decodes contiguous bytes to characters; each byte becomes U+FFFD if they are not UTF-8.
static void flushBytes(std::string &bytes, Tokens &decoded) {
  std::u32string ignored;
  if (!decodeUtf8(bytes, ignored)) {
    if (!bytes.empty())
      decoded.push_back(bytes);
  } else {
    decoded.insert(decoded.end(), bytes.size(), "\xef\xbf\xbd");
  }
  bytes.clear();
}

static Status makeByteFallback(Fields &fields, Decoder &decoder) {
  decoder = [](Tokens &tokens) -> Status {
    Tokens decoded;
    std::string bytes;
    for (std::string &token : tokens) {
      if (std::optional<unsigned char> byte = getTokenByte(token)) {
        bytes.push_back(static_cast<char>(*byte));
        continue;
      }
      flushBytes(bytes, decoded);
      decoded.push_back(std::move(token));
    }
    flushBytes(bytes, decoded);
    tokens.swap(decoded);
    return {};
  };
  return fields.takeStatus();
}

static Status makeFuse(Fields &fields, Decoder &decoder) {
  decoder = [](Tokens &tokens) -> Status {
    std::string all;
    for (const std::string &token : tokens)
      all += token;
    tokens = {std::move(all)};
    return {};
  };
  return fields.takeStatus();
}

static Status makeStrip(Fields &fields, Decoder &decoder) {
  char32_t content = fields.getCharacter("content");
  size_t start = fields.getCount("start", UINT32_MAX), stop = fields.getCount("stop", UINT32_MAX);
  decoder = [=](Tokens &tokens) -> Status {
    std::u32string chars;
    for (std::string &token : tokens) {
      decodeUtf8(token, chars);
      size_t begin = 0, end = chars.size();
      while (begin < std::min(start, chars.size()) && chars[begin] == content)
        ++begin;
      while (end > begin && chars.size() - end < stop && chars[end - 1] == content)
        --end;
      token = toUtf8(std::u32string_view(chars).substr(begin, end - begin));
    }
    return {};
  };
  return fields.takeStatus();
}

static Status makeReplace(Fields &fields, Decoder &decoder) {
  std::string content = fields.getString("content");
  auto regex = std::make_shared<Regex>();
  TENON_TRY(fields.takeStatus());
  TENON_TRY(readPattern(fields, *regex));
  decoder = [=](Tokens &tokens) -> Status {
    std::u32string chars;
    size_t left = kMaxGrowth * countBytes(tokens) + kMinGrown;
    for (std::string &token : tokens) {
      decodeUtf8(token, chars);
      std::vector<Part> parts;
      TENON_TRY(regex->findParts(chars, parts));
      token.clear();
      for (const Part &part : parts) {
        token += part.isMatch ? content : toUtf8(std::u32string_view(chars).substr(part.begin, part.end - part.begin));
        if (token.size() > left)
          return Status::make(TENON_RESOURCES, "'decoder' makes the text more than %zu times as long", kMaxGrowth);
      }
      left -= token.size();
    }
    return {};
  };
  return {};
}

static Status makeBpe(Fields &fields, Decoder &decoder) {
  std::string suffix = fields.getString("suffix", "</w>");
  decoder = [=](Tokens &tokens) -> Status {
    for (size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    return {};
  };
  return fields.takeStatus();
}

static Status makeCtc(Fields &fields, Decoder &decoder) {
  std::string pad = fields.getString("pad_token"), delimiter = fields.getString("word_delimiter_token");
  bool isCleaned = fields.getBool("cleanup");
  decoder = [=](Tokens &tokens) -> Status {
    Tokens decoded;
    std::string previous;
    for (size_t i = 0; i < tokens.size(); ++i) {
      // Repetitions are merged, unless there is padding in between.
      if (i != 0 && tokens[i] == previous)
        continue;
      previous = tokens[i];
      std::string text = previous;
      replaceAll(text, pad, "");
      if (isCleaned) {
        cleanUp(text);
        replaceAll(text, delimiter, " ");
      }
      if (!text.empty())
        decoded.push_back(std::move(text));
    }
    tokens.swap(decoded);
    return {};
  };
  return fields.takeStatus();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static Status makeComponent(const Json &json, const std::string &path, std::vector<Decoder> &components) {
  static constexpr struct {
    const char *type;
    Status (*make)(Fields &, Decoder &);
  } kComponents[] = {{"BPEDecoder", makeBpe},      {"ByteFallback", makeByteFallback},
                     {"ByteLevel", makeByteLevel}, {"CTC", makeCtc},
                     {"Fuse", makeFuse},           {"Metaspace", makeMetaspace},
                     {"Replace", makeReplace},     {"Strip", makeStrip},
                     {"WordPiece", makeWordPiece}};
  Fields fields(json, path);
  std::string type = fields.getString("type");
  TENON_TRY(fields.takeStatus());
  if (type == "Sequence") {
    const Json &inner = fields.getArray("decoders");
    TENON_TRY(fields.takeStatus());
    for (size_t i = 0; i < inner.size() && components.size() <= kMaxComponents; ++i)
      TENON_TRY(makeComponent(inner[i], path + ".decoders." + std::to_string(i), components));
    return {};
  }
  for (const auto &[name, make] : kComponents)
    if (type == name)
      return make(fields, components.emplace_back());
  fields.failUnknown(
      "type", type,
      "BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, Sequence, Strip and WordPiece");
  return fields.takeStatus();
}

static Status joinBySpaces(Tokens &tokens) {
  for (size_t i = 1; i < tokens.size(); ++i)
    tokens[i].insert(0, " ");
  return {};
}

Status tenon::text::makeDecoder(const Json &json, Decoder &decoder) {
  if (json.is_null()) {
    decoder = joinBySpaces;
    return {};
  }
  std::vector<Decoder> components;
  TENON_TRY(makeComponent(json, "decoder", components));
  if (components.size() > kMaxComponents)
    return Status::make(TENON_INVALID, "'decoder' has more than %zu components", kMaxComponents);
  decoder = [components = std::move(components)](Tokens &tokens) -> Status {
    size_t maxBytes = kMaxGrowth * countBytes(tokens) + kMinGrown;
    for (const Decoder &component : components) {
      TENON_TRY(component(tokens));
      if (countBytes(tokens) > maxBytes)
        return Status::make(TENON_RESOURCES, "'decoder' makes the text more than %zu times as long", kMaxGrowth);
    }
    return {};
  };
  return {};
}
