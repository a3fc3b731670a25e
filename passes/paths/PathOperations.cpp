//===- PathOperations.cpp - the operations that paths are for -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathOperations.h"
#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

SmallVector<Operation *> tenon::listPathOperations(func::FuncOp function) {
  SmallVector<Operation *> operations;
  function.walk([&](Operation *op) {
    if (isa<TenonDialect>(op->getDialect()))
      operations.push_back(op);
  });
  return operations;
}

Machine tenon::getPathMachine(func::FuncOp function) {
  Machine machine = getMachine(function);
  function.walk([&](WeightOp weight) {
    RankedTensorType type = weight.getType();
    if (!isa<SplatElementsAttr>(weight.getValue()))
      machine.weightBytes += type.getNumElements() * llvm::divideCeilSigned(type.getElementTypeBitWidth(), 8);
  });
  return machine;
}
