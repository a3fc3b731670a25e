//===- StringCasts.h - numbers as text ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_STRINGCASTS_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_STRINGCASTS_H

#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

/// Sets output 0 to numbers as text: floats with the fewest digits that identify them within their type, where narrower
/// types are printed as 32-bit floats.
mlir::LogicalResult castToStrings(Node &n, Value x);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_STRINGCASTS_H
