//===- Selection.h - elements that data picks -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_SELECTION_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_SELECTION_H

#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

/// Returns the positions at which a boolean vector is true, in order: an i64 vector of data-dependent length.
Value findTrue(Node &n, Value mask);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_SELECTION_H
