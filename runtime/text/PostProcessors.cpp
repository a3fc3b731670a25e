//===- PostProcessors.cpp - what is added around the tokens of a text -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/PostProcessors.h"
#include "runtime/text/Bytes.h"
#include "runtime/text/Unicode.h"

#include <map>

using namespace tenon::text;

// limit: real ones add up to four tokens.
static constexpr size_t kMaxAdded = 1024, kMaxComponents = 64;

static Encoding makeSpecial(uint32_t id, uint32_t typeId, const std::string &token) {
  Encoding encoding;
  encoding.add(id, typeId, token, {}, /*isSpecial=*/true);
  return encoding;
}

//===----------------------------------------------------------------------===//
// Offsets without spaces
//===----------------------------------------------------------------------===//

namespace {
/// Trims spaces from the offsets of byte-level tokens.
struct OffsetTrimming {
  bool isOn = false, hasPrefix = false;

  void apply(Encoding &encoding) const {
    for (size_t i = 0; isOn && i < encoding.size(); ++i)
      trim(encoding.tokens[i], i == 0, encoding.offsets[i]);
  }

private:
  void trim(const std::string &token, bool isFirst, Span &span) const {
    std::u32string letters;
    if (decodeUtf8(token, letters))
      return;
    auto isSpace = [](char32_t c) { return c == getByteLetter(' ') || isWhitespace(c); };
    size_t leading = 0, trailing = 0;
    while (leading < letters.size() && isSpace(letters[leading]))
      ++leading;
    while (trailing < letters.size() && isSpace(letters[letters.size() - 1 - trailing]))
      ++trailing;
    // A single leading space may be one that was inserted, and has no characters.
    if (leading == 1 && hasPrefix && (isFirst || span.begin == 0))
      leading = 0;
    span.begin = static_cast<uint32_t>(std::min<size_t>(span.begin + leading, span.end));
    if (span.end >= trailing)
      span.end = static_cast<uint32_t>(std::max<size_t>(span.end - trailing, span.begin));
  }
};

class ByteLevel : public PostProcessor {
public:
  Status read(Fields &fields) {
    trimming = {fields.getBool("trim_offsets", true), fields.getBool("add_prefix_space", true)};
    return fields.takeStatus();
  }
  Status process(std::vector<Encoding> &encodings, bool) const override {
    for (Encoding &encoding : encodings)
      trimming.apply(encoding);
    return {};
  }

private:
  OffsetTrimming trimming;
};

//===----------------------------------------------------------------------===//
// BERT and RoBERTa
//===----------------------------------------------------------------------===//

struct SpecialToken {
  std::string token;
  uint32_t id = 0;

  /// ["[SEP]", 102]
  static SpecialToken read(Fields &fields, const char *key) {
    const Json &pair = fields.getArray(key);
    if (pair.size() == 2 && pair[0].is_string() && pair[1].is_number_unsigned() &&
        pair[1].get<uint64_t>() <= UINT32_MAX)
      return {pair[0].get<std::string>(), pair[1].get<uint32_t>()};
    fields.fail(
        Status::make(TENON_INVALID, "'%s.%s' is not a pair of a token and its ID", fields.getPath().c_str(), key));
    return {};
  }
};

/// Adds a first token before and a separator after the text; a second text is preceded by a separator if there are two,
/// and followed by one.
class Surround : public PostProcessor {
public:
  explicit Surround(bool isRoberta) : isRoberta(isRoberta) {}

  Status read(Fields &fields) {
    separator = SpecialToken::read(fields, "sep");
    first = SpecialToken::read(fields, "cls");
    if (isRoberta)
      trimming = {fields.getBool("trim_offsets", true), fields.getBool("add_prefix_space", true)};
    return fields.takeStatus();
  }

  size_t countAdded(bool isPair) const override { return !isPair ? 2 : isRoberta ? 4 : 3; }

