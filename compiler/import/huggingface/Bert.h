//===- Bert.h - encoders of texts, without their heads --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_BERT_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_BERT_H

#include "compiler/import/huggingface/ModelContext.h"

namespace tenon::huggingface {

enum class BertFamily { bert, roberta };

struct BertConfig {
  BertConfig(const Config &config, BertFamily family);

  BertFamily family;
  int64_t hidden, layers, heads, intermediate, vocabulary, positions, types;
  double epsilon;
  Activation activation;
  int64_t padding = 0; ///< the token that fills short texts, from which RoBERTa counts positions
};

struct EncodedText {
  Tensor tokens; ///< [batch, length, hidden]
  Tensor pooled; ///< [batch, hidden]; empty where the checkpoint has no pooler
  Tensor mask;   ///< the input attention_mask
};

/// Declares the inputs, and creates all layers. Empty after reported errors.
EncodedText encodeText(ModelContext &model, const BertConfig &config);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_BERT_H
