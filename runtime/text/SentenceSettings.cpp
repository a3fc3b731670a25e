//===- SentenceSettings.cpp - what sentence-transformers does to texts ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/SentenceSettings.h"
#include "runtime/text/FolderFile.h"
#include "runtime/text/Json.h"
#include "runtime/text/Unicode.h"

using namespace tenon::text;

/// Parses a file; `json` stays null if there is none.
static Status readJson(const std::string &path, Json &json) {
  if (!existsFile(path))
    return {};
  std::string content;
  TENON_TRY(readFile(path, /*followsLinks=*/false, content));
  Status status = parseJson(content, json);
  return status.failed() ? Status::make(status.code(), "%s: %s", path.c_str(), status.message()) : Status();
}

Status SentenceSettings::read(const std::string &folder) {
  Json lengths, prompts;
  TENON_TRY(readJson(folder + "/sentence_bert_config.json", lengths));
  TENON_TRY(readJson(folder + "/config_sentence_transformers.json", prompts));
  if (!lengths.is_null()) {
    Fields fields(lengths, folder + "/sentence_bert_config.json");
    if (fields.has("max_seq_length"))
      maxLength = fields.getCount("max_seq_length", UINT32_MAX);
    if (fields.getBool("do_lower_case", false))
      fields.failUnknown("do_lower_case", "true", "false");
    TENON_TRY(fields.takeStatus());
  }
  if (prompts.is_null())
    return {};
  Fields fields(prompts, folder + "/config_sentence_transformers.json");
  std::string name = fields.getString("default_prompt_name", "");
  if (!name.empty()) {
    Fields named(fields.getObject("prompts"), fields.getPath() + ".prompts");
    prompt = named.getString(name.c_str());
    fields.fail(named.takeStatus());
  }
  return fields.takeStatus();
}

std::string tenon::text::stripText(std::string_view bytes) {
  std::u32string text;
  // What is no UTF-8 will be told.
  if (decodeUtf8(bytes, text))
    return std::string(bytes);
  // Python also treats the separators U+001C to U+001F as spaces.
  auto isSpace = [](char32_t c) { return isWhitespace(c) || (c >= 0x1c && c <= 0x1f); };
  size_t begin = 0, end = text.size();
  while (begin < end && isSpace(text[begin]))
    ++begin;
  while (begin < end && isSpace(text[end - 1]))
    --end;
  return toUtf8(std::u32string_view(text).substr(begin, end - begin));
}
