//===- ShapeValue.h - what is known of a tensor's elements at compile time ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_SHAPEVALUE_H
#define TENON_COMPILER_IMPORT_ONNX_SHAPEVALUE_H

#include "dialects/tenon/Dims.h"

namespace mlir {
class ElementsAttr;
}

namespace tenon::onnx_import {

class Node;

/// One element, as far as it is known: `expr / divisor`, an exact quotient of an expression over symbols, or a number
/// that is not an integer. Models compute the sizes of resized images in floating point, which requires quotients.
struct Element {
  mlir::AffineExpr expr;
  int64_t divisor = 1;
  std::optional<double> number;

  bool isKnown() const { return expr || number; }
  /// Returns the expression if the element is a known integer, otherwise null.
  mlir::AffineExpr getInteger() const { return divisor == 1 ? expr : mlir::AffineExpr(); }
  /// The value, where it is a constant.
  std::optional<double> getNumber() const;
};

/// The elements of a small tensor in row-major order, each known or unknown. Models compute shapes with ordinary
/// operators (Shape, Gather, Concat, Mul...); propagating these elements turns a Reshape by a computed tensor into one
/// to a shape over symbols.
struct ShapeValue {
  llvm::SmallVector<int64_t> shape;
  mlir::Type type;
  llvm::SmallVector<Element> elements;

  /// Tensors of more elements are not followed.
  static constexpr int64_t kMaxElements = 64;

  /// Whether every element is known.
  bool isKnown() const;
  /// All elements, where each is a known integer.
  std::optional<Dims> getIntegers() const;
  /// All elements, where each is a constant.
  std::optional<llvm::SmallVector<double>> getNumbers() const;
};

/// The elements of a constant, where it is small.
std::optional<ShapeValue> getShapeValue(mlir::ElementsAttr constant);

/// ceil((limit - start) / delta), no less than 0 and no more than `most`, for a `delta` other than 0. Nothing is
/// rounded, and no distance between two numbers overflows.
int64_t countSteps(int64_t start, int64_t limit, int64_t delta, int64_t most);

/// Computes the known values of a node's outputs from those of its inputs: one value per output, or none if the
/// operator is not evaluated.
llvm::SmallVector<ShapeValue> evaluateShapeValues(Node &node);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_SHAPEVALUE_H
