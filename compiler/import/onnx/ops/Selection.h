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

/// The positions, in order, at which a boolean vector is true: a vector of i64 as long as there are such.
Value findTrue(Node &n, Value mask);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_SELECTION_H
