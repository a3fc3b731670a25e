//===- PlanDialect.cpp - registration of the plan dialect -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/Plan.h"
#include "dialects/tenon/ValueNames.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon::plan;

#include "PlanDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "PlanTypes.cpp.inc"
#define GET_OP_CLASSES
#include "PlanOps.cpp.inc"

void PlanDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "PlanTypes.cpp.inc"
      >();
}

void PlanDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "PlanOps.cpp.inc"
      >();
}

void *PlanDialect::getRegisteredInterfaceForOp(TypeID interface, OperationName) {
  return tenon::ValueNames::lookup(interface);
}
