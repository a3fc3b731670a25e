//===- TokenRules.h - tokens that may not follow a text -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_TOKENRULES_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_TOKENRULES_H

#include "compiler/import/ExternalFiles.h"
#include "compiler/import/huggingface/Config.h"

namespace tenon::huggingface {

/// Tokens that are never sampled, whatever their logits. Numbers beyond the vocabulary are of no consequence.
struct TokenRules {
  std::vector<int64_t> suppressed;        ///< `suppress_tokens`
  std::vector<int64_t> suppressedAtBegin; ///< `begin_suppress_tokens`: not as the first token after the prompt
};

/// Reads the rules of generation_config.json; of config.json where there is no such file, as in older folders.
TokenRules readTokenRules(ExternalFiles &files, const Config &config, Report &report);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_TOKENRULES_H
