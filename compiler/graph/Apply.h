//===- Apply.h - makes one tensor of others -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the files that implement Graph.h.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_APPLY_H
#define TENON_COMPILER_GRAPH_APPLY_H

#include "compiler/graph/Graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon::graph {

/// The graph of all operands; null where one has none, or another. Then the others' graphs have failed.
Graph *findGraph(llvm::ArrayRef<Tensor> operands);

/// What `make` gives, in the operands' graph; an empty tensor where that or one of them has failed.
Tensor apply(llvm::ArrayRef<Tensor> operands, llvm::function_ref<mlir::Value(GraphBuilder &)> make);

/// The same for what has an axis, which `make` gets counted from 0.
Tensor applyAlong(int64_t axis, int64_t rank, llvm::ArrayRef<Tensor> operands,
                  llvm::function_ref<mlir::Value(GraphBuilder &, int64_t)> make);

} // namespace tenon::graph

#endif // TENON_COMPILER_GRAPH_APPLY_H
