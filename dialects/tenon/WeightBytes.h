//===- WeightBytes.h - the elements of a weight as they lie in memory -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_WEIGHTBYTES_H
#define TENON_DIALECTS_TENON_WEIGHTBYTES_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

namespace tenon {

/// The bytes of a weight of numbers, row by row; nothing where all elements are the same.
std::optional<llvm::ArrayRef<char>> getBytes(mlir::ElementsAttr value);

/// The elements of a weight that a pass computed: `blob` as a resource of `type`, called `prefix` and a hash of the
/// bytes. Passes on functions run concurrently, and MLIR makes equal names distinct by counting, in the order in which
/// threads arrive; names that follow from the bytes are the same in each run. Equal bytes of one prefix share one
/// resource. Thread safe.
mlir::DenseResourceElementsAttr createElements(mlir::RankedTensorType type, llvm::StringRef prefix,
                                               mlir::AsmResourceBlob blob);

/// The name of a weight that was computed from the one called `name`, and how: "conv1.weight (packed)", or
/// "conv1.weight (folded, packed)" where that was computed itself. Null where `name` is.
mlir::StringAttr deriveName(mlir::StringAttr name, llvm::StringRef how);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_WEIGHTBYTES_H
