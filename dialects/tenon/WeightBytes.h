//===- WeightBytes.h - the elements of a weight as they lie in memory -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_WEIGHTBYTES_H
#define TENON_DIALECTS_TENON_WEIGHTBYTES_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include <optional>

namespace tenon {

/// The bytes of a weight of numbers, row by row; nothing where all elements are the same.
std::optional<llvm::ArrayRef<char>> getBytes(mlir::ElementsAttr value);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_WEIGHTBYTES_H
