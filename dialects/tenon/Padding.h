//===- Padding.h - the border of a convolution's input in memory ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_PADDING_H
#define TENON_DIALECTS_TENON_PADDING_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

bool hasPadding(ConvolveOp op);

/// Returns a copy of `input` that is padded with a scalar value by the padding of the convolution.
mlir::Value padInput(mlir::OpBuilder &b, ConvolveOp op, mlir::Value input, mlir::Value value);

/// convolve with padding -> pad with zeros, convolve
void padWithZeros(mlir::OpBuilder &b, ConvolveOp op);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_PADDING_H
