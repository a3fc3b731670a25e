//===- ControlBuilder.h - makes branches and loops ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_CONTROLBUILDER_H
#define TENON_COMPILER_IMPORT_ONNX_CONTROLBUILDER_H

#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

/// The results of a loop body: the condition, a boolean of rank 0; the carried values for the next iteration; and
/// collected tensors, of which each iteration adds a slice to a result.
struct LoopBody {
  Value goesOn;
  llvm::SmallVector<Value> next, collected;
};

/// Creates a loop that runs while `condition` holds. `body` creates the operations of one iteration from the carried
/// values. It may be called several times: extents that change between iterations become symbols, and the body is
/// created again with these; errors of failed attempts are discarded.
///
/// `trips` is the maximal trip count, or null. Returns the carried values at the end, then the collected ones, stacked
/// along a new first dimension.
std::optional<llvm::SmallVector<Value>>
buildLoop(Node &n, Value condition, AffineExpr trips, llvm::ArrayRef<Value> inits,
          llvm::function_ref<std::optional<LoopBody>(llvm::ArrayRef<Value>)> body);

/// Creates a loop of `count` iterations; `body` receives the number of the iteration, an i64 of rank 0, and returns no
/// condition.
std::optional<llvm::SmallVector<Value>>
buildCountedLoop(Node &n, AffineExpr count, llvm::ArrayRef<Value> inits,
                 llvm::function_ref<std::optional<LoopBody>(Value number, llvm::ArrayRef<Value>)> body);

/// Calls `make` in a temporary region, discards the operations and errors, and returns its result.
bool attempt(Node &n, llvm::function_ref<bool()> make);

/// If a boolean is a comparison of two sizes for equality, returns their difference, otherwise null.
AffineExpr getComparedSizes(Value condition);

using BranchBody = llvm::function_ref<std::optional<llvm::SmallVector<Value>>()>;

/// Creates a conditional. Both branches yield the same number of values; extents in which they differ become symbols.
std::optional<llvm::SmallVector<Value>> buildIf(Node &n, Value condition, BranchBody thenBody, BranchBody elseBody);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_CONTROLBUILDER_H
