//===- Tokenizer.h - texts to token IDs, and back -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What a program that runs a language model needs beside the runtime. It is a library of its own, so that the runtime
// and tenon-run stay as small as they are.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_TOKENIZER_H
#define TENON_RUNTIME_TEXT_TOKENIZER_H

#include "runtime/text/Encoding.h"

#include <memory>
#include <string_view>

namespace tenon::text {

/// One text, or two that a model compares.
struct TextInput {
  std::string_view text;
  std::optional<std::string_view> pair;
};

struct EncodeOptions {
  /// The special tokens that the model has been trained with: [CLS], <s>.
  bool addsSpecialTokens = true;
  /// Whether long texts are cut off as the file says.
  bool truncates = false;
  /// Upper bound for the tokens of a text, including added ones; it overrides the file.
  std::optional<size_t> maxLength;
  enum class Pad {
    never,
    asFileSays, ///< to the longest text where it says nothing
    toLongest
  };
  Pad pad = Pad::never;
  /// The minimal length to which each text is padded, if there is padding.
  size_t minPadded = 0;
};

/// Splits texts into tokens of a vocabulary. Thread-safe.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// Tokenizes each text. Fails with TENON_INVALID, and the text's number, if one is not UTF-8.
  virtual Status encode(const std::vector<TextInput> &texts, const EncodeOptions &options,
                        std::vector<Encoding> &encodings) const = 0;

  /// Decodes tokens to text. Numbers without a token are skipped.
  virtual Status decode(const std::vector<uint32_t> &ids, bool skipsSpecialTokens, std::string &text) const = 0;

  /// Returns the token with this number, as spelled in the vocabulary.
  virtual std::optional<std::string> getToken(uint32_t id) const = 0;
  virtual std::optional<uint32_t> findToken(std::string_view token) const = 0;
};

/// Loads a tokenizer: `path` is a folder with tokenizer.json or else tokenizer.model, or one of these files. Symbolic
/// links in the folder are not followed. Fails with a message that begins with the file: TENON_INVALID if it is
/// damaged, TENON_UNSUPPORTED if it has an unsupported component.
Status loadTokenizer(const std::string &path, std::unique_ptr<Tokenizer> &tokenizer);

/// Creates a tokenizer from the contents of a tokenizer.json.
Status parseTokenizer(std::string_view json, std::unique_ptr<Tokenizer> &tokenizer);

/// Creates a tokenizer from the contents of a tokenizer.model of SentencePiece.
Status parseSentencePiece(std::string_view model, bool addsBegin, bool addsEnd, std::unique_ptr<Tokenizer> &tokenizer);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_TOKENIZER_H
