//===- AddedTokens.cpp - tokens that are found before a text is split -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/AddedTokens.h"
#include "runtime/text/Unicode.h"

using namespace tenon::text;

Status AddedTokens::readToken(const Json &json, size_t index, AddedToken &token) const {
  Fields fields(json, "added_tokens." + std::to_string(index));
  token.content = fields.getString("content");
  token.id = static_cast<uint32_t>(fields.getCount("id", UINT32_MAX));
  token.isWord = fields.getBool("single_word", false);
  token.isLeftStripped = fields.getBool("lstrip", false);
  token.isRightStripped = fields.getBool("rstrip", false);
  token.isSpecial = fields.getBool("special", false);
  token.isNormalized = fields.getBool("normalized", !token.isSpecial);
  TENON_TRY(fields.takeStatus());
  return checkTokenLength(token.content);
}

uint32_t AddedTokens::nextId(size_t modelSize) const {
  auto size = static_cast<uint32_t>(modelSize);
  bool isBehind = vocabulary.size() != 0 && (largestId >= size || size == 0);
  return isBehind ? largestId + 1 : size;
}

Status AddedTokens::read(const Json &json, const Vocabulary &model, const Normalizer &normalizer) {
  if (!json.is_null() && !json.is_array())
    return Status::make(TENON_INVALID, "'added_tokens' is no array");
  std::vector<AddedToken> others;
  for (size_t i = 0; i < json.size(); ++i) {
    AddedToken token;
    TENON_TRY(readToken(json[i], i, token));
    if (token.content.empty())
      continue;
    std::optional<uint32_t> known = vocabulary.find(token.content);
    if (!known)
      known = model.find(token.content);
    uint32_t id = known ? *known : nextId(model.size());
    if (id != token.id)
      return Status::make(TENON_UNSUPPORTED, "the added token '%s' has the number %u, but %s %u", token.content.c_str(),
                          token.id, known ? "in the vocabulary it has" : "the next one that is free is", id);
    vocabulary.add(token.content, id);
    largestId = std::max(largestId, id);
    if (token.isSpecial)
      specials.insert(token.content);
    (token.isSpecial ? tokens : others).push_back(std::move(token));
  }
  std::move(others.begin(), others.end(), std::back_inserter(tokens));
  TENON_TRY(buildTable(false, normalizer));
  return buildTable(true, normalizer);
}

Status AddedTokens::buildTable(bool isNormalized, const Normalizer &normalizer) {
  PrefixTable &table = isNormalized ? normalizedTable : verbatimTable;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].isNormalized != isNormalized)
      continue;
    std::u32string content;
    if (decodeUtf8(tokens[i].content, content))
      return Status::make(TENON_INVALID, "the added token '%s' is no UTF-8", tokens[i].content.c_str());
    AlignedText text(std::move(content));
    if (isNormalized)
      TENON_TRY(normalizer(text));
    const std::string &key = normalized.emplace_back(toUtf8(text.chars()));
    TENON_TRY(checkTokenLength(key));
    spelled.add(key, tokens[i].id);
    if (!key.empty())
      table.add(key, i);
  }
  table.sort();
  return {};
}

Status AddedTokens::split(const AlignedText &text, const PrefixTable &table, std::vector<Piece> &pieces) const {
  // A slice begins where its first character begins, without characters before it that the normalizer dropped.
  if (table.empty()) {
    pieces.push_back({text.slice(0, text.size()), {}, false});
    return {};
  }
  std::u32string_view chars = text.chars();
  std::string bytes = toUtf8(chars);
  size_t last = 0; // end of the last piece
  size_t overlap = 0;
  size_t at = 0, byteAt = 0;
  auto advance = [&](size_t toByte) {
    for (; byteAt < toByte; ++at)
      byteAt += chars[at] < 0x80 ? 1 : chars[at] < 0x800 ? 2 : chars[at] < 0x10000 ? 3 : 4;
  };
  while (at < chars.size()) {
    size_t length = 0;
    uint32_t index = 0;
    table.visitPrefixes(std::string_view(bytes).substr(byteAt), [&](size_t size, uint32_t value) {
      length = size;
      index = value;
    });
    if (length == 0) {
      advance(byteAt + 1);
      continue;
    }
    size_t begin = at;
    advance(byteAt + length);
    size_t end = at;
    const AddedToken &token = tokens[index];
    bool isInWord =
        (begin > 0 && isWordCharacter(chars[begin - 1])) || (end < chars.size() && isWordCharacter(chars[end]));
    if (token.isWord && isInWord)
      continue;
    while (token.isLeftStripped && begin > last && isWhitespace(chars[begin - 1]))
      --begin;
    while (token.isRightStripped && end < chars.size() && isWhitespace(chars[end]))
      ++end;
    // Limits overlapping matches: a token of spaces that also strips the spaces to its right is found again within
    // these, and each match takes the rest.
    constexpr size_t kMaxOverlaps = 64; // limit: characters in several tokens, for each of the text
    overlap += last > begin ? last - begin : 0;
    if (overlap > kMaxOverlaps * chars.size())
      return Status::make(TENON_RESOURCES, "the added token '%s' overlaps itself too often", token.content.c_str());
    if (last < begin)
      pieces.push_back({text.slice(last, begin), {}, false});
    Piece piece{text.slice(begin, end), {}, true};
    std::string value = toUtf8(piece.text.chars());
    size_t size = value.size();
    piece.tokens.push_back({token.id, std::move(value), 0, size});
    pieces.push_back(std::move(piece));
    last = end;
  }
  if (last < chars.size())
    pieces.push_back({text.slice(last, chars.size()), {}, false});
  return {};
}

Status AddedTokens::extract(AlignedText text, const Normalizer &normalizer, std::vector<Piece> &pieces) const {
  pieces.clear();
  pieces.push_back({std::move(text), {}, false});
  TENON_TRY(splitPieces(pieces, [&](const AlignedText &whole, std::vector<Piece> &parts) -> Status {
    return split(whole, verbatimTable, parts);
  }));
  return splitPieces(pieces, [&](AlignedText &part, std::vector<Piece> &parts) -> Status {
    TENON_TRY(normalizer(part));
    return split(part, normalizedTable, parts);
  });
}
