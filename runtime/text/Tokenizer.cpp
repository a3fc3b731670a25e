//===- Tokenizer.cpp - texts to token IDs, and back -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Tokenizer.h"
#include "runtime/text/FolderFile.h"
#include "runtime/text/Json.h"

using namespace tenon::text;

static Status prefix(const std::string &path, const Status &status) {
  return status.failed() ? Status::make(status.code(), "%s: %s", path.c_str(), status.message()) : Status();
}

/// Reads from tokenizer_config.json which tokens are added at both ends, which tokenizer.model does not specify.
static Status readEnds(const std::string &path, bool &addsBegin, bool &addsEnd) {
  if (!existsFile(path))
    return {};
  std::string content;
  TENON_TRY(readFile(path, /*followsLinks=*/false, content));
  Json json;
  TENON_TRY(prefix(path, parseJson(content, json)));
  Fields fields(json, "tokenizer_config.json");
  addsBegin = fields.getBool("add_bos_token", false);
  addsEnd = fields.getBool("add_eos_token", false);
  return prefix(path, fields.takeStatus());
}

Status tenon::text::loadTokenizer(const std::string &path, std::unique_ptr<Tokenizer> &tokenizer) {
  bool isInFolder = isFolder(path);
  std::string file = path, folder = path;
  if (isInFolder) {
    file = path + "/tokenizer.json";
    if (!existsFile(file))
      file = path + "/tokenizer.model";
    if (!existsFile(file))
      return Status::make(TENON_INVALID, "%s: has neither tokenizer.json nor tokenizer.model", path.c_str());
  } else {
    size_t slash = path.rfind('/');
    folder = slash == path.npos ? "." : path.substr(0, slash);
  }
  std::string content;
  TENON_TRY(readFile(file, /*followsLinks=*/!isInFolder, content));
  size_t first = content.find_first_not_of(" \t\r\n");
  if (first != content.npos && content[first] == '{')
    return prefix(file, parseTokenizer(content, tokenizer));
  bool addsBegin = false, addsEnd = false;
  TENON_TRY(readEnds(folder + "/tokenizer_config.json", addsBegin, addsEnd));
  return prefix(file, parseSentencePiece(content, addsBegin, addsEnd, tokenizer));
}
