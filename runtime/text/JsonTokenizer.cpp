//===- JsonTokenizer.cpp - tokenizer.json ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/AddedTokens.h"
#include "runtime/text/Decoders.h"
#include "runtime/text/Model.h"
#include "runtime/text/PostProcessors.h"
#include "runtime/text/PreTokenizers.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Unicode.h"

using namespace tenon::text;

// limit: the size of texts, so that 32 bits count their characters even after growth; and the padded length.
static constexpr size_t kMaxTextBytes = 16 << 20, kMaxPadding = 1 << 20;

namespace {
class JsonTokenizer : public Tokenizer {
public:
  Status read(const Json &json);
  Status encode(const std::vector<TextInput> &texts, const EncodeOptions &options,
                std::vector<Encoding> &encodings) const override;
  Status decode(const std::vector<uint32_t> &ids, bool skipsSpecialTokens, std::string &text) const override;
  std::optional<std::string> getToken(uint32_t id) const override;
  std::optional<uint32_t> findToken(std::string_view token) const override;

private:
  Status readTruncation(const Json &json);
  Status readPadding(const Json &json);
  Status encodeText(std::string_view text, uint32_t typeId, Encoding &encoding) const;
  Status encodeInput(const TextInput &input, const EncodeOptions &options, Encoding &encoding) const;

  std::unique_ptr<Model> model;
  AddedTokens addedTokens;
  Normalizer normalizer;
  PreTokenizer preTokenizer;
  std::unique_ptr<PostProcessor> postProcessor;
  Decoder decoder;
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;
};
} // namespace

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static bool readDirection(Fields &fields) {
  std::string direction = fields.getString("direction", "Right");
  if (direction != "Left" && direction != "Right")
    fields.failUnknown("direction", direction, "Left and Right");
  return direction == "Left";
}

Status JsonTokenizer::readTruncation(const Json &json) {
  Fields fields(json, "truncation");
  Truncation &limit = truncation.emplace();
  limit.maxLength = fields.getCount("max_length", UINT32_MAX);
  limit.isFromLeft = readDirection(fields);
  std::string strategy = fields.getString("strategy", "LongestFirst");
  if (strategy == "OnlyFirst")
    limit.strategy = Truncation::Strategy::onlyFirst;
  else if (strategy == "OnlySecond")
    limit.strategy = Truncation::Strategy::onlySecond;
  else if (strategy != "LongestFirst")
    fields.failUnknown("strategy", strategy, "LongestFirst, OnlyFirst and OnlySecond");
  return fields.takeStatus();
}

Status JsonTokenizer::readPadding(const Json &json) {
  Fields fields(json, "padding");
  Padding &pad = padding.emplace();
  pad.isLeft = readDirection(fields);
  pad.multiple = std::max<size_t>(1, fields.getCount("pad_to_multiple_of", kMaxPadding, 1));
  pad.id = static_cast<uint32_t>(fields.getCount("pad_id", UINT32_MAX));
  pad.typeId = static_cast<uint32_t>(fields.getCount("pad_type_id", UINT32_MAX));
  pad.token = fields.getString("pad_token");
  const Json &strategy = json.is_object() && json.contains("strategy") ? json["strategy"] : json;
  if (strategy.is_object() && strategy.size() == 1 && strategy.contains("Fixed")) {
    Fields fixed(strategy, "padding.strategy");
    pad.length = fixed.getCount("Fixed", kMaxPadding);
    fields.fail(fixed.takeStatus());
  } else if (strategy != "BatchLongest") {
    fields.fail(
        Status::make(TENON_UNSUPPORTED, "'padding.strategy' is not supported; known are BatchLongest and Fixed"));
  }
  return fields.takeStatus();
}

