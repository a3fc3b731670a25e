//===- SentenceSettings.h - what sentence-transformers does to texts ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_SENTENCESETTINGS_H
#define TENON_RUNTIME_TEXT_SENTENCESETTINGS_H

#include "runtime/base/Status.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenon::text {

using rt::Status;

/// The settings of sentence-transformers for texts, before and during tokenization.
struct SentenceSettings {
  std::optional<size_t> maxLength; ///< in tokens: "max_seq_length" in sentence_bert_config.json
  std::string prompt;              ///< before each text: the default one of config_sentence_transformers.json

  /// Reads the files that exist in a folder. Fails with a message that begins with the file.
  Status read(const std::string &folder);
};

/// Removes spaces at both ends of a text, like Python's strip().
std::string stripText(std::string_view text);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_SENTENCESETTINGS_H
