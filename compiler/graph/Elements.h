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

/// More elements than any tensor has, and few enough that byte counts and products stay far from overflow.
constexpr int64_t kMaxElements = int64_t(1) << 40;
/// Constants up to this many elements are attributes, which folds look into; larger ones are resources.
constexpr int64_t kMaxDenseElements = 1024;

/// A small constant. Numbers are converted to the element type, integers wrapping around.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> values);
mlir::ElementsAttr makeElements(mlir::RankedTensorType type, llvm::ArrayRef<double> values);

/// The same constant as an attribute whose elements can be read, which is a copy where it was a resource.
mlir::DenseElementsAttr toDense(mlir::ElementsAttr elements);

/// The bytes that so many elements take in a file: booleans have one each, numbers of four and two bits share
/// them.
int64_t getFileBytes(mlir::Type elementType, int64_t count);

/// A constant of any size from its bytes as files have them: little endian, without gaps, the first of
/// several numbers at the low end of their byte. There have to be as many as getFileBytes says. Where there
/// are many elements the attribute is a resource called `name` that points to them, and that the context
/// keeps `holder` for; only bytes that several elements share, or that are not aligned for their type, are
/// copied.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                                std::shared_ptr<const void> holder, llvm::StringRef name);

/// The same from one byte for each element, whose types have 8 bits at most, as kernels have them.
mlir::ElementsAttr makeUnpackedElements(mlir::RankedTensorType type, llvm::SmallVector<char> bytes,
                                        llvm::StringRef name);

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_ELEMENTS_H
