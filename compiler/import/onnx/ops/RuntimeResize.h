//===- RuntimeResize.h - resizing by what is known when the model runs ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMERESIZE_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMERESIZE_H

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/ops/ResizeTaps.h"

namespace tenon::onnx_import {

/// An axis whose extents or scale are not static. Scalars are f64.
struct RuntimeResize {
  ResizeAxis modes; ///< but for scale, cropStart and cropEnd
  AffineExpr in, out;
  Value scale;
  Value cropStart, cropEnd; ///< of crop-and-resize, else null
  Value extrapolation;      ///< what lies outside then, of the input's type
};

/// Resizes dimension `axis` at run time, by the same formulas as computeTaps.
Value resizeWhenRun(Node &n, Value x, int64_t axis, const RuntimeResize &r);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMERESIZE_H
