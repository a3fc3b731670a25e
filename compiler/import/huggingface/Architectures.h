//===- Architectures.h - the models that have a description here ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_ARCHITECTURES_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_ARCHITECTURES_H

#include "compiler/import/huggingface/ModelContext.h"

namespace tenon::huggingface {

/// A model architecture of the transformers library. `build` creates the whole graph, with its inputs and outputs, and
/// reports what is unsupported.
struct Architecture {
  const char *name;      ///< the first of `architectures` in the config
  const char *modelType; ///< stands for it where the config has no `architectures`
  void (*build)(ModelContext &);
  bool isDecoder = false; ///< it goes on with a text, and can keep what it has of it from run to run
  /// An input of the first run of such a text that later runs do not take, so that these have programs of their own;
  /// null if there is none.
  const char *firstRunInput = nullptr;
};

/// Returns the architecture of a config; null, after an error, if there is none.
const Architecture *findArchitecture(const Config &config);

void buildBert(ModelContext &model);
void buildBertForMaskedLM(ModelContext &model);
void buildBertForQuestionAnswering(ModelContext &model);
void buildBertForSequenceClassification(ModelContext &model);
void buildBertForTokenClassification(ModelContext &model);
void buildDistilBert(ModelContext &model);
void buildDistilBertForSequenceClassification(ModelContext &model);
void buildGemma2(ModelContext &model);
void buildGemma3(ModelContext &model);
void buildGpt2(ModelContext &model);
void buildLlama(ModelContext &model);
void buildMistral(ModelContext &model);
void buildMixtral(ModelContext &model);
void buildOlmo2(ModelContext &model);
void buildPhi3(ModelContext &model);
void buildQwen2(ModelContext &model);
void buildQwen3(ModelContext &model);
void buildRoberta(ModelContext &model);
void buildRobertaForMaskedLM(ModelContext &model);
void buildRobertaForQuestionAnswering(ModelContext &model);
void buildRobertaForSequenceClassification(ModelContext &model);
void buildRobertaForTokenClassification(ModelContext &model);
void buildVit(ModelContext &model);
void buildVitForImageClassification(ModelContext &model);
void buildWhisper(ModelContext &model);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_ARCHITECTURES_H
