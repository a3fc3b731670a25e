//===- Window.h - the windows of convolutions and poolings ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_WINDOW_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_WINDOW_H

#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

struct ConvWindow {
  Window window;
  int64_t groups;
};

/// Returns the window of a convolution from its attributes and the shape of its filter. None, after a reported error,
/// if they do not match.
std::optional<ConvWindow> readConvWindow(Node &n, Value x, Value filter);

/// The window of a pooling.
std::optional<Window> readPoolWindow(Node &n, Value x);

/// Returns, for each result of a maximum pooling, the position of the first largest element in the whole input, in
/// row-major order or, with `columnMajor`, with the spatial dimensions reversed. `places` are the result's spatial
/// extents.
Value poolMaxIndices(Node &n, Value x, const Window &window, llvm::ArrayRef<AffineExpr> places, bool columnMajor);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_WINDOW_H
