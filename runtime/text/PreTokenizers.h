//===- PreTokenizers.h - where a text is split before the model sees it ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_PRETOKENIZERS_H
#define TENON_RUNTIME_TEXT_PRETOKENIZERS_H

#include "runtime/text/Json.h"
#include "runtime/text/Pieces.h"

#include <functional>

namespace tenon::text {

/// Splits pieces, and may change their texts. Many threads may call it at the same time.
using PreTokenizer = std::function<Status(std::vector<Piece> &)>;

/// How a space becomes a letter of the vocabulary, which pre-tokenizer and decoder of this name share.
struct Metaspace {
  enum class Prepend { always, first, never };
  char32_t replacement;
  Prepend prepend; ///< which pieces get one in front
  bool isSplit;

  static Metaspace read(Fields &fields);
};

/// Makes the pre-tokenizer that `json`, the field "pre_tokenizer" of a tokenizer.json, describes; null describes none.
/// Fails with TENON_UNSUPPORTED where one is not known here, and names it.
Status makePreTokenizer(const Json &json, PreTokenizer &preTokenizer);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_PRETOKENIZERS_H
