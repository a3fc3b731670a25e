//===- DecodeStream.h - text of tokens that come one by one ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_DECODESTREAM_H
#define TENON_RUNTIME_TEXT_DECODESTREAM_H

#include "runtime/text/Tokenizer.h"

namespace tenon::text {

/// Turns tokens into text as a model generates them. Text that may change with the next token is held back: the bytes
/// of a character of which some are missing. What is handed out is the text that decoding all tokens at once gives,
/// where that is UTF-8. A step takes time for the last few tokens alone.
class DecodeStream {
public:
  /// `tokenizer` must outlive this.
  DecodeStream(const Tokenizer &tokenizer, bool skipsSpecialTokens)
      : tokenizer(tokenizer), skipsSpecialTokens(skipsSpecialTokens) {}

  /// Takes the next token, and sets `text` to what there is to add.
  Status push(uint32_t id, std::string &text);
  /// Sets `text` to what was held back; incomplete characters have become U+FFFD.
  Status finish(std::string &text);

private:
  Status take(bool isLast, std::string &text);

  const Tokenizer &tokenizer;
  bool skipsSpecialTokens;
  /// Tokens that were handed out, which decide how those behind them are spelled, and then those that were not.
  std::vector<uint32_t> window;
  size_t handedOut = 0;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_DECODESTREAM_H
