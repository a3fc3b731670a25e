//===- RuntimeShape.h - reshapes and slices that data decides -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMESHAPE_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMESHAPE_H

#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

// What Shape.cpp's handlers of these operators leave to here: operands whose elements are not known, or are
// sizes that data decides, so that nothing may be taken for granted of them.
llvm::LogicalResult importRuntimeReshape(Node &n);
llvm::LogicalResult importRuntimeSqueeze(Node &n);
llvm::LogicalResult importRuntimeUnsqueeze(Node &n);
llvm::LogicalResult importRuntimeSlice(Node &n);
llvm::LogicalResult importRuntimePad(Node &n, llvm::StringRef mode, Value fill);
llvm::LogicalResult importRuntimeExpand(Node &n);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMESHAPE_H
