//===- SentencePiece.cpp - tokenizer.model --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Kudo and Richardson, https://arxiv.org/abs/1808.06226; results are those of the library, of which the file names the
// two algorithms: the best path of Unigram.cpp, with scores of 32 bits, and merges as in Bpe.cpp, ordered by the score
// of what they make.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Bytes.h"
#include "runtime/text/SentencePieceModel.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Unicode.h"

#include <cassert>
#include <cfloat>
#include <queue>

using namespace tenon::text;

static constexpr std::string_view kSpace = "\xe2\x96\x81";

namespace {
/// A normalized text, and the position in the original of each byte and of the end.
struct Normalized {
  std::string text;
  std::vector<uint32_t> origins;

  void add(std::string_view bytes, size_t origin) {
    text += bytes;
    origins.resize(text.size(), static_cast<uint32_t>(origin));
  }
};

class SentencePiece : public Tokenizer {
public:
  SentencePiece(bool addsBegin, bool addsEnd) : addsBegin(addsBegin), addsEnd(addsEnd) {}
  Status read(std::string_view bytes);

  Status encode(const std::vector<TextInput> &texts, const EncodeOptions &options,
                std::vector<Encoding> &encodings) const override;
  Status decode(const std::vector<uint32_t> &ids, bool skipsSpecialTokens, std::string &text) const override;
  std::optional<std::string> getToken(uint32_t id) const override {
    return id < model.pieces.size() ? std::optional(model.pieces[id].text) : std::nullopt;
  }
  std::optional<uint32_t> findToken(std::string_view token) const override {
    std::optional<uint32_t> id = reserved.find(token);
    return id ? id : known.find(token);
  }

private:
  using Type = SentencePieceModel::Type;
  /// A part of the normalized text, and its token.
  struct Segment {
    std::string_view text;
    uint32_t id;
  };
  struct Symbol {
    std::string_view text; ///< empty where it was merged into the one before
    size_t previous, next;
    bool isFrozen; ///< defined by the user: not merged
  };
  struct Candidate {
    float score;
    size_t left, right, size;
    bool operator<(const Candidate &other) const { // a heap has its largest element first
      return score != other.score ? score < other.score : left > other.left;
    }
  };
  using Halves = std::unordered_map<std::string_view, std::pair<std::string_view, std::string_view>, SeededHash>;
  static constexpr size_t kNone = SIZE_MAX;

  std::string_view normalizeFirst(std::string_view text, size_t &length) const;
  bool isUserDefined(std::string_view text, size_t &length) const;
  Normalized normalizeText(std::string_view text) const;
  std::vector<Segment> findPath(std::string_view text) const;
  std::vector<Segment> mergeAll(std::string_view text) const;
  void addCandidate(const std::vector<Symbol> &symbols, size_t left, size_t right, std::priority_queue<Candidate> &heap,
                    Halves &halves) const;
  void resegment(std::string_view text, const Halves &halves, std::vector<Segment> &segments) const;
  Status encodeText(std::string_view text, Encoding &encoding) const;
  void addSpecial(const std::string &piece, Encoding &encoding) const;

  SentencePieceModel model;
  bool addsBegin, addsEnd;
  Vocabulary known, reserved; ///< pieces of texts; others
  PrefixTable table, userDefined;
  uint32_t unknown = 0;
  float unknownScore = 0, userScore = 0;
};
} // namespace

Status SentencePiece::read(std::string_view bytes) {
  TENON_TRY(model.read(bytes));
  std::optional<uint32_t> unknownId;
  float least = FLT_MAX, most = -FLT_MAX;
  for (uint32_t id = 0; id < model.pieces.size(); ++id) {
    const auto &[text, score, type] = model.pieces[id];
    bool isKnown = type == Type::normal || type == Type::userDefined || type == Type::unused;
    if (known.find(text) || reserved.find(text))
      return Status::make(TENON_INVALID, "the piece '%s' is there twice", text.c_str());
    if (type == Type::byte && !getTokenByte(text))
      return Status::make(TENON_INVALID, "the piece '%s' is not of the form <0xNN> of a byte", text.c_str());
    (isKnown ? known : reserved).add(text, id);
    if (isKnown)
      table.add(text, id);
    if (type == Type::userDefined)
      userDefined.add(text, id);
    if (type == Type::unknown)
      unknownId = unknownId ? *unknownId : id;
    if (type == Type::normal) {
      least = std::min(least, score);
      most = std::max(most, score);
    }
  }
  if (!unknownId)
    return Status::make(TENON_INVALID, "there is no piece for unknown characters");
  for (unsigned byte = 0; model.hasByteFallback && byte < 256; ++byte)
    if (!reserved.find(getByteToken(static_cast<unsigned char>(byte))))
      return Status::make(TENON_INVALID, "there is no piece for the byte %u", byte);
  table.sort();
  userDefined.sort();
  constexpr float kPenalty = 10; // format: SentencePiece's kUnkPenalty
  unknown = *unknownId;
  unknownScore = least - kPenalty;
  userScore = most;
  return {};
}

