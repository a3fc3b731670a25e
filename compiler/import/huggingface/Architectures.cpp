//===- Architectures.cpp - the models that have a description here --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace tenon::huggingface;

/// Among entries with the same type, the first one is the representative.
static constexpr Architecture kArchitectures[] = {
    {"BertModel", "bert", buildBert},
    {"BertForMaskedLM", "bert", buildBertForMaskedLM},
    {"BertForQuestionAnswering", "bert", buildBertForQuestionAnswering},
    {"BertForSequenceClassification", "bert", buildBertForSequenceClassification},
    {"BertForTokenClassification", "bert", buildBertForTokenClassification},
    {"DistilBertModel", "distilbert", buildDistilBert},
    {"DistilBertForSequenceClassification", "distilbert", buildDistilBertForSequenceClassification},
    {"GPT2LMHeadModel", "gpt2", buildGpt2, /*isDecoder=*/true},
    {"Gemma2ForCausalLM", "gemma2", buildGemma2, /*isDecoder=*/true},
    {"Gemma3ForCausalLM", "gemma3_text", buildGemma3, /*isDecoder=*/true},
    {"LlamaForCausalLM", "llama", buildLlama, /*isDecoder=*/true},
    {"MistralForCausalLM", "mistral", buildMistral, /*isDecoder=*/true},
    {"MixtralForCausalLM", "mixtral", buildMixtral, /*isDecoder=*/true},
    {"Olmo2ForCausalLM", "olmo2", buildOlmo2, /*isDecoder=*/true},
    {"Phi3ForCausalLM", "phi3", buildPhi3, /*isDecoder=*/true},
    {"Qwen2ForCausalLM", "qwen2", buildQwen2, /*isDecoder=*/true},
    {"Qwen3ForCausalLM", "qwen3", buildQwen3, /*isDecoder=*/true},
    {"RobertaModel", "roberta", buildRoberta},
    {"RobertaForMaskedLM", "roberta", buildRobertaForMaskedLM},
    {"RobertaForQuestionAnswering", "roberta", buildRobertaForQuestionAnswering},
    {"RobertaForSequenceClassification", "roberta", buildRobertaForSequenceClassification},
    {"RobertaForTokenClassification", "roberta", buildRobertaForTokenClassification},
    {"XLMRobertaModel", "xlm-roberta", buildRoberta},
    {"XLMRobertaForMaskedLM", "xlm-roberta", buildRobertaForMaskedLM},
    {"XLMRobertaForQuestionAnswering", "xlm-roberta", buildRobertaForQuestionAnswering},
    {"XLMRobertaForSequenceClassification", "xlm-roberta", buildRobertaForSequenceClassification},
    {"XLMRobertaForTokenClassification", "xlm-roberta", buildRobertaForTokenClassification},
    {"ViTModel", "vit", buildVit},
    {"ViTForImageClassification", "vit", buildVitForImageClassification},
    {"WhisperForConditionalGeneration", "whisper", buildWhisper, /*isDecoder=*/true, "input_features"},
};

const Architecture *tenon::huggingface::findArchitecture(const Config &config) {
  // Old files have but the type.
  bool isNamed = config.has("architectures");
  std::vector<std::string> names = config.getStrings("architectures");
  std::string wanted = !isNamed ? config.getString("model_type") : names.empty() ? "" : names.front();
  llvm::SetVector<llvm::StringRef> known;
  for (const Architecture &architecture : kArchitectures) {
    const char *name = isNamed ? architecture.name : architecture.modelType;
    if (wanted == name)
      return &architecture;
    known.insert(name);
  }
  config.reportUnsupported(isNamed ? "architectures" : "model_type", wanted, llvm::join(known, ", "));
  return nullptr;
}
