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

// Handlers for these operators with operands whose elements are unknown or data-dependent, so that nothing can be
// assumed about them; Shape.cpp calls them.
llvm::LogicalResult importRuntimeReshape(Node &n);
llvm::LogicalResult importRuntimeSqueeze(Node &n);
llvm::LogicalResult importRuntimeUnsqueeze(Node &n);
llvm::LogicalResult importRuntimeSlice(Node &n);
llvm::LogicalResult importRuntimePad(Node &n, llvm::StringRef mode, Value fill);
llvm::LogicalResult importRuntimeExpand(Node &n);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMESHAPE_H