//===----------------------------------------------------------------------===//
// Rules for characters and spaces
//===----------------------------------------------------------------------===//

static size_t lengthOfCharacter(std::string_view text) {
  auto first = static_cast<unsigned char>(text.front());
  return std::min<size_t>(first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4, text.size());
}

bool SentencePiece::isUserDefined(std::string_view text, size_t &length) const {
  length = 0;
  userDefined.visitPrefixes(text, [&](size_t size, uint32_t) { length = size; });
  if (length != 0)
    return true;
  length = lengthOfCharacter(text);
  return false;
}

/// Normalizes a prefix of the text; sets `length` to its bytes.
std::string_view SentencePiece::normalizeFirst(std::string_view text, size_t &length) const {
  if (isUserDefined(text, length) || !model.rules)
    return text.substr(0, length);
  if (std::optional<std::string_view> replacement = model.rules->findLongest(text, length))
    return *replacement;
  return text.substr(0, length);
}

Normalized SentencePiece::normalizeText(std::string_view text) const {
  Normalized result;
  std::string_view space = model.escapesSpaces ? kSpace : std::string_view(" ");
  size_t at = 0, length = 0;
  while (model.removesSpaces && at < text.size() && normalizeFirst(text.substr(at), length) == " ")
    at += length;
  if (at == text.size()) {
    result.origins.assign(1, static_cast<uint32_t>(at));
    return result;
  }
  if (model.addsPrefix)
    result.add(space, at);
  bool wasSpace = model.removesSpaces;
  for (; at < text.size(); at += length) {
    std::string_view part = normalizeFirst(text.substr(at), length);
    while (wasSpace && !part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    for (char c : part)
      result.add(c == ' ' ? space : std::string_view(&c, 1), at);
    if (!part.empty())
      wasSpace = model.removesSpaces && part.back() == ' ';
  }
  while (model.removesSpaces && result.text.size() >= space.size() &&
         std::string_view(result.text).substr(result.text.size() - space.size()) == space) {
    result.text.resize(result.text.size() - space.size());
    at = result.origins[result.text.size()];
    result.origins.resize(result.text.size());
  }
  result.origins.push_back(static_cast<uint32_t>(at));
  return result;
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

std::vector<SentencePiece::Segment> SentencePiece::findPath(std::string_view text) const {
  struct Node {
    float score = 0;
    size_t begin = kNone;
    uint32_t id = 0;
  };
  std::vector<Node> path(text.size() + 1);
  for (size_t begin = 0, length; begin < text.size(); begin += length) {
    length = lengthOfCharacter(text.substr(begin));
    float score = path[begin].score;
    auto reach = [&](size_t end, float itsScore, uint32_t id) {
      Node &node = path[end];
      if (node.begin == kNone || itsScore > node.score)
        node = {itsScore, begin, id};
    };
    bool isKnown = false;
    table.visitPrefixes(text.substr(begin), [&](size_t size, uint32_t id) {
      const SentencePieceModel::Piece &piece = model.pieces[id];
      if (piece.type == Type::unused)
        return;
      // Those that users define always win.
      constexpr float kBonus = 0.1F;
      float itsScore = piece.type == Type::userDefined ? static_cast<float>(size) * userScore - kBonus : piece.score;
      reach(begin + size, itsScore + score, id);
      isKnown |= size == length;
    });
    if (!isKnown)
      reach(begin + length, unknownScore + score, unknown);
  }
  assert((text.empty() || path.back().begin < text.size()) && "the end of a text is reached from before it");
  std::vector<Segment> segments;
  for (size_t end = text.size(); end > 0; end = path[end].begin)
    segments.push_back({text.substr(path[end].begin, end - path[end].begin), path[end].id});
  std::reverse(segments.begin(), segments.end());
  return segments;
}

void SentencePiece::addCandidate(const std::vector<Symbol> &symbols, size_t left, size_t right,
                                 std::priority_queue<Candidate> &heap, Halves &halves) const {
  if (left == kNone || right == kNone || symbols[left].isFrozen || symbols[right].isFrozen)
    return;
  std::string_view first = symbols[left].text, second = symbols[right].text;
  assert(first.data() + first.size() == second.data() && "symbols that may be merged are neighbours in the text");
  std::string_view both(first.data(), first.size() + second.size());
  std::optional<uint32_t> id = known.find(both);
  if (!id)
    return;
  heap.push({model.pieces[*id].score, left, right, both.size()});
  if (model.pieces[*id].type == Type::unused)
    halves.insert_or_assign(both, std::pair(first, second));
}

/// Adds a token, or the tokens of both halves of an unused one.
void SentencePiece::resegment(std::string_view text, const Halves &halves, std::vector<Segment> &segments) const {
  uint32_t id = findToken(text).value_or(unknown);
  auto parts = model.pieces[id].type == Type::unused ? halves.find(text) : halves.end();
  if (parts == halves.end()) {
    segments.push_back({text, id});
    return;
  }
  resegment(parts->second.first, halves, segments);
  resegment(parts->second.second, halves, segments);
}

std::vector<SentencePiece::Segment> SentencePiece::mergeAll(std::string_view text) const {
  std::vector<Symbol> symbols;
  for (size_t at = 0, length; at < text.size(); at += length) {
    bool isFrozen = isUserDefined(text.substr(at), length);
    size_t index = symbols.size();
    bool isLast = at + length == text.size();
    symbols.push_back({text.substr(at, length), index == 0 ? kNone : index - 1, isLast ? kNone : index + 1, isFrozen});
  }
  std::priority_queue<Candidate> heap;
  Halves halves;
  for (size_t i = 1; i < symbols.size(); ++i)
    addCandidate(symbols, i - 1, i, heap, halves);
  while (!heap.empty()) {
    Candidate top = heap.top();
    heap.pop();
    Symbol &left = symbols[top.left], &right = symbols[top.right];
    if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != top.size)
      continue;
    left.text = text.substr(static_cast<size_t>(left.text.data() - text.data()), top.size);
    left.next = right.next;
    right.text = {};
    if (left.next != kNone)
      symbols[left.next].previous = top.left;
    addCandidate(symbols, left.previous, top.left, heap, halves);
    addCandidate(symbols, top.left, left.next, heap, halves);
  }
  std::vector<Segment> segments;
  for (size_t i = symbols.empty() ? kNone : 0; i != kNone; i = symbols[i].next)
    resegment(symbols[i].text, halves, segments);
  return segments;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

Status SentencePiece::encodeText(std::string_view text, Encoding &encoding) const {
  constexpr size_t kMaxTextBytes = 16 << 20; // limit: so that 32 bits count what it becomes
  std::u32string chars;
  if (text.size() > kMaxTextBytes)
    return Status::make(TENON_RESOURCES, "the text has %zu bytes, more than the %zu that are supported", text.size(),
                        kMaxTextBytes);
  if (std::optional<size_t> fault = decodeUtf8(text, chars))
    return Status::make(TENON_INVALID, "the text is no UTF-8 at byte %zu", *fault);
  std::vector<uint32_t> characterOf; // of each byte, and of the end
  for (size_t i = 0; i < chars.size(); ++i)
    characterOf.resize(characterOf.size() + toUtf8(std::u32string_view(chars).substr(i, 1)).size(),
                       static_cast<uint32_t>(i));
  characterOf.push_back(static_cast<uint32_t>(chars.size()));
  Normalized normalized = normalizeText(text);
  bool isBpe = model.kind == SentencePieceModel::Kind::bpe, wasUnknown = false;
  size_t at = 0;
  for (const Segment &segment : isBpe ? mergeAll(normalized.text) : findPath(normalized.text)) {
    Span span{characterOf[normalized.origins[at]], characterOf[normalized.origins[at + segment.text.size()]]};
    at += segment.text.size();
    bool isUnknown = segment.id == unknown;
    if (isUnknown && model.hasByteFallback) {
      // The last byte has the span of all.
      for (size_t i = 0; i < segment.text.size(); ++i) {
        std::string token = getByteToken(static_cast<unsigned char>(segment.text[i]));
        uint32_t id = *reserved.find(token);
        bool isLast = i + 1 == segment.text.size();
        encoding.add(id, 0, std::move(token), isLast ? span : Span{span.begin, span.begin}, /*isSpecial=*/false);
      }
    } else if (isUnknown && wasUnknown) {
      encoding.tokens.back() += segment.text;
      encoding.offsets.back().end = span.end;
    } else {
      encoding.add(segment.id, 0, std::string(segment.text), span, /*isSpecial=*/false);
    }
    wasUnknown = isUnknown;
  }
  return {};
}

/// Appends a control piece, unless the model lacks it.
void SentencePiece::addSpecial(const std::string &piece, Encoding &encoding) const {
  std::optional<uint32_t> id = reserved.find(piece);
  if (id && model.pieces[*id].type == Type::control)
    encoding.add(*id, 0, piece, {}, /*isSpecial=*/true);
}

Status SentencePiece::encode(const std::vector<TextInput> &texts, const EncodeOptions &options,
                             std::vector<Encoding> &encodings) const {
  encodings.assign(texts.size(), {});
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].pair)
      return Status::make(TENON_UNSUPPORTED, "a tokenizer.model does not say how pairs of texts are encoded");
    std::vector<Encoding> parts(1);
    if (Status status = encodeText(texts[i].text, parts[0]); status.failed())
      return Status::make(status.code(), "text %zu: %s", i + 1, status.message());
    size_t added = options.addsSpecialTokens ? size_t(addsBegin) + size_t(addsEnd) : 0;
    if (options.maxLength)
      TENON_TRY((Truncation{*options.maxLength, Truncation::Strategy::longestFirst, false}.apply(parts, added)));
    Encoding &encoding = encodings[i];
    if (options.addsSpecialTokens && addsBegin)
      addSpecial(model.beginPiece, encoding);
    encoding.append(parts[0]);
    if (options.addsSpecialTokens && addsEnd)
      addSpecial(model.endPiece, encoding);
  }
  if (options.pad != EncodeOptions::Pad::never) {
    Padding padding;
    padding.token = model.padPiece;
    padding.id = reserved.find(model.padPiece).value_or(unknown);
    padding.apply(encodings, options.minPadded);
  }
  return {};
}

