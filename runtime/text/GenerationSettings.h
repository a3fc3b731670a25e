//===- GenerationSettings.h - how a model's makers let it go on with texts ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_GENERATIONSETTINGS_H
#define TENON_RUNTIME_TEXT_GENERATIONSETTINGS_H

#include "runtime/base/Status.h"
#include "runtime/text/SamplingOptions.h"

#include <string>
#include <vector>

namespace tenon::text {

using rt::Status;

/// The settings of generation_config.json; without that file, config.json specifies the end tokens. The latter also
/// specifies the maximal length of texts.
struct GenerationSettings {
  std::vector<uint32_t> endTokens; ///< "eos_token_id": one, or several
  size_t positions = SIZE_MAX;     ///< "max_position_embeddings", "n_positions" or "max_target_positions"
  SamplingOptions sampling;        ///< greedy, unless "do_sample" is true

  /// Reads the files that exist in a folder. Fails with a message that begins with the file.
  Status read(const std::string &folder);
};

/// The tokens that the text of a recording begins with (Whisper), as transformers' `generate` chooses them.
struct SpeechPrompt {
  std::vector<uint32_t> begin;     ///< "decoder_start_token_id", and what follows it
  std::vector<uint32_t> languages; ///< "lang_to_id": the most probable one follows; none if `begin` has the language
  std::vector<uint32_t> end;       ///< "forced_decoder_ids" and "no_timestamps_token_id", after a language

  /// Reads generation_config.json and config.json of a folder, as far as they exist. Fails with a message that begins
  /// with a file, or with the folder if no file has a first token.
  Status read(const std::string &folder);
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_GENERATIONSETTINGS_H
