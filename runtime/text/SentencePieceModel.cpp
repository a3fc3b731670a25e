//===- SentencePieceModel.cpp - tokenizer.model, the file of SentencePiece ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The file is a protocol buffer. It is read here and not by libsentencepiece, which brings a copy of protobuf whose
// symbols are those of the protobuf that the import of ONNX models links, of another version; and which trusts the
// file.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/SentencePieceModel.h"
#include "runtime/text/Unicode.h"

#include <cmath>
#include <cstring>

using namespace tenon::text;

namespace {
/// The fields of a message (protobuf.dev/programming-guides/encoding).
class Message {
public:
  explicit Message(std::string_view bytes) : rest(bytes) {}

  /// Moves to the next field. Returns false at the end, and if the message is damaged.
  bool next() {
    uint64_t key = 0;
    if (rest.empty())
      return false;
    if (!takeVarint(key))
      return isDamaged = true, false;
    field = key >> 3;
    isDamaged = !takeValue(key & 7);
    return !isDamaged;
  }

  uint64_t field = 0;
  uint64_t number = 0;    ///< of a varint, or the bits of a fixed one
  std::string_view bytes; ///< of a string or a message
  bool isDamaged = false;

private:
  bool takeVarint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        return true;
    }
    return false;
  }

  bool takeFixed(size_t size) {
    number = 0;
    if (rest.size() < size)
      return false;
    memcpy(&number, rest.data(), size);
    rest.remove_prefix(size);
    return true;
  }

  bool takeValue(uint64_t wireType) {
    bytes = {};
    switch (wireType) {
    case 0:
      return takeVarint(number);
    case 1:
      return takeFixed(8);
    case 2:
      if (!takeVarint(number) || number > rest.size())
        return false;
      bytes = rest.substr(0, number);
      rest.remove_prefix(number);
      return true;
    case 5:
      return takeFixed(4);
    default:
      return false;
    }
  }

  std::string_view rest;
};
} // namespace

static Status makeDamaged() { return Status::make(TENON_INVALID, "is not a SentencePiece model, or is damaged"); }

static Status readPiece(std::string_view bytes, SentencePieceModel::Piece &piece) {
  Message message(bytes);
  while (message.next()) {
    if (message.field == 1)
      piece.text = message.bytes;
    if (message.field == 2) {
      auto bits = static_cast<uint32_t>(message.number);
      memcpy(&piece.score, &bits, sizeof bits);
    }
    if (message.field == 3)
      piece.type = static_cast<SentencePieceModel::Type>(message.number);
  }
  std::u32string ignored;
  if (message.isDamaged || piece.text.empty() || decodeUtf8(piece.text, ignored) || !std::isfinite(piece.score))
    return makeDamaged();
  if (piece.type < SentencePieceModel::Type::normal || piece.type > SentencePieceModel::Type::byte)
    return Status::make(TENON_UNSUPPORTED, "a piece has the type %llu, which is not supported",
                        static_cast<unsigned long long>(piece.type));
  return checkTokenLength(piece.text);
}

static Status readTrainerSpec(std::string_view bytes, SentencePieceModel &model) {
  Message message(bytes);
  bool isSuffix = false;
  while (message.next()) {
    switch (message.field) {
    case 3:
      model.kind = static_cast<SentencePieceModel::Kind>(message.number);
      break;
    case 24:
      isSuffix = message.number != 0;
      break;
    case 35:
      model.hasByteFallback = message.number != 0;
      break;
    case 44:
      model.unknownSurface = message.bytes;
      break;
    case 46:
      model.beginPiece = message.bytes;
      break;
    case 47:
      model.endPiece = message.bytes;
      break;
    case 48:
      model.padPiece = message.bytes;
      break;
    default: // how it was trained
      break;
    }
  }
  if (message.isDamaged)
    return makeDamaged();
  if (model.kind != SentencePieceModel::Kind::unigram && model.kind != SentencePieceModel::Kind::bpe)
    return Status::make(TENON_UNSUPPORTED, "the model type %llu is not supported; known are 1 (unigram) and 2 (BPE)",
                        static_cast<unsigned long long>(model.kind));
  if (isSuffix)
    return Status::make(TENON_UNSUPPORTED, "'treat_whitespace_as_suffix' is not supported");
  return {};
}

static Status readNormalizerSpec(std::string_view bytes, SentencePieceModel &model) {
  Message message(bytes);
  std::string_view rules;
  while (message.next()) {
    if (message.field == 2)
      rules = message.bytes;
    if (message.field == 3)
      model.addsPrefix = message.number != 0;
    if (message.field == 4)
      model.removesSpaces = message.number != 0;
    if (message.field == 5)
      model.escapesSpaces = message.number != 0;
  }
  if (message.isDamaged)
    return makeDamaged();
  return rules.empty() ? Status() : model.rules.emplace().read(rules);
}

static Status checkDenormalizerSpec(std::string_view bytes) {
  Message message(bytes);
  while (message.next())
    if (message.field == 2 && !message.bytes.empty())
      return Status::make(TENON_UNSUPPORTED, "rules for decoded text ('denormalizer_spec') are not supported");
  return message.isDamaged ? makeDamaged() : Status();
}

Status SentencePieceModel::read(std::string_view bytes) {
  Message message(bytes);
  while (message.next()) {
    switch (message.field) {
    case 1:
      TENON_TRY(readPiece(message.bytes, pieces.emplace_back()));
      break;
    case 2:
      TENON_TRY(readTrainerSpec(message.bytes, *this));
      break;
    case 3:
      TENON_TRY(readNormalizerSpec(message.bytes, *this));
      break;
    case 5:
      TENON_TRY(checkDenormalizerSpec(message.bytes));
      break;
    default: // texts to test it with
      break;
    }
  }
  return message.isDamaged || pieces.empty() ? makeDamaged() : Status();
}
