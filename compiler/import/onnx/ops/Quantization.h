//===- Quantization.h - quantisation in more than one domain --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_QUANTIZATION_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_QUANTIZATION_H

#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

mlir::LogicalResult importQuantizeLinear(Node &n);
mlir::LogicalResult importDequantizeLinear(Node &n);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_QUANTIZATION_H
