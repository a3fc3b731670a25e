//===- Plan.h - the plan dialect ------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_PLAN_PLAN_H
#define TENON_DIALECTS_PLAN_PLAN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "PlanDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "PlanOps.h.inc"

#endif // TENON_DIALECTS_PLAN_PLAN_H
