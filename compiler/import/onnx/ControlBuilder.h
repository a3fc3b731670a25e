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

/// What the body of a loop makes: whether to go on, a boolean of rank 0; the carried values for the next
/// time; and tensors that are collected, one more slice of each result every time.
struct LoopBody {
  Value goesOn;
  llvm::SmallVector<Value> next, collected;
};

/// Makes a loop that runs while `condition` holds. `body` makes the operations of one time from the carried
/// values. It may be called several times: extents that turn out to change from one time to the next become
/// symbols, and the body is made anew with these; what an attempt has reported is forgotten then.
///
/// `trips` is how often it runs at most, or null. The results: the carried values at the end, then the collected
/// ones, stacked along a new first dimension.
std::optional<llvm::SmallVector<Value>>
buildLoop(Node &n, Value condition, AffineExpr trips, llvm::ArrayRef<Value> inits,
          llvm::function_ref<std::optional<LoopBody>(llvm::ArrayRef<Value>)> body);

/// A loop that runs `count` times; `body` gets the number of the time, an i64 of rank 0, and its result says
/// nothing about going on.
std::optional<llvm::SmallVector<Value>>
buildCountedLoop(Node &n, AffineExpr count, llvm::ArrayRef<Value> inits,
                 llvm::function_ref<std::optional<LoopBody>(Value number, llvm::ArrayRef<Value>)> body);

/// Calls `make` with operations made apart, and throws away what it has made and reported. Its result.
bool attempt(Node &n, llvm::function_ref<bool()> make);

/// Where a boolean says whether two sizes are equal: their difference. Else null.
AffineExpr getComparedSizes(Value condition);

using BranchBody = llvm::function_ref<std::optional<llvm::SmallVector<Value>>()>;

/// Makes one of two branches happen. Both make as many values; extents in which they differ become symbols.
std::optional<llvm::SmallVector<Value>> buildIf(Node &n, Value condition, BranchBody thenBody, BranchBody elseBody);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_CONTROLBUILDER_H
