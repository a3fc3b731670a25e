//===- GraphOrder.h - checks that nodes form a graph, and orders them -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_GRAPHORDER_H
#define TENON_COMPILER_IMPORT_ONNX_GRAPHORDER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <google/protobuf/repeated_ptr_field.h>
#include <string>

namespace onnx {
class NodeProto;
}

namespace tenon::onnx_import {

/// Returns a topological order of the nodes, which is the given order if that is valid. A node reads its inputs and the
/// values that its subgraphs use from outside. `isDefined` tells the names that exist before any node; `onError`
/// receives duplicate definitions, undefined names, and cycles, each with the index of a node. Nodes on a cycle, and
/// nodes that depend on them, are left out.
llvm::SmallVector<int> orderNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                                  llvm::function_ref<bool(llvm::StringRef name)> isDefined,
                                  llvm::function_ref<void(int node, const std::string &error)> onError);

/// Returns the names that a node reads, without duplicates: its inputs, and the values that its subgraphs use from
/// outside.
llvm::SmallVector<llvm::StringRef> listReads(const onnx::NodeProto &node);

/// Checks the graphs inside a node, at any depth, whether or not they will be imported: their order, and that their
/// outputs are defined. `isDefined` tells the names that exist around the node.
void checkNestedGraphs(const onnx::NodeProto &node, llvm::function_ref<bool(llvm::StringRef name)> isDefined,
                       llvm::function_ref<void(const std::string &error)> onError);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_GRAPHORDER_H
