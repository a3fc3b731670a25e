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

/// Decodes tokens incrementally as a model generates them. Text that may change with the next token is held back: the
/// bytes of incomplete characters. The concatenated output equals the decoding of all tokens at once, if that is UTF-8.
/// A step only processes the last few tokens.
class DecodeStream {
public:
  /// `tokenizer` must outlive this.
  DecodeStream(const Tokenizer &tokenizer, bool skipsSpecialTokens)
      : tokenizer(tokenizer), skipsSpecialTokens(skipsSpecialTokens) {}

  /// Adds a token, and sets `text` to the text that can be output.
  Status push(uint32_t id, std::string &text);
  /// Sets `text` to the text that was held back; incomplete characters become U+FFFD.
  Status finish(std::string &text);

private:
  Status take(bool isLast, std::string &text);

  const Tokenizer &tokenizer;
  bool skipsSpecialTokens;
  /// Tokens that were output, which provide context for the following ones, and then those that were not.
  std::vector<uint32_t> window;
  size_t handedOut = 0;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_DECODESTREAM_H
