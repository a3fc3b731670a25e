//===- Unigram.cpp - the tokens of the highest probability ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Kudo, "Subword Regularization", https://arxiv.org/abs/1804.10959: the best path through all ways to split a text, by
// dynamic programming from left to right (Viterbi).
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Bytes.h"
#include "runtime/text/Model.h"

#include <cassert>
#include <limits>

using namespace tenon::text;

namespace {
class Unigram : public Model {
public:
  Status read(Fields &fields);
  Status tokenize(std::string_view piece, std::vector<Token> &tokens) const override;

private:
  /// The best way to reach a place of the text.
  struct Node {
    double score = 0;
    size_t begin = std::numeric_limits<size_t>::max(); ///< of the last token; that is not there in the beginning
    uint32_t id = 0;
  };
  Status findPath(std::string_view piece, std::vector<Node> &path) const;
  Status addToken(std::string_view piece, size_t begin, size_t end, std::vector<Token> &tokens) const;

  std::vector<double> scores;
  PrefixTable table;
  double unknownScore = 0;
  std::optional<uint32_t> unknown;
  bool hasByteFallback = false;
};
} // namespace

Status Unigram::read(Fields &fields) {
  const Json &tokens = fields.getArray("vocab");
  hasByteFallback = fields.getBool("byte_fallback", false);
  if (fields.has("unk_id"))
    unknown = static_cast<uint32_t>(fields.getCount("unk_id", UINT32_MAX));
  TENON_TRY(fields.takeStatus());
  if (unknown && *unknown >= tokens.size())
    return Status::make(TENON_INVALID, "'model.unk_id' is %u, but there are %zu tokens", *unknown, tokens.size());
  double least = std::numeric_limits<double>::infinity();
  for (const Json &entry : tokens) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      return Status::make(TENON_INVALID, "'model.vocab.%zu' is no pair of a token and a number", scores.size());
    const auto &token = entry[0].get_ref<const std::string &>();
    TENON_TRY(checkTokenLength(token));
    vocabulary.add(token, static_cast<uint32_t>(scores.size()));
    scores.push_back(entry[1].get<double>());
    least = std::min(least, scores.back());
  }
  constexpr double kPenalty = 10; // format: SentencePiece's kUnkPenalty
  unknownScore = least - kPenalty;
  vocabulary.visit([&](std::string_view token, uint32_t id) {
    if (!token.empty())
      table.add(token, id);
  });
  table.sort();
  return {};
}

static size_t lengthOfCharacter(char first) {
  auto byte = static_cast<unsigned char>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

Status Unigram::findPath(std::string_view piece, std::vector<Node> &path) const {
  path.assign(piece.size() + 1, {});
  for (size_t begin = 0, length; begin < piece.size(); begin += length) {
    length = std::min(lengthOfCharacter(piece[begin]), piece.size() - begin);
    double score = path[begin].score;
    auto reach = [&](size_t end, double itsScore, uint32_t id) {
      Node &node = path[end];
      if (node.begin == std::numeric_limits<size_t>::max() || itsScore > node.score)
        node = {itsScore, begin, id};
    };
    bool isKnown = false;
    table.visitPrefixes(piece.substr(begin), [&](size_t size, uint32_t id) {
      reach(begin + size, scores[id] + score, id);
      isKnown |= size == length;
    });
    if (isKnown)
      continue;
    if (!unknown)
      return Status::make(TENON_INVALID, "the text has a character that the vocabulary does not have, and there is no "
                                         "'model.unk_id'");
    reach(begin + length, unknownScore + score, *unknown);
  }
  return {};
}

Status Unigram::addToken(std::string_view piece, size_t begin, size_t end, std::vector<Token> &tokens) const {
  std::string_view text = piece.substr(begin, end - begin);
  std::optional<uint32_t> id = vocabulary.find(text);
  if (!id && hasByteFallback) {
    std::vector<Token> bytes;
    for (char byte : text) {
      std::string name = getByteToken(static_cast<unsigned char>(byte));
      std::optional<uint32_t> byteId = vocabulary.find(name);
      if (byteId)
        bytes.push_back({*byteId, std::move(name), begin, end});
    }
    if (bytes.size() == text.size()) {
      std::move(bytes.begin(), bytes.end(), std::back_inserter(tokens));
      return {};
    }
  }
  if (!id && !unknown)
    return Status::make(TENON_INVALID, "there is no 'model.unk_id' for characters that the vocabulary does not have");
  tokens.push_back({id ? *id : *unknown, std::string(text), begin, end});
  return {};
}

Status Unigram::tokenize(std::string_view piece, std::vector<Token> &tokens) const {
  std::vector<Node> path;
  TENON_TRY(findPath(piece, path));
  // Traces the path back from the end; contiguous unknown characters form one token.
  std::vector<std::pair<size_t, size_t>> ranges;
  bool wasUnknown = false;
  for (size_t end = piece.size(); end > 0; end = path[end].begin) {
    assert(path[end].begin < end && "each end of a character on the path was reached from before it");
    bool isUnknown = unknown && path[end].id == *unknown;
    if (isUnknown && wasUnknown)
      ranges.back().first = path[end].begin;
    else
      ranges.emplace_back(path[end].begin, end);
    wasUnknown = isUnknown;
  }
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range)
    TENON_TRY(addToken(piece, range->first, range->second, tokens));
  return {};
}

Status tenon::text::makeUnigram(Fields &fields, std::unique_ptr<Model> &model) {
  auto unigram = std::make_unique<Unigram>();
  TENON_TRY(unigram->read(fields));
  model = std::move(unigram);
  return {};
}
