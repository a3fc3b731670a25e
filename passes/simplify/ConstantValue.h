//===- ConstantValue.h - what constant folding will make a weight of ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_CONSTANTVALUE_H
#define TENON_PASSES_SIMPLIFY_CONSTANTVALUE_H

#include "mlir/IR/Value.h"

namespace tenon {

/// Whether constant folding will make a weight of this value. Deep chains are none that a model has.
bool isConstantValue(mlir::Value value, int depth = 8);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_CONSTANTVALUE_H