  Status process(std::vector<Encoding> &encodings, bool addsSpecialTokens) const override {
    for (size_t i = 0; i < encodings.size(); ++i) {
      Encoding &encoding = encodings[i];
      trimming.apply(encoding);
      // RoBERTa has one type alone.
      if (isRoberta)
        std::fill(encoding.typeIds.begin(), encoding.typeIds.end(), 0);
      if (!addsSpecialTokens)
        continue;
      uint32_t typeId = !isRoberta && i == 1 ? 1 : 0;
      if (!isRoberta && i == 1)
        std::fill(encoding.typeIds.begin(), encoding.typeIds.end(), 1);
      Encoding whole = i == 0      ? makeSpecial(first.id, typeId, first.token)
                       : isRoberta ? makeSpecial(separator.id, typeId, separator.token)
                                   : Encoding();
      whole.append(encoding);
      whole.append(makeSpecial(separator.id, typeId, separator.token));
      encoding = std::move(whole);
    }
    return {};
  }

private:
  bool isRoberta;
  SpecialToken separator, first;
  OffsetTrimming trimming;
};

//===----------------------------------------------------------------------===//
// Templates
//===----------------------------------------------------------------------===//

class Template : public PostProcessor {
public:
  Status read(Fields &fields);
  size_t countAdded(bool isPair) const override { return count(isPair ? pair : single); }
  Status process(std::vector<Encoding> &encodings, bool addsSpecialTokens) const override;

private:
  struct Special {
    std::vector<uint32_t> ids;
    std::vector<std::string> tokens;
  };
  struct Part {
    const Special *special; ///< null: a text
    size_t text;
    uint32_t typeId;
  };
  static size_t count(const std::vector<Part> &parts);
  Status readSpecials(const Json &json);
  Status readParts(const Json &json, const char *name, std::vector<Part> &parts) const;

  std::map<std::string, Special> specials;
  std::vector<Part> single, pair;
};
} // namespace

size_t Template::count(const std::vector<Part> &parts) {
  size_t added = 0;
  for (const Part &part : parts)
    added += part.special ? part.special->ids.size() : 0;
  return added;
}

Status Template::readSpecials(const Json &json) {
  for (const auto &[name, value] : json.items()) {
    Fields fields(value, "post_processor.special_tokens." + name);
    Special &special = specials[name];
    for (const Json &id : fields.getArray("ids")) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() > UINT32_MAX)
        return Status::make(TENON_INVALID, "a number of the special token '%s' is no integer of 32 bits", name.c_str());
      special.ids.push_back(id.get<uint32_t>());
    }
    for (const Json &token : fields.getArray("tokens")) {
      if (!token.is_string())
        return Status::make(TENON_INVALID, "a token of the special token '%s' is no string", name.c_str());
      special.tokens.push_back(token.get<std::string>());
    }
    TENON_TRY(fields.takeStatus());
    if (special.ids.size() != special.tokens.size())
      return Status::make(TENON_INVALID, "the special token '%s' has %zu numbers and %zu tokens", name.c_str(),
                          special.ids.size(), special.tokens.size());
  }
  return {};
}

Status Template::readParts(const Json &json, const char *name, std::vector<Part> &parts) const {
  for (size_t i = 0; i < json.size(); ++i) {
    std::string path = std::string("post_processor.") + name + "." + std::to_string(i);
    if (!json[i].is_object() || json[i].size() != 1)
      return Status::make(TENON_INVALID, "'%s' has to be just one 'Sequence' or 'SpecialToken'", path.c_str());
    auto entry = json[i].begin();
    Fields fields(*entry, path + "." + entry.key());
    std::string id = fields.getString("id");
    Part part{nullptr, 0, static_cast<uint32_t>(fields.getCount("type_id", UINT32_MAX))};
    TENON_TRY(fields.takeStatus());
    if (entry.key() == "SpecialToken") {
      auto special = specials.find(id);
      if (special == specials.end())
        return Status::make(TENON_INVALID, "'%s' is '%s', which 'special_tokens' does not have", path.c_str(),
                            id.c_str());
      part.special = &special->second;
    } else if (entry.key() == "Sequence" && (id == "A" || id == "B")) {
      part.text = id == "A" ? 0 : 1;
    } else {
      return Status::make(TENON_UNSUPPORTED, "'%s' is a '%s' with the id '%s', which is not supported", path.c_str(),
                          entry.key().c_str(), id.c_str());
    }
    parts.push_back(part);
    if (count(parts) > kMaxAdded || parts.size() > kMaxAdded)
      return Status::make(TENON_UNSUPPORTED, "'post_processor.%s' adds more than %zu tokens", name, kMaxAdded);
  }
  return {};
}

