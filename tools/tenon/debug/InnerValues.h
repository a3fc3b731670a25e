//===- InnerValues.h - values of the bodies of loops and branches ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_INNERVALUES_H
#define TENON_TOOLS_TENON_DEBUG_INNERVALUES_H

#include "tools/tenon/debug/OnnxGraph.h"

namespace tenon::debug {

/// The values in bodies of Loop, Scan and If nodes, at any depth, that `node` holds, in order. Their names begin with
/// those of the nodes around them: "loop1/body/w", "loop1/body/if2/then_branch/t". `index` is that of the node.
std::vector<GraphValue> listInnerValues(const onnx::NodeProto &node, size_t index);

/// Makes values outputs of the nodes that they are inside of, under the names that listInnerValues gives them: a loop
/// stacks those of its iterations along a new first dimension, as it does its own, and a branch that is not taken has
/// an empty tensor of the same type. Of a value of a branch whose rank ONNX cannot infer, the output is all elements in
/// one dimension; without an element type there is none.
void exposeInnerValues(onnx::ModelProto &model, const llvm::StringSet<> &wanted);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_INNERVALUES_H
