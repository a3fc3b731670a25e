//===- Bpe.cpp - pairs of tokens that are merged in a learned order -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Sennrich and others, https://arxiv.org/abs/1508.07909. Merges wait in a heap, by rank and then by place, so that a
// piece of n characters takes O(n log n).
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Bytes.h"
#include "runtime/text/Model.h"

#include <cassert>
#include <queue>

using namespace tenon::text;

namespace {
class Bpe : public Model {
public:
  Status read(Fields &fields);
  Status tokenize(std::string_view piece, std::vector<Token> &tokens) const override;

private:
  struct Merge {
    uint32_t rank, id;
  };
  /// A token of a piece, linked to its neighbours.
  struct Symbol {
    uint32_t id;
    size_t previous, next; ///< kNone at the ends
    size_t bytes;          ///< 0 where it was merged into the one before
  };
  /// Two neighbours that may be merged, unless one of them has been merged otherwise in the meantime.
  struct Candidate {
    uint32_t rank, id;
    size_t left;
    bool operator<(const Candidate &other) const { // a heap has its largest element first
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  using Heap = std::priority_queue<Candidate>;
  static constexpr size_t kNone = SIZE_MAX;

  Status readMerges(const Json &merges);
  Status addMerge(std::string_view left, std::string_view right, uint32_t rank);
  Status addCharacters(std::string_view piece, std::vector<Symbol> &symbols) const;
  bool addBytes(std::string_view text, std::vector<Symbol> &symbols) const;
  void addCandidate(const std::vector<Symbol> &symbols, size_t left, Heap &heap) const;
  void mergeAll(std::vector<Symbol> &symbols) const;

  std::optional<std::string> unknown;
  std::string prefix, suffix; ///< of all characters but the first; of the last
  bool isUnknownFused = false, hasByteFallback = false, isWholeFirst = false;
  std::unordered_map<uint64_t, Merge, SeededHash> merges;
};
} // namespace

static uint64_t makePair(uint32_t left, uint32_t right) { return static_cast<uint64_t>(left) << 32 | right; }

Status Bpe::read(Fields &fields) {
  if (fields.has("unk_token"))
    unknown = fields.getString("unk_token");
  prefix = fields.getString("continuing_subword_prefix", "");
  suffix = fields.getString("end_of_word_suffix", "");
  isUnknownFused = fields.getBool("fuse_unk", false);
  hasByteFallback = fields.getBool("byte_fallback", false);
  isWholeFirst = fields.getBool("ignore_merges", false);
  if (fields.getNumber("dropout", 0) != 0)
    fields.fail(Status::make(TENON_UNSUPPORTED, "'model.dropout' is not 0, so that tokens would be random"));
  const Json &tokens = fields.getObject("vocab"), &pairs = fields.getArray("merges");
  TENON_TRY(fields.takeStatus());
  constexpr size_t kMaxAffix = 64; // limit: they are added to each character of a text
  if (prefix.size() > kMaxAffix || suffix.size() > kMaxAffix)
    return Status::make(TENON_UNSUPPORTED,
                        "'model.continuing_subword_prefix' or 'model.end_of_word_suffix' has more "
                        "than %zu bytes",
                        kMaxAffix);
  TENON_TRY(vocabulary.read(tokens));
  return readMerges(pairs);
}

Status Bpe::readMerges(const Json &pairs) {
  merges.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Json &pair = pairs[i];
    std::string_view left, right;
    if (pair.is_string()) {
      std::string_view text = pair.get_ref<const std::string &>();
      // Files that were merges.txt once.
      if (text.substr(0, 8) == "#version")
        continue;
      size_t space = text.find(' ');
      if (space != text.npos && text.find(' ', space + 1) == text.npos) {
        left = text.substr(0, space);
        right = text.substr(space + 1);
      }
    } else if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string()) {
      left = pair[0].get_ref<const std::string &>();
      right = pair[1].get_ref<const std::string &>();
    }
    if (left.empty() || right.empty())
      return Status::make(TENON_INVALID, "'model.merges.%zu' is no pair of tokens", i);
    TENON_TRY(addMerge(left, right, static_cast<uint32_t>(i)));
  }
  return {};
}

Status Bpe::addMerge(std::string_view left, std::string_view right, uint32_t rank) {
  std::optional<uint32_t> leftId = vocabulary.find(left), rightId = vocabulary.find(right);
  std::string both = std::string(left) + std::string(right.substr(std::min(prefix.size(), right.size())));
  std::optional<uint32_t> id = vocabulary.find(both);
  if (!leftId || !rightId || !id)
    return Status::make(TENON_INVALID, "'model.merges.%u' is about '%s', which the vocabulary does not have", rank,
                        std::string(!leftId    ? left
                                    : !rightId ? right
                                               : std::string_view(both))
                            .c_str());
  merges.insert_or_assign(makePair(*leftId, *rightId), Merge{rank, *id});
  return {};
}

