//===- Elements.h - the elements of constants -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_ELEMENTS_H
#define TENON_COMPILER_GRAPH_ELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>

namespace tenon {

/// An upper bound for elements of a tensor, small enough that byte counts and products do not overflow.
constexpr int64_t kMaxElements = int64_t(1) << 40;
/// Constants with at most this many elements are dense attributes, which folds read; larger ones are resources.
constexpr int64_t kMaxDenseElements = 1024;

/// Creates a small constant. Numbers are converted to the element type; integers wrap around.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> values);
mlir::ElementsAttr makeElements(mlir::RankedTensorType type, llvm::ArrayRef<double> values);

/// Returns the constant as an attribute whose elements can be read; a resource is copied.
mlir::DenseElementsAttr toDense(mlir::ElementsAttr elements);

/// Returns the bytes of `count` elements in a file: booleans have one byte each, 4-bit and 2-bit numbers share bytes.
int64_t getFileBytes(mlir::Type elementType, int64_t count);

/// Creates a constant of any size from bytes in the layout of files: little endian, without gaps, the first of several
/// numbers in the low bits of a byte. There must be getFileBytes bytes. A large constant is a resource called `name`
/// that points to the bytes, for which the context keeps `holder`; only elements that share bytes or are misaligned are
/// copied.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                                std::shared_ptr<const void> holder, llvm::StringRef name);

/// The same from one byte for each element of at most 8 bits, as kernels store them.
mlir::ElementsAttr makeUnpackedElements(mlir::RankedTensorType type, llvm::SmallVector<char> bytes,
                                        llvm::StringRef name);

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_ELEMENTS_H
