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
    {"LlamaForCausalLM", "llama", buildLlama},
};

const Architecture *tenon::huggingface::findArchitecture(const Config &config) {
  std::string name = config.getFirst("architectures"), modelType = config.getString("model_type"), known;
  for (const Architecture &architecture : kArchitectures) {
    if (name.empty() ? modelType == architecture.modelType : name == architecture.name)
      return &architecture;
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  if (name.empty())
    config.reportUnsupported("model_type", modelType, "bert, gpt2, llama");
  else
    config.reportUnsupported("architectures", name, known);
  return nullptr;
}
