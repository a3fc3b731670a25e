//===- WidenedRows.h - halves that kernels of products widen --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_WIDENEDROWS_H
#define TENON_DIALECTS_TENON_WIDENEDROWS_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// Whether a type, or that of a tensor's elements, is f16 or bf16.
bool isReducedPrecision(mlir::Type type);

/// Whether a tensor is f16 or bf16 that was cast to f32.
bool isWidened(mlir::Value value);

/// Whether the kernels of all that reads a tensor, which are convolutions, copy what a tile sees of it.
bool areCopiedImages(mlir::Value value);

/// Whether the kernel of what reads a tensor, a product or a convolution, copies it so, or its rows.
bool isCopied(mlir::OpOperand &use);
/// The same of all that reads it.
bool areCopied(mlir::Value value);

/// Whether `cast` widens what the kernels of all its users widen themselves as they copy it.
bool isWidenedWhenRead(CastOp cast);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_WIDENEDROWS_H
