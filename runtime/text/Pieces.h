//===- Pieces.h - parts of a text on their way to tokens ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_PIECES_H
#define TENON_RUNTIME_TEXT_PIECES_H

#include "runtime/text/AlignedText.h"

#include <string>
#include <vector>

namespace tenon::text {

/// A token for the bytes [begin, end) of a piece in UTF-8.
struct Token {
  uint32_t id;
  std::string value;
  size_t begin, end;
};

/// A part of a text that tokens do not cross.
struct Piece {
  AlignedText text;
  std::vector<Token> tokens;
  bool hasTokens = false; ///< it is not split any more
};

/// Replaces each piece without tokens by the nonempty parts that `split(piece, text, parts)` appends to `parts`.
template <typename Split> Status splitPieces(std::vector<Piece> &pieces, Split split) {
  std::vector<Piece> all;
  all.reserve(pieces.size());
  std::vector<Piece> parts;
  for (Piece &piece : pieces) {
    if (piece.hasTokens) {
      all.push_back(std::move(piece));
      continue;
    }
    parts.clear();
    TENON_TRY(split(piece.text, parts));
    for (Piece &part : parts)
      if (!part.text.empty())
        all.push_back(std::move(part));
  }
  pieces.swap(all);
  return {};
}

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_PIECES_H
