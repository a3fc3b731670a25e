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

/// An order in which each node comes after those that it reads from: the given one where that is such.
/// A node reads its inputs and what its subgraphs take from outside. `isDefined` tells the names that exist
/// before any node; `onError` hears of names made twice, names that nothing makes, and cycles, each with the
/// index of a node concerned. Nodes on a cycle are left out of the order, as is what depends on them.
llvm::SmallVector<int> orderNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                                  llvm::function_ref<bool(llvm::StringRef name)> isDefined,
                                  llvm::function_ref<void(int node, const std::string &error)> onError);

/// The names that a node reads: its inputs, and what graphs inside of it take from around them. Each is there once.
llvm::SmallVector<llvm::StringRef> listReads(const onnx::NodeProto &node);

/// Checks the graphs inside of a node, at any depth, whether or not they will be imported: that each is in order, and
/// that its outputs are made. `isDefined` tells the names that exist around the node.
void checkNestedGraphs(const onnx::NodeProto &node, llvm::function_ref<bool(llvm::StringRef name)> isDefined,
                       llvm::function_ref<void(const std::string &error)> onError);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_GRAPHORDER_H