Status JsonTokenizer::read(const Json &json) {
  if (!json.is_object())
    return Status::make(TENON_INVALID, "holds no JSON object");
  static const Json null;
  auto get = [&](const char *key) -> const Json & {
    auto field = json.find(key);
    return field == json.end() ? null : *field;
  };
  if (!get("truncation").is_null())
    TENON_TRY(readTruncation(get("truncation")));
  if (!get("padding").is_null())
    TENON_TRY(readPadding(get("padding")));
  TENON_TRY(makeNormalizer(get("normalizer"), normalizer));
  TENON_TRY(makePreTokenizer(get("pre_tokenizer"), preTokenizer));
  TENON_TRY(makePostProcessor(get("post_processor"), postProcessor));
  TENON_TRY(makeDecoder(get("decoder"), decoder));
  TENON_TRY(makeModel(get("model"), model));
  return addedTokens.read(get("added_tokens"), model->getVocabulary(), normalizer);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// Appends tokens with the spans of their bytes, which may begin and end within a character.
static void appendTokens(Piece &piece, uint32_t typeId, Encoding &encoding) {
  std::vector<uint32_t> characterOf;
  std::string bytes;
  for (uint32_t i = 0; i < piece.text.size(); ++i) {
    bytes.clear();
    appendUtf8(piece.text.chars()[i], bytes);
    characterOf.resize(characterOf.size() + bytes.size(), i);
  }
  for (Token &token : piece.tokens) {
    // Bytes of affixes that a vocabulary adds to words are beyond the end.
    size_t end = std::min(token.end, characterOf.size());
    Span span;
    if (token.begin < end)
      span = piece.text.getSpan(characterOf[token.begin], characterOf[end - 1] + 1);
    encoding.add(token.id, typeId, std::move(token.value), span, /*isSpecial=*/false);
  }
}

Status JsonTokenizer::encodeText(std::string_view text, uint32_t typeId, Encoding &encoding) const {
  if (text.size() > kMaxTextBytes)
    return Status::make(TENON_RESOURCES, "the text has %zu bytes, more than the %zu that are supported", text.size(),
                        kMaxTextBytes);
  std::u32string chars;
  if (std::optional<size_t> fault = decodeUtf8(text, chars))
    return Status::make(TENON_INVALID, "the text is no UTF-8 at byte %zu", *fault);
  std::vector<Piece> pieces;
  TENON_TRY(addedTokens.extract(AlignedText(std::move(chars)), normalizer, pieces));
  TENON_TRY(preTokenizer(pieces));
  for (Piece &piece : pieces) {
    if (!piece.hasTokens)
      TENON_TRY(model->tokenize(toUtf8(piece.text.chars()), piece.tokens));
    appendTokens(piece, typeId, encoding);
  }
  return {};
}

Status JsonTokenizer::encodeInput(const TextInput &input, const EncodeOptions &options, Encoding &encoding) const {
  std::vector<Encoding> encodings(input.pair ? 2 : 1);
  TENON_TRY(encodeText(input.text, 0, encodings[0]));
  if (input.pair)
    TENON_TRY(encodeText(*input.pair, 1, encodings[1]));
  std::optional<Truncation> limit = options.truncates || options.maxLength ? truncation : std::nullopt;
  if (options.maxLength) {
    if (!limit)
      limit.emplace();
    limit->maxLength = *options.maxLength;
  }
  if (limit)
    TENON_TRY(
        limit->apply(encodings, options.addsSpecialTokens ? postProcessor->countAdded(input.pair.has_value()) : 0));
  TENON_TRY(postProcessor->process(encodings, options.addsSpecialTokens));
  encoding = {};
  for (const Encoding &part : encodings)
    encoding.append(part);
  return {};
}

Status JsonTokenizer::encode(const std::vector<TextInput> &texts, const EncodeOptions &options,
                             std::vector<Encoding> &encodings) const {
  encodings.assign(texts.size(), {});
  for (size_t i = 0; i < texts.size(); ++i)
    if (Status status = encodeInput(texts[i], options, encodings[i]); status.failed())
      return Status::make(status.code(), "text %zu: %s", i + 1, status.message());
  if (options.pad == EncodeOptions::Pad::never)
    return {};
  Padding how = padding.value_or(Padding());
  if (options.pad == EncodeOptions::Pad::toLongest) {
    how.length.reset();
    how.multiple = 1;
  }
  how.apply(encodings, options.minPadded);
  return {};
}

Status JsonTokenizer::decode(const std::vector<uint32_t> &ids, bool skipsSpecialTokens, std::string &text) const {
  std::vector<std::string> tokens;
  for (uint32_t id : ids) {
    std::optional<std::string> token = getToken(id);
    if (token && !(skipsSpecialTokens && addedTokens.isSpecial(*token)))
      tokens.push_back(std::move(*token));
  }
  TENON_TRY(decoder(tokens));
  text.clear();
  for (const std::string &token : tokens)
    text += token;
  return {};
}

std::optional<std::string> JsonTokenizer::getToken(uint32_t id) const {
  const std::string *token = addedTokens.get(id);
  if (!token)
    token = model->getVocabulary().get(id);
  return token ? std::optional(*token) : std::nullopt;
}

std::optional<uint32_t> JsonTokenizer::findToken(std::string_view token) const {
  std::optional<uint32_t> id = addedTokens.find(token);
  return id ? id : model->getVocabulary().find(token);
}

Status tenon::text::parseTokenizer(std::string_view text, std::unique_ptr<Tokenizer> &tokenizer) {
  Json json;
  TENON_TRY(parseJson(text, json));
  auto made = std::make_unique<JsonTokenizer>();
  TENON_TRY(made->read(json));
  tokenizer = std::move(made);
  return {};
}
