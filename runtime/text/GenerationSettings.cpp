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
  for (const char *key : {"max_position_embeddings", "n_positions", "max_target_positions"})
    if (fields.has(key))
      positions = std::min<size_t>(positions, fields.getCount(key, UINT32_MAX));
  TENON_TRY(fields.takeStatus());
  return endTokens.empty() ? readEndTokens(config, path, endTokens) : Status();
}

//===----------------------------------------------------------------------===//
// The beginning of a recording's text
//===----------------------------------------------------------------------===//

static bool isToken(const Json &json) { return json.is_number_unsigned() && json.get<uint64_t>() <= UINT32_MAX; }

/// Returns a field that is there and not null; null if there is none.
static const Json *findField(const Json &json, const char *key) {
  auto found = json.is_object() ? json.find(key) : json.end();
  return !json.is_object() || found == json.end() || found->is_null() ? nullptr : &*found;
}

/// Reads [[1, 50259], [2, null], ...]: the tokens after the first one, in order; null leaves the choice to the model.
static Status readForced(const Json &json, const std::string &path, std::vector<std::optional<uint32_t>> &tokens) {
  const Json *list = findField(json, "forced_decoder_ids");
  for (size_t i = 0; list && list->is_array() && i < list->size(); ++i) {
    const Json &entry = (*list)[i];
    bool isEntry =
        entry.is_array() && entry.size() == 2 && entry[0] == i + 1 && (isToken(entry[1]) || entry[1].is_null());
    if (!isEntry)
      return Status::make(TENON_INVALID, "%s: entry %zu of 'forced_decoder_ids' has to be [%zu, TOKEN]", path.c_str(),
                          i, i + 1);
    tokens.push_back(entry[1].is_null() ? std::nullopt : std::optional(entry[1].get<uint32_t>()));
  }
  if (list && !list->is_array())
    return Status::make(TENON_INVALID, "%s: 'forced_decoder_ids' has to be a list", path.c_str());
  return {};
}

/// Reads {"<|en|>": 50259, ...}, in the order of the numbers.
static Status readLanguages(const Json &json, const std::string &path, std::vector<uint32_t> &languages) {
  const Json *names = findField(json, "lang_to_id");
  if (!names)
    return {};
  for (const Json &token : *names) {
    if (!names->is_object() || !isToken(token))
      return Status::make(TENON_INVALID, "%s: 'lang_to_id' has to be an object of token IDs", path.c_str());
    languages.push_back(token.get<uint32_t>());
  }
  std::sort(languages.begin(), languages.end());
  return {};
}

/// Reads a token, which stays unset if there is none.
static Status readToken(const Json &json, const std::string &path, const char *key, std::optional<uint32_t> &token) {
  const Json *found = findField(json, key);
  if (found && !isToken(*found))
    return Status::make(TENON_INVALID, "%s: '%s' has to be a token ID", path.c_str(), key);
  if (found)
    token = found->get<uint32_t>();
  return {};
}

/// Fails if transformers would begin a text otherwise than SpeechPrompt knows.
static Status checkPrompt(const Json &json, const std::string &path) {
  const Json *timestamps = findField(json, "return_timestamps");
  if (timestamps && *timestamps != false)
    return Status::make(TENON_UNSUPPORTED, "%s: 'return_timestamps' is not supported; give the prompt by --tokens",
                        path.c_str());
  for (const char *key : {"language", "task"})
    if (findField(json, key))
      return Status::make(TENON_UNSUPPORTED, "%s: '%s' is not supported; give the prompt by --tokens", path.c_str(),
                          key);
  return {};
}

Status SpeechPrompt::read(const std::string &folder) {
  std::optional<uint32_t> first, noTimestamps;
  std::vector<std::optional<uint32_t>> forced;
  for (const char *name : {"/generation_config.json", "/config.json"}) {
    std::string path = folder + name;
    Json json;
    TENON_TRY(readObject(path, json));
    TENON_TRY(checkPrompt(json, path));
    if (!first)
      TENON_TRY(readToken(json, path, "decoder_start_token_id", first));
    if (forced.empty())
      TENON_TRY(readForced(json, path, forced));
    if (languages.empty())
      TENON_TRY(readLanguages(json, path, languages));
    if (!noTimestamps)
      TENON_TRY(readToken(json, path, "no_timestamps_token_id", noTimestamps));
  }
  if (!first)
    return Status::make(TENON_INVALID,
                        "%s: no file says which token a text begins with ('decoder_start_token_id'); "
                        "give the prompt by --tokens",
                        folder.c_str());
  if (!forced.empty() && forced[0])
    languages.clear();
  begin = {*first};
  std::vector<uint32_t> &rest = languages.empty() ? begin : end;
  for (std::optional<uint32_t> token : forced)
    if (token)
      rest.push_back(*token);
  if (noTimestamps && (rest.empty() || rest.back() != *noTimestamps))
    rest.push_back(*noTimestamps);
  return {};
}
