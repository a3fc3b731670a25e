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

/// What becomes of an encoder's tokens: their mean, or the first of them; scaled to a length of 1 or not.
struct Pooling {
  bool isMean = false, isNormalized = false;
};

/// Reads modules.json and what it names. Nothing where there is no such file, or a fault, which has been
/// reported.
std::optional<Pooling> readPooling(ExternalFiles &files, Report &report);

/// [batch, length, hidden] -> [batch, hidden]; tokens where `mask`, [batch, length], is 0 do not count.
graph::Tensor pool(const graph::Tensor &tokens, const graph::Tensor &mask, const Pooling &pooling);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_POOLING_H
