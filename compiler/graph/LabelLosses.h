//===- LabelLosses.h - losses of scores whose classes are labelled --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_LABELLOSSES_H
#define TENON_COMPILER_GRAPH_LABELLOSSES_H

#include "compiler/graph/Graph.h"
#include "compiler/graph/GraphBuilder.h"

namespace tenon {

/// The loss of each label, and its weight; null if all weights are 1.
struct LabelLosses {
  Value losses, weights;
};

/// Returns -scores[i, label, ...] * classWeights[label] for scores [N, C, ...] and labels [N, ...]; 0 for an ignored
/// label. `classWeights` may be null. The run fails on an invalid label.
LabelLosses takeLabelLosses(GraphBuilder &b, Value scores, Value labels, Value classWeights,
                            std::optional<int64_t> ignoredIndex);

/// Returns the losses themselves, their sum, or their weighted mean.
Value reduceLosses(GraphBuilder &b, const LabelLosses &losses, graph::Reduction reduction);

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_LABELLOSSES_H
