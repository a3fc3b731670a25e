//===- Architectures.cpp - the models that have a description here --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"

using namespace tenon::huggingface;

static constexpr Architecture kArchitectures[] = {
    {"BertModel", "bert", buildBert},
    {"GPT2LMHeadModel", "gpt2", buildGpt2},
    {"Gemma3ForCausalLM", "gemma3_text", buildGemma3},
    {"LlamaForCausalLM", "llama", buildLlama},
};

const Architecture *tenon::huggingface::findArchitecture(const Config &config) {
  // Old files have but the type.
  bool isNamed = config.has("architectures");
  std::vector<std::string> names = config.getStrings("architectures");
  std::string wanted = !isNamed ? config.getString("model_type") : names.empty() ? "" : names.front(), known;
  for (const Architecture &architecture : kArchitectures) {
    const char *name = isNamed ? architecture.name : architecture.modelType;
    if (wanted == name)
      return &architecture;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  config.reportUnsupported(isNamed ? "architectures" : "model_type", wanted, known);
  return nullptr;
}
