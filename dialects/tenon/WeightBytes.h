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

/// Returns the bytes of a numeric weight in row-major order; none for a splat.
std::optional<llvm::ArrayRef<char>> getBytes(mlir::ElementsAttr value);

/// Creates the elements of a weight that a pass computed: `blob` as a resource of `type`, named by `prefix` and a hash
/// of the bytes. Passes on functions run concurrently, and MLIR would distinguish equal names by a counter that depends
/// on the order of threads; names derived from the bytes are deterministic. Equal bytes with one prefix share a
/// resource. Thread-safe.
mlir::DenseResourceElementsAttr createElements(mlir::RankedTensorType type, llvm::StringRef prefix,
                                               mlir::AsmResourceBlob blob);

/// Returns the name of a weight that was computed from the one named `name`, and how: "conv1.weight (packed)", or
/// "conv1.weight (folded, packed)" if that was computed itself. Null if `name` is null.
mlir::StringAttr deriveName(mlir::StringAttr name, llvm::StringRef how);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_WEIGHTBYTES_H
