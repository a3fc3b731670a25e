//===- WordPiece.cpp - the longest tokens, from left to right -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Schuster and Nakajima, "Japanese and Korean Voice Search", 2012; as BERT uses it.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Model.h"

using namespace tenon::text;

namespace {
class WordPiece : public Model {
public:
  Status read(Fields &fields);
  Status tokenize(std::string_view piece, std::vector<Token> &tokens) const override;

private:
  std::string unknown, prefix;
  uint64_t maxCharacters = 0;
  PrefixTable beginnings, continuations; ///< the latter without prefix
};
} // namespace

Status WordPiece::read(Fields &fields) {
  unknown = fields.getString("unk_token", "[UNK]");
  prefix = fields.getString("continuing_subword_prefix", "##");
  maxCharacters = fields.getCount("max_input_chars_per_word", UINT32_MAX, 100);
  const Json &tokens = fields.getObject("vocab");
  TENON_TRY(fields.takeStatus());
  TENON_TRY(vocabulary.read(tokens));
  Status status;
  vocabulary.visit([&](std::string_view token, uint32_t id) {
    if (Status length = checkTokenLength(token); length.failed())
      status = std::move(length);
    if (!token.empty())
      beginnings.add(token, id);
    if (token.size() > prefix.size() && token.substr(0, prefix.size()) == prefix)
      continuations.add(token.substr(prefix.size()), id);
  });
  beginnings.sort();
  continuations.sort();
  return status;
}

Status WordPiece::tokenize(std::string_view piece, std::vector<Token> &tokens) const {
  auto isFirstByte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  auto characters = static_cast<uint64_t>(std::count_if(piece.begin(), piece.end(), isFirstByte));
  size_t at = characters > maxCharacters ? piece.size() + 1 : 0, first = tokens.size();
  while (at < piece.size()) {
    size_t longest = 0;
    uint32_t id = 0;
    (at == 0 ? beginnings : continuations).visitPrefixes(piece.substr(at), [&](size_t length, uint32_t value) {
      longest = length;
      id = value;
    });
    if (longest == 0)
      break;
    tokens.push_back({id, *vocabulary.get(id), at, at + longest});
    at += longest;
  }
  if (at == piece.size())
    return {};
  // A word is known as a whole or not at all.
  tokens.resize(first);
  uint32_t id = 0;
  TENON_TRY(findRequired(unknown, "model.unk_token", id));
  tokens.push_back({id, unknown, 0, piece.size()});
  return {};
}

Status tenon::text::makeWordPiece(Fields &fields, std::unique_ptr<Model> &model) {
  auto words = std::make_unique<WordPiece>();
  TENON_TRY(words->read(fields));
  model = std::move(words);
  return {};
}
