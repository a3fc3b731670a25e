//===- KernelDialect.cpp - registration of the kernel dialect -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tenon::kernel;

#include "KernelDialect.cpp.inc"
#define GET_OP_CLASSES
#include "KernelOps.cpp.inc"

void KernelDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "KernelOps.cpp.inc"
      >();
}