/// Adds a token for each byte. Returns false, with nothing added, if the vocabulary lacks one.
bool Bpe::addBytes(std::string_view text, std::vector<Symbol> &symbols) const {
  size_t before = symbols.size();
  for (char byte : text) {
    std::optional<uint32_t> id = vocabulary.find(getByteToken(static_cast<unsigned char>(byte)));
    if (!id) {
      symbols.resize(before);
      return false;
    }
    symbols.push_back({*id, 0, 0, 1});
  }
  return true;
}

Status Bpe::addCharacters(std::string_view piece, std::vector<Symbol> &symbols) const {
  std::optional<Symbol> pending; // unknown characters, which may become one token
  std::string name;
  for (size_t begin = 0, end; begin < piece.size(); begin = end) {
    for (end = begin + 1; end < piece.size() && (static_cast<unsigned char>(piece[end]) & 0xc0) == 0x80;)
      ++end;
    name.assign(begin == 0 ? "" : prefix);
    name.append(piece, begin, end - begin);
    if (end == piece.size())
      name.append(suffix);
    if (std::optional<uint32_t> id = vocabulary.find(name)) {
      if (pending)
        symbols.push_back(*pending);
      pending.reset();
      symbols.push_back({*id, 0, 0, end - begin});
      continue;
    }
    // A pending unknown token is added after these bytes, as in the package `tokenizers`.
    if ((hasByteFallback && addBytes(name, symbols)) || !unknown)
      continue;
    if (pending && isUnknownFused) {
      pending->bytes += end - begin;
      continue;
    }
    if (pending)
      symbols.push_back(*pending);
    uint32_t id = 0;
    TENON_TRY(findRequired(*unknown, "model.unk_token", id));
    pending = Symbol{id, 0, 0, end - begin};
  }
  if (pending)
    symbols.push_back(*pending);
  return {};
}

void Bpe::addCandidate(const std::vector<Symbol> &symbols, size_t left, Heap &heap) const {
  assert(symbols[left].bytes && symbols[left].next != kNone && "a candidate is a token and the one after it");
  auto merge = merges.find(makePair(symbols[left].id, symbols[symbols[left].next].id));
  if (merge != merges.end())
    heap.push({merge->second.rank, merge->second.id, left});
}

void Bpe::mergeAll(std::vector<Symbol> &symbols) const {
  Heap heap;
  for (size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].previous = i == 0 ? kNone : i - 1;
    symbols[i].next = i + 1 == symbols.size() ? kNone : i + 1;
  }
  for (size_t i = 0; i + 1 < symbols.size(); ++i)
    addCandidate(symbols, i, heap);
  while (!heap.empty()) {
    Candidate top = heap.top();
    heap.pop();
    Symbol &left = symbols[top.left];
    if (left.bytes == 0 || left.next == kNone)
      continue;
    Symbol &right = symbols[left.next];
    auto merge = merges.find(makePair(left.id, right.id));
    if (merge == merges.end() || merge->second.id != top.id)
      continue;
    left.id = top.id;
    left.bytes += right.bytes;
    left.next = right.next;
    right.bytes = 0;
    if (left.next != kNone)
      symbols[left.next].previous = top.left;
    if (left.previous != kNone)
      addCandidate(symbols, left.previous, heap);
    if (left.next != kNone)
      addCandidate(symbols, top.left, heap);
  }
}

Status Bpe::tokenize(std::string_view piece, std::vector<Token> &tokens) const {
  if (isWholeFirst)
    if (std::optional<uint32_t> id = vocabulary.find(piece)) {
      tokens.push_back({*id, std::string(piece), 0, piece.size()});
      return {};
    }
  std::vector<Symbol> symbols;
  TENON_TRY(addCharacters(piece, symbols));
  mergeAll(symbols);
  size_t at = 0;
  for (const Symbol &symbol : symbols) {
    if (symbol.bytes == 0)
      continue;
    tokens.push_back({symbol.id, *vocabulary.get(symbol.id), at, at + symbol.bytes});
    at += symbol.bytes;
  }
  return {};
}

Status tenon::text::makeBpe(Fields &fields, std::unique_ptr<Model> &model) {
  auto bpe = std::make_unique<Bpe>();
  TENON_TRY(bpe->read(fields));
  model = std::move(bpe);
  return {};
}
