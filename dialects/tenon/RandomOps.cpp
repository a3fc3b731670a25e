//===- RandomOps.cpp - checks of random numbers -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

LogicalResult RunSeedOp::verify() {
  if (getType().getRank() != 0)
    return emitOpError("gives one number, not ") << getType();
  return success();
}

LogicalResult RandomBitsOp::verify() {
  if (getKey().getType().getRank() != 0)
    return emitOpError("needs one number as a key, found ") << getKey().getType();
  return success();
}
