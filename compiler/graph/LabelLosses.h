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

/// The loss of each label, and its weight, null where all weigh 1.
struct LabelLosses {
  Value losses, weights;
};

/// -scores[i, label, ...] * classWeights[label] for scores [N, C, ...] and labels [N, ...]; 0 where a label is ignored.
/// The weights of classes may be null. A label that is no class ends the run.
LabelLosses takeLabelLosses(GraphBuilder &b, Value scores, Value labels, Value classWeights,
                            std::optional<int64_t> ignoredIndex);

/// The losses themselves, their sum, or their sum over that of their weights.
Value reduceLosses(GraphBuilder &b, const LabelLosses &losses, graph::Reduction reduction);

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_LABELLOSSES_H
