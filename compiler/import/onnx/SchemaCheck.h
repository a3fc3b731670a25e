//===- SchemaCheck.h - what ONNX's schemas say about a node ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_SCHEMACHECK_H
#define TENON_COMPILER_IMPORT_ONNX_SCHEMACHECK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace onnx {
class OpSchema;
}

namespace tenon::onnx_import {

class Node;

/// Returns the schema of an operator in a version of its domain; null if there is none.
const onnx::OpSchema *findSchema(llvm::StringRef domain, llvm::StringRef name, int64_t opset);

/// Checks the number of inputs and outputs, that the operator has each attribute with the right type, and that all
/// required attributes are present. Reports a fault of the node otherwise.
llvm::LogicalResult checkNode(Node &node, const onnx::OpSchema &schema);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_SCHEMACHECK_H
