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

/// Lists the values in bodies of Loop, Scan and If nodes within `node`, at any depth, in order. Their names are
/// prefixed by those of the nodes around them: "loop1/body/w", "loop1/body/if2/then_branch/t". `index` is that of the
/// node.
std::vector<GraphValue> listInnerValues(const onnx::NodeProto &node, size_t index);

/// Turns inner values into outputs of the nodes that contain them, under the names of listInnerValues: a loop stacks
/// those of its iterations along a new first dimension, like its scan outputs, and a branch that is not taken yields an
/// empty tensor of the same type. For a branch's value whose rank ONNX cannot infer, the output is flattened to one
/// dimension; a value without an element type is skipped.
void exposeInnerValues(onnx::ModelProto &model, const llvm::StringSet<> &wanted);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_INNERVALUES_H
