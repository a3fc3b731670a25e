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

/// Returns the graph of all operands; null if one has none, or another. The graphs involved have then failed.
Graph *findGraph(llvm::ArrayRef<Tensor> operands);

/// Returns the result of `make` in the operands' graph; an empty tensor if the graph or an operand has failed.
Tensor apply(llvm::ArrayRef<Tensor> operands, llvm::function_ref<mlir::Value(GraphBuilder &)> make);

/// The same for operations with an axis, which is passed to `make` as a non-negative number.
Tensor applyAlong(int64_t axis, int64_t rank, llvm::ArrayRef<Tensor> operands,
                  llvm::function_ref<mlir::Value(GraphBuilder &, int64_t)> make);

} // namespace tenon::graph

#endif // TENON_COMPILER_GRAPH_APPLY_H