/// Appends the characters of contiguous bytes; invalid bytes become U+FFFD.
static void flushBytes(std::string &bytes, std::string &text) {
  for (size_t at = 0; at < bytes.size();) {
    std::u32string ignored;
    size_t length = lengthOfCharacter(std::string_view(bytes).substr(at));
    bool isCharacter = !decodeUtf8(std::string_view(bytes).substr(at, length), ignored);
    text += isCharacter ? std::string_view(bytes).substr(at, length) : std::string_view("\xef\xbf\xbd");
    at += isCharacter ? length : 1;
  }
  bytes.clear();
}

Status SentencePiece::decode(const std::vector<uint32_t> &ids, bool, std::string &text) const {
  text.clear();
  std::string bytes;
  bool isAtBegin = true;
  for (uint32_t id : ids) {
    if (id >= model.pieces.size())
      continue;
    const SentencePieceModel::Piece &piece = model.pieces[id];
    if (piece.type == Type::byte) {
      bytes.push_back(static_cast<char>(*getTokenByte(piece.text)));
      continue;
    }
    flushBytes(bytes, text);
    if (!text.empty())
      isAtBegin = false;
    if (piece.type == Type::control)
      continue;
    if (piece.type == Type::unknown) {
      text += model.unknownSurface;
      continue;
    }
    std::string_view rest = piece.text;
    // Removes the space that was inserted before the text; or all leading spaces, if several were removed by
    // normalization.
    if (isAtBegin && (model.addsPrefix || model.removesSpaces) && rest.substr(0, kSpace.size()) == kSpace) {
      rest.remove_prefix(kSpace.size());
      isAtBegin = model.removesSpaces;
    }
    for (size_t at = rest.find(kSpace); at != rest.npos; at = rest.find(kSpace)) {
      text.append(rest.substr(0, at)).append(" ");
      rest.remove_prefix(at + kSpace.size());
    }
    text += rest;
  }
  flushBytes(bytes, text);
  return {};
}

Status tenon::text::parseSentencePiece(std::string_view bytes, bool addsBegin, bool addsEnd,
                                       std::unique_ptr<Tokenizer> &tokenizer) {
  auto made = std::make_unique<SentencePiece>(addsBegin, addsEnd);
  TENON_TRY(made->read(bytes));
  tokenizer = std::move(made);
  return {};
}
