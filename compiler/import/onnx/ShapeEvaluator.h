//===- ShapeEvaluator.h - operators on elements known at compile time -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_SHAPEEVALUATOR_H
#define TENON_COMPILER_IMPORT_ONNX_SHAPEEVALUATOR_H

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/ShapeArithmetic.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon::onnx_import {

using Values = llvm::SmallVector<ShapeValue>;

/// Gives one value for each output of a node, or none where nothing is known. It reports no faults: where the
/// model is wrong, the operator's handler says so.
struct ShapeEvaluator {
  const char *name;
  Values (*evaluate)(Node &);
};

/// Those that move elements, and those that compute with them.
llvm::ArrayRef<ShapeEvaluator> getMovingEvaluators();
llvm::ArrayRef<ShapeEvaluator> getComputingEvaluators();

/// The number of elements, or more than a ShapeValue may have.
int64_t countOf(IntsRef shape);
/// A value of this shape whose element at each index is `source(index)`; none where it has too many.
Values build(IntsRef shape, Type type, llvm::function_ref<Element(IntsRef index)> source);
/// The element at an index that broadcasts: leading dimensions are ignored, those of 1 read at 0.
const Element &elementAt(const ShapeValue &value, IntsRef index);
std::optional<Ints> broadcastShapes(llvm::ArrayRef<const ShapeValue *> values);
/// What is known of all inputs; empty where of one nothing is.
llvm::SmallVector<const ShapeValue *> knownInputs(Node &n);
/// A list of constants among the inputs.
std::optional<Ints> constantsAt(Node &n, size_t i);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_SHAPEEVALUATOR_H
