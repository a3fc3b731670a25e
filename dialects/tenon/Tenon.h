//===- Tenon.h - the tenon dialect -----------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_TENON_H
#define TENON_DIALECTS_TENON_TENON_H

#include "dialects/tenon/Dims.h"
#include "dialects/tenon/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tenon {

class SymbolTable;

} // namespace tenon

#include "TenonDialect.h.inc"
#include "TenonEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "TenonAttrs.h.inc"
#define GET_OP_CLASSES
#include "TenonOps.h.inc"

namespace tenon {

/// Returns the elements of a value that depend only on symbols and constants.
std::optional<Dims> getKnownElements(mlir::Value value);

/// Returns how many sequences a run of a function is of: `tenon.sequences`, or 1.
int64_t getNumSequences(mlir::Operation *function);
/// Returns the states of the sequences of a function of `module`, those of the first sequence first, each in the order
/// of their declaration.
llvm::SmallVector<StateOp> getStates(mlir::ModuleOp module, mlir::Operation *function);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_TENON_H
