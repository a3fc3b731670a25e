//===- SentencePieceModel.h - tokenizer.model, the file of SentencePiece --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_SENTENCEPIECEMODEL_H
#define TENON_RUNTIME_TEXT_SENTENCEPIECEMODEL_H

#include "runtime/text/CharsMap.h"
#include "runtime/text/Vocabulary.h"

namespace tenon::text {

/// The contents of a tokenizer.model that determine tokens (sentencepiece_model.proto).
struct SentencePieceModel {
  // format: the values of the enumerations in the file.
  enum class Kind : uint64_t { unigram = 1, bpe = 2 };
  enum class Type : uint64_t { normal = 1, unknown = 2, control = 3, userDefined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;
    float score = 0;
    Type type = Type::normal;
  };

  Kind kind = Kind::unigram;
  std::vector<Piece> pieces;
  std::string unknownSurface = " \xe2\x81\x87 ", beginPiece = "<s>", endPiece = "</s>", padPiece = "<pad>";
  bool hasByteFallback = false;
  bool addsPrefix = true;        ///< a space before the text
  bool removesSpaces = true;     ///< at both ends, and all but one elsewhere
  bool escapesSpaces = true;     ///< as U+2581
  std::optional<CharsMap> rules; ///< for characters

  /// Reads the model. Fails with TENON_INVALID if it is damaged, TENON_UNSUPPORTED if it requires an unsupported
  /// feature.
  Status read(std::string_view bytes);
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_SENTENCEPIECEMODEL_H
