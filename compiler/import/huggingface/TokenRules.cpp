//===- TokenRules.cpp - tokens that may not follow a text -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/TokenRules.h"
#include "compiler/errors/CompileError.h"

using namespace tenon;
using namespace tenon::huggingface;

static constexpr char kSettingsFile[] = "generation_config.json";

static TokenRules readFields(const Config &config) {
  return {config.getIndices("suppress_tokens"), config.getIndices("begin_suppress_tokens")};
}

TokenRules huggingface::readTokenRules(ExternalFiles &files, const Config &config, Report &report) {
  std::optional<std::shared_ptr<const MappedFile>> file = llvm::expectedToOptional(files.open(kSettingsFile));
  if (!file)
    return readFields(config);
  llvm::Expected<Json> fields = parseJsonObject((*file)->getBytes());
  if (!fields) {
    report.add(prefixError(fields.takeError(), llvm::Twine(kSettingsFile) + " "));
    return {};
  }
  return readFields(Config(std::move(*fields), report, "", kSettingsFile));
}
