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

/// Returns one value for each output of a node, or none if nothing is known. It reports no faults; the operator's
/// handler does.
struct ShapeEvaluator {
  const char *name;
  Values (*evaluate)(Node &);
};

/// The evaluators of operators that move elements, and of those that compute.
llvm::ArrayRef<ShapeEvaluator> getMovingEvaluators();
llvm::ArrayRef<ShapeEvaluator> getComputingEvaluators();

/// Returns the number of elements, or more than a ShapeValue may have.
int64_t countOf(IntsRef shape);
/// Returns a value of this shape whose element at each index is `source(index)`; none if it would have too many
/// elements.
Values build(IntsRef shape, Type type, llvm::function_ref<Element(IntsRef index)> source);
/// Returns the element at a broadcast index: leading dimensions are ignored, and those of 1 are read at 0.
const Element &elementAt(const ShapeValue &value, IntsRef index);
std::optional<Ints> broadcastShapes(llvm::ArrayRef<const ShapeValue *> values);
/// Returns the known values of all inputs; empty if any is unknown.
llvm::SmallVector<const ShapeValue *> knownInputs(Node &n);
/// A list of constants among the inputs.
std::optional<Ints> constantsAt(Node &n, size_t i);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_SHAPEEVALUATOR_H
