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

/// The schema of an operator as its domain's version has it; null where there is none.
const onnx::OpSchema *findSchema(llvm::StringRef domain, llvm::StringRef name, int64_t opset);

/// Checks the number of inputs and outputs, and that each attribute is one that the operator has, of the
/// right type, and each that is needed there. A fault of the node where not.
llvm::LogicalResult checkNode(Node &node, const onnx::OpSchema &schema);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_SCHEMACHECK_H
