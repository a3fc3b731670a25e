//===- Pooling.h - one vector for a text, as sentence-transformers make it ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_POOLING_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_POOLING_H

#include "compiler/graph/Graph.h"
#include "compiler/import/ExternalFiles.h"
#include "compiler/import/Report.h"

namespace tenon::huggingface {

/// How an encoder's tokens are pooled: their mean, or the first one; optionally normalized to length 1.
struct Pooling {
  bool isMean = false, isNormalized = false;
};

/// Reads modules.json and the configs that it names. None if there is no such file, or after a reported error.
std::optional<Pooling> readPooling(ExternalFiles &files, Report &report);

/// Pools [batch, length, hidden] to [batch, hidden]; tokens for which `mask`, [batch, length], is 0 do not count.
graph::Tensor pool(const graph::Tensor &tokens, const graph::Tensor &mask, const Pooling &pooling);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_POOLING_H
