//===- Operators.h - which operators the import takes ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPERATORS_H
#define TENON_COMPILER_IMPORT_ONNX_OPERATORS_H

#include <string>
#include <vector>

namespace tenon {

/// An operator of an ONNX or other domain, and how it is supported.
struct OperatorSupport {
  std::string domain; ///< "ai.onnx", "com.microsoft"...
  std::string name;
  int since;       ///< first version of the domain in which ONNX has it; 1 where ONNX does not know it
  std::string how; ///< "handler", "function" (by the body that its schema has), or "none"
};

/// Lists all operators that have a schema in ONNX or a handler, by domain and name.
std::vector<OperatorSupport> getOperatorSupport();

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_ONNX_OPERATORS_H
