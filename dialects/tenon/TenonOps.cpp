//===- TenonOps.cpp - generated definitions of the operations --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "TenonOps.cpp.inc"
