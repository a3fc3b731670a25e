//===- TokenizerTarget.cpp - tokenizer.json and tokenizer.model, and texts ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/DecodeStream.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace tenon::text;

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  abort();
}

/// What holds of every encoding of a text.
static void check(const Encoding &encoding, size_t characters) {
  size_t count = encoding.size();
  if (encoding.tokens.size() != count || encoding.offsets.size() != count || encoding.typeIds.size() != count ||
      encoding.attentionMask.size() != count || encoding.specialTokensMask.size() != count)
    fail("arrays of different lengths");
  for (Span span : encoding.offsets)
    if (span.begin > span.end || span.end > characters)
      fail("an offset is outside of the text");
}

static void useTokenizer(const Tokenizer &tokenizer, std::string_view text) {
  std::vector<Encoding> encodings;
  EncodeOptions options;
  options.truncates = true;
  options.pad = EncodeOptions::Pad::asFileSays;
  Status status = tokenizer.encode({{text, std::nullopt}}, options, encodings);
  if (status.failed() && !*status.message())
    fail("refused a text without a message");
  if (status.failed())
    return;
  check(encodings[0], text.size());
  std::string decoded, part;
  Status decodes = tokenizer.decode(encodings[0].ids, false, decoded);
  if (decodes.failed() && !*decodes.message())
    fail("refused tokens without a message");
  DecodeStream stream(tokenizer, true);
  constexpr size_t kMaxTokens = 200;
  for (size_t i = 0; i < std::min(encodings[0].size(), kMaxTokens); ++i)
    if (stream.push(encodings[0].ids[i], part).failed())
      return;
  (void)stream.finish(part).failed();
}

/// Inputs that begin with a 'T' are chat templates.
static void useTemplate(std::string_view source) {
  static constexpr char kConversation[] =
      R"({"messages": [{"role": "user", "content": "a b"}, {"role": "assistant", "content": ["c", 1, null]}], "tools": [{"x": {}}]})";
  ChatTemplate chat;
  std::string text;
  Status status = chat.parse(source, R"({"bos_token": "<s>"})");
  if (!status.failed())
    status = chat.render(kConversation, true, text);
  if (status.failed() && !*status.message())
    fail("refused a template without a message");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The last two zeros are between the file and the text.
  static constexpr std::string_view kEnd("\0\0", 2);
  std::string_view input(reinterpret_cast<const char *>(data), size);
  if (!input.empty() && input.front() == 'T') {
    useTemplate(input.substr(1));
    return 0;
  }
  size_t end = std::min(input.rfind(kEnd), size);
  std::string_view file = input.substr(0, end), text = input.substr(std::min(end + kEnd.size(), size));
  std::unique_ptr<Tokenizer> tokenizer;
  Status status = !file.empty() && file.front() == '{' ? parseTokenizer(file, tokenizer)
                                                       : parseSentencePiece(file, true, true, tokenizer);
  if (status.failed() && !*status.message())
    fail("refused a file without a message");
  if (status.failed())
    return 0;
  useTokenizer(*tokenizer, text);
  useTokenizer(*tokenizer, "Hello, w\xc3\xb6rld! \xe2\x96\x81 12 <x>\xf0\x9f\x98\x80\n");
  return 0;
}
