//===- FloatChoices.h - where a small difference makes a large one --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_FLOATCHOICES_H
#define TENON_COMPILER_DRIVER_FLOATCHOICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace tenon {

/// For each result of a function what chooses in floats and it follows from: "top_k 'node'"; empty where nothing does.
/// Whatever the arithmetic, such a choice may fall otherwise where two candidates are nearly equal, so the distance of
/// two results says nothing of how exact they are. To select one of two values by a comparison is no such choice:
/// where the comparison is close, so, as a rule, are the values (a leaky relu, a clip).
std::vector<std::string> findFloatChoices(mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_FLOATCHOICES_H
