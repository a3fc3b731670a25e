//===- Gemma.h - what the generations of Gemma have in common -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_GEMMA_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_GEMMA_H

#include "compiler/import/huggingface/Decoder.h"

namespace tenon::huggingface {

constexpr DecoderDefaults kGemmaDefaults{
    .headSize = 256, .activationKey = "hidden_activation", .activation = "gelu_pytorch_tanh", .isTied = true};

/// RMS norm over the last dimension, of `size`; the checkpoint stores the scale minus 1.
Tensor gemmaNorm(ModelContext &model, const Tensor &x, const std::string &name, int64_t size, double epsilon);

/// A layer with norms before and after attention, and before and after the gated MLP.
Tensor runGemmaLayer(ModelContext &model, const DecoderConfig &config, const Tensor &x,
                     llvm::function_ref<Tensor(const Tensor &)> attend);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_GEMMA_H
