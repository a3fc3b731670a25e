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

/// Splits pieces, and may transform their texts. Thread-safe.
using PreTokenizer = std::function<Status(std::vector<Piece> &)>;

/// How a space is represented in the vocabulary, which the pre-tokenizer and the decoder of this name share.
struct Metaspace {
  enum class Prepend { always, first, never };
  char32_t replacement;
  Prepend prepend; ///< which pieces get one in front
  bool isSplit;

  static Metaspace read(Fields &fields);
};

/// Creates the pre-tokenizer for `json`, the field "pre_tokenizer" of a tokenizer.json; null means none. Fails with
/// TENON_UNSUPPORTED, and the name, if a pre-tokenizer is not supported.
Status makePreTokenizer(const Json &json, PreTokenizer &preTokenizer);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_PRETOKENIZERS_H
