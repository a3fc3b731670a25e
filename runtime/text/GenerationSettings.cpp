//===- GenerationSettings.cpp - how a model's makers let it go on with texts ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/GenerationSettings.h"
#include "runtime/text/FolderFile.h"
#include "runtime/text/Json.h"

#include <algorithm>

using namespace tenon::text;

/// One number of a token, or several.
static Status readEndTokens(const Json &json, const std::string &path, std::vector<uint32_t> &tokens) {
  auto found = json.find("eos_token_id");
  if (found == json.end() || found->is_null())
    return {};
  Json list = found->is_array() ? *found : Json::array({*found});
  for (const Json &token : list) {
    if (!token.is_number_unsigned() || token.get<uint64_t>() > UINT32_MAX)
      return Status::make(TENON_INVALID, "%s: 'eos_token_id' has to be a token ID, or a list of them", path.c_str());
    tokens.push_back(token.get<uint32_t>());
  }
  return {};
}

/// Parses a file of a folder; `json` stays null if there is none.
static Status readObject(const std::string &path, Json &json) {
  if (!existsFile(path))
    return {};
  std::string content;
  TENON_TRY(readFile(path, /*followsLinks=*/false, content));
  Status status = parseJson(content, json);
  if (status.failed())
    return Status::make(status.code(), "%s: %s", path.c_str(), status.message());
  return json.is_object() ? Status() : Status::make(TENON_INVALID, "%s: is no object", path.c_str());
}

static Status readSampling(const Json &json, const std::string &path, SamplingOptions &sampling) {
  Fields fields(json, path);
  sampling.repetitionPenalty = fields.getNumber("repetition_penalty", 1.0);
  if (fields.getBool("do_sample", false)) {
    sampling.temperature = fields.getNumber("temperature", 1.0);
    sampling.topK = fields.getCount("top_k", UINT32_MAX, 50); // transformers' own default
    sampling.topP = fields.getNumber("top_p", 1.0);
    sampling.minP = fields.getNumber("min_p", 0.0);
  }
  if (!(sampling.repetitionPenalty > 0) || !(sampling.temperature >= 0) || !(sampling.topP > 0) ||
      !(sampling.minP <= 1))
    fields.fail(Status::make(TENON_INVALID,
                             "%s: has a temperature below 0, a probability outside of 0 to 1, or a penalty of 0",
                             path.c_str()));
  return fields.takeStatus();
}

Status GenerationSettings::read(const std::string &folder) {
  Json settings, config;
  std::string path = folder + "/generation_config.json";
  TENON_TRY(readObject(path, settings));
  if (!settings.is_null()) {
    TENON_TRY(readEndTokens(settings, path, endTokens));
    TENON_TRY(readSampling(settings, path, sampling));
  }
  path = folder + "/config.json";
  TENON_TRY(readObject(path, config));
  if (config.is_null())
    return {};
  Fields fields(config, path);
  for (const char *key : {"max_position_embeddings", "n_positions"})
    positions = std::min<size_t>(positions, fields.getCount(key, UINT32_MAX, positions));
  TENON_TRY(fields.takeStatus());
  return endTokens.empty() ? readEndTokens(config, path, endTokens) : Status();
}
