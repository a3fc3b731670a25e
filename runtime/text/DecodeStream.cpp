//===- DecodeStream.cpp - text of tokens that come one by one -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// As vLLM and the package `tokenizers` do it: what a token adds to a text is the difference between the text of a
// window of tokens with and without it, since decoders look at neighbours.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/DecodeStream.h"

using namespace tenon::text;

// limit: a character has at most four bytes, so an incomplete sequence of more tokens will never become one.
static constexpr size_t kMaxHeldTokens = 8;

static bool endsIncomplete(const std::string &text) {
  static constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  return text.size() >= kReplacement.size() &&
         text.compare(text.size() - kReplacement.size(), text.npos, kReplacement) == 0;
}

Status DecodeStream::take(bool isLast, std::string &text) {
  text.clear();
  std::string before, all;
  std::vector<uint32_t> known(window.begin(), window.begin() + static_cast<ptrdiff_t>(handedOut));
  TENON_TRY(tokenizer.decode(known, skipsSpecialTokens, before));
  TENON_TRY(tokenizer.decode(window, skipsSpecialTokens, all));
  bool isHeld = endsIncomplete(all) && window.size() - handedOut < kMaxHeldTokens;
  if (all.size() <= before.size() || (isHeld && !isLast))
    return {};
  text = all.substr(before.size());
  window.erase(window.begin(), window.begin() + static_cast<ptrdiff_t>(handedOut));
  handedOut = window.size();
  return {};
}

Status DecodeStream::push(uint32_t id, std::string &text) {
  window.push_back(id);
  return take(/*isLast=*/false, text);
}

Status DecodeStream::finish(std::string &text) { return take(/*isLast=*/true, text); }
