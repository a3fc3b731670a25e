//===- Backend.cpp - what generates code for a kind of device ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/Backend.h"
#include "compiler/errors/CompileError.h"

using namespace mlir;
using namespace tenon;

llvm::Error tenon::checkNoLibraryKernels(ModuleOp kernels, ArrayRef<std::string> entries) {
  for (const std::string &name : entries)
    if (!kernels.lookupSymbol(name))
      return makeError(CompileStatus::unsupported,
                       "needs the library kernel '" + name + "', which exists only for CPUs");
  return llvm::Error::success();
}
