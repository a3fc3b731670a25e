//===- ShapeArithmetic.h - arithmetic on elements known at compile time ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_SHAPEARITHMETIC_H
#define TENON_COMPILER_IMPORT_ONNX_SHAPEARITHMETIC_H

#include "compiler/import/onnx/ShapeValue.h"

namespace tenon::onnx_import {

/// Element functions return an unknown element if the result is not certain: a quotient whose rounding depends on a
/// sign, a comparison of two symbols, an overflow.
using ElementFunction = Element (*)(const Element &a, const Element &b, mlir::Type type);

Element makeInteger(mlir::AffineExpr expr);
Element makeNumber(double value, mlir::MLIRContext *context);

Element addElements(const Element &a, const Element &b, mlir::Type type);
Element subElements(const Element &a, const Element &b, mlir::Type type);
Element mulElements(const Element &a, const Element &b, mlir::Type type);
Element divElements(const Element &a, const Element &b, mlir::Type type);
Element modElements(const Element &a, const Element &b, mlir::Type type);
Element powElements(const Element &a, const Element &b, mlir::Type type);
Element maxElements(const Element &a, const Element &b, mlir::Type type);
Element minElements(const Element &a, const Element &b, mlir::Type type);
Element equalElements(const Element &a, const Element &b, mlir::Type type);
Element lessElements(const Element &a, const Element &b, mlir::Type type);
Element greaterElements(const Element &a, const Element &b, mlir::Type type);
Element lessOrEqualElements(const Element &a, const Element &b, mlir::Type type);
Element greaterOrEqualElements(const Element &a, const Element &b, mlir::Type type);
Element andElements(const Element &a, const Element &b, mlir::Type type);
Element orElements(const Element &a, const Element &b, mlir::Type type);

Element floorElement(const Element &a);
Element ceilElement(const Element &a);
Element notElement(const Element &a);
Element absElement(const Element &a);
Element sqrtElement(const Element &a, mlir::Type type);
/// `from` and `to` are element types.
Element castElement(const Element &a, mlir::Type from, mlir::Type to);

/// True if an expression is short enough to be duplicated, as in cases.
bool isShort(mlir::AffineExpr expr);
/// True if the expression cannot be negative when no symbol is.
bool isNonNegative(mlir::AffineExpr expr);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_SHAPEARITHMETIC_H
