//===- Sequences.h - programs for runs of several sequences ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_SEQUENCES_H
#define TENON_COMPILER_GRAPH_SEQUENCES_H

#include "mlir/IR/BuiltinOps.h"

namespace tenon::graph {

/// Adds the main of `several`, a finished graph of the same model for runs of several sequences (Graph::setSequences),
/// to `module` as a program before its main, and the states of those sequences. Both have the same states of the first
/// sequence, inputs and outputs but for dimensions, and weights. `several` is left without its function.
void addProgramOfSequences(mlir::ModuleOp module, mlir::ModuleOp several);

} // namespace tenon::graph

#endif // TENON_COMPILER_GRAPH_SEQUENCES_H
