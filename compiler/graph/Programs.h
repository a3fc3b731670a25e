//===- Programs.h - programs of a model beside its main -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_PROGRAMS_H
#define TENON_COMPILER_GRAPH_PROGRAMS_H

#include "mlir/IR/BuiltinOps.h"

namespace tenon::graph {

/// Adds the main of `other`, a finished graph of the same model for other runs, to `module` as a program before its
/// main, and states of further sequences (Graph::setSequences). Both have the same states of the first sequence, inputs
/// and outputs but for dimensions, and weights. `sizes` says which runs the program is for: "sequences=2". `other` is
/// left without its function.
void addProgram(mlir::ModuleOp module, mlir::ModuleOp other, llvm::StringRef sizes);

} // namespace tenon::graph

#endif // TENON_COMPILER_GRAPH_PROGRAMS_H
