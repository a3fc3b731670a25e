//===- Gemma.cpp - what the generations of Gemma have in common -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Gemma.h"

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

Tensor huggingface::gemmaNorm(ModelContext &m, const Tensor &x, const std::string &name, int64_t size, double epsilon) {
  ModelContext::Scope scope(m, name);
  return rmsNorm(x, m.weight("weight", size) + 1, epsilon);
}

Tensor huggingface::runGemmaLayer(ModelContext &m, const DecoderConfig &c, const Tensor &x,
                                  llvm::function_ref<Tensor(const Tensor &)> attend) {
  auto norm = [&](const Tensor &value, const char *name) { return gemmaNorm(m, value, name, c.hidden, c.epsilon); };
  Tensor middle = x + norm(attend(norm(x, "input_layernorm")), "post_attention_layernorm");
  Tensor wide =
      m.gated(norm(middle, "pre_feedforward_layernorm"), "mlp", c.hidden, c.intermediate, c.activation, false);
  return middle + norm(wide, "post_feedforward_layernorm");
}
