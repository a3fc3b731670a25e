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

} // namespace tenon

#endif // TENON_DIALECTS_TENON_TENON_H