Status Template::read(Fields &fields) {
  const Json &singleJson = fields.getArray("single"), &pairJson = fields.getArray("pair"),
             &specialJson = fields.getObject("special_tokens");
  TENON_TRY(fields.takeStatus());
  TENON_TRY(readSpecials(specialJson));
  TENON_TRY(readParts(singleJson, "single", single));
  return readParts(pairJson, "pair", pair);
}

Status Template::process(std::vector<Encoding> &encodings, bool addsSpecialTokens) const {
  // A template before this one has split the texts.
  if (encodings.size() > 2)
    return Status::make(TENON_UNSUPPORTED, "'post_processor' has a template after another one");
  std::vector<Encoding> all;
  for (const Part &part : encodings.size() == 2 ? pair : single) {
    if (!part.special) {
      if (part.text >= encodings.size())
        return Status::make(TENON_INVALID, "the template for one text names a second one");
      Encoding &encoding = all.emplace_back(encodings[part.text]);
      std::fill(encoding.typeIds.begin(), encoding.typeIds.end(), part.typeId);
      continue;
    }
    for (size_t i = 0; addsSpecialTokens && i < part.special->ids.size(); ++i)
      all.push_back(makeSpecial(part.special->ids[i], part.typeId, part.special->tokens[i]));
  }
  encodings.swap(all);
  return {};
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

namespace {
class Sequence : public PostProcessor {
public:
  std::vector<std::unique_ptr<PostProcessor>> components;

  size_t countAdded(bool isPair) const override {
    size_t added = 0;
    for (const auto &component : components)
      added += component->countAdded(isPair);
    return added;
  }
  Status process(std::vector<Encoding> &encodings, bool addsSpecialTokens) const override {
    for (const auto &component : components)
      TENON_TRY(component->process(encodings, addsSpecialTokens));
    return {};
  }
};
} // namespace

template <typename Processor, typename... Arguments>
static Status makeAndRead(Fields &fields, Sequence &sequence, Arguments... arguments) {
  auto processor = std::make_unique<Processor>(arguments...);
  TENON_TRY(processor->read(fields));
  sequence.components.push_back(std::move(processor));
  return {};
}

static Status makeComponent(const Json &json, const std::string &path, Sequence &sequence) {
  Fields fields(json, path);
  std::string type = fields.getString("type");
  TENON_TRY(fields.takeStatus());
  if (type == "ByteLevel")
    return makeAndRead<ByteLevel>(fields, sequence);
  if (type == "BertProcessing" || type == "RobertaProcessing")
    return makeAndRead<Surround>(fields, sequence, type == "RobertaProcessing");
  if (type == "TemplateProcessing")
    return makeAndRead<Template>(fields, sequence);
  if (type == "Sequence") {
    const Json &inner = fields.getArray("processors");
    TENON_TRY(fields.takeStatus());
    for (size_t i = 0; i < inner.size() && sequence.components.size() <= kMaxComponents; ++i)
      TENON_TRY(makeComponent(inner[i], path + ".processors." + std::to_string(i), sequence));
    return {};
  }
  fields.failUnknown("type", type, "BertProcessing, ByteLevel, RobertaProcessing, Sequence and TemplateProcessing");
  return fields.takeStatus();
}

Status tenon::text::makePostProcessor(const Json &json, std::unique_ptr<PostProcessor> &processor) {
  auto sequence = std::make_unique<Sequence>();
  if (!json.is_null())
    TENON_TRY(makeComponent(json, "post_processor", *sequence));
  if (sequence->components.size() > kMaxComponents)
    return Status::make(TENON_INVALID, "'post_processor' has more than %zu components", kMaxComponents);
  processor = std::move(sequence);
  return {};
}
