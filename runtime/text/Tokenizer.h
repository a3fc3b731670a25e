//===- Tokenizer.h - texts to numbers of tokens, and back -----------------===//
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
  /// Those that the model has been trained with: [CLS], <s>.
  bool addsSpecialTokens = true;
  /// Whether long texts are cut off as the file says.
  bool truncates = false;
  /// Tokens that are left of a text, those that are added counted in; counts more than what the file says.
  std::optional<size_t> maxLength;
  enum class Pad {
    never,
    asFileSays, ///< to the longest text where it says nothing
    toLongest
  };
  Pad pad = Pad::never;
  /// Tokens that each text is padded to at least, where it is padded.
  size_t minPadded = 0;
};

/// Splits texts into tokens of a vocabulary. Many threads may use one at the same time.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// The tokens of each text. Fails with TENON_INVALID where one is no UTF-8, and says which one.
  virtual Status encode(const std::vector<TextInput> &texts, const EncodeOptions &options,
                        std::vector<Encoding> &encodings) const = 0;

  /// The text of tokens. Numbers without a token have none.
  virtual Status decode(const std::vector<uint32_t> &ids, bool skipsSpecialTokens, std::string &text) const = 0;

  /// The token with this number, as the vocabulary spells it.
  virtual std::optional<std::string> getToken(uint32_t id) const = 0;
  virtual std::optional<uint32_t> findToken(std::string_view token) const = 0;
};

/// Reads a tokenizer: `path` is a folder with tokenizer.json or else tokenizer.model, or one of these files. Symbolic
/// links in the folder are not followed. Fails with a message that begins with the file: TENON_INVALID where it is
/// damaged, TENON_UNSUPPORTED where it has a component that is not known here.
Status loadTokenizer(const std::string &path, std::unique_ptr<Tokenizer> &tokenizer);

/// Makes a tokenizer of the contents of a tokenizer.json.
Status parseTokenizer(std::string_view json, std::unique_ptr<Tokenizer> &tokenizer);

/// Makes one of the contents of a tokenizer.model, which SentencePiece wrote.
Status parseSentencePiece(std::string_view model, bool addsBegin, bool addsEnd, std::unique_ptr<Tokenizer> &tokenizer);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_TOKENIZER_H
