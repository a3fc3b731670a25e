//===- NextToken.h - the token that follows a text ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_NEXTTOKEN_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_NEXTTOKEN_H

#include "compiler/import/huggingface/ModelContext.h"

namespace tenon::huggingface {

/// Adds the output logits, and with a context the output token, i64[batch]: the token that follows the text of each
/// sequence. `ids` are the tokens of this run, [batch, length], and `logits` with a context [batch, vocabulary].
///
/// How a sequence's tokens are sampled is in two states of its own: `sampling`, f32[1, 5], with the temperature, the
/// repetition penalty, top-k, top-p and min-p, and `seed`, i64[1]. They apply as in transformers' `generate`: the
/// penalty, the temperature, top-k, top-p, min-p, in this order. Zeros, with which states begin, leave all tokens, and
/// a temperature of 0 takes the one with the largest logit. The same seed, text and settings give the same token,
/// however the text is divided into runs and whichever sequences run beside it.
///
/// Tokens that the model's rules suppress are not sampled. If some are suppressed at the beginning alone, a state
/// `begin`, i64[1], has the number of tokens of the prompt: these may not follow a text of so many tokens.
void outputNextToken(ModelContext &m, const Tensor &ids, const Tensor &logits);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_NEXTTOKEN_H
