//===- SourceHash.h - a number that tells sources of artifacts apart ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_SOURCEHASH_H
#define TENON_COMPILER_DRIVER_SOURCEHASH_H

#include "mlir/IR/BuiltinOps.h"

namespace tenon {

/// Returns the XXH3 of a module's bytecode with all of its weights, for a model that was never a file.
uint64_t hashModule(mlir::ModuleOp module);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SOURCEHASH_H
