//===- Passes.h - every pass of Tenon -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#ifndef TENON_PASSES_PASSES_H
#define TENON_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"
#include <functional>

namespace mlir::func {
class FuncOp;
}

namespace tenon {
namespace plan {
class ProgramOp;
}

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace tenon

#endif // TENON_PASSES_PASSES_H
