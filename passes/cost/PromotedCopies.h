//===- PromotedCopies.h - operands that kernels convert to f32 as they copy them ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_PROMOTEDCOPIES_H
#define TENON_PASSES_COST_PROMOTEDCOPIES_H

#include "dialects/tenon/Tenon.h"
#include "passes/cost/CopyPolicy.h"

namespace tenon {

/// True if all operations that read a tensor are convolutions whose kernels copy the windows of a tile.
bool areCopiedImages(mlir::Value value, const CopyPolicy &policy = {});

/// True if the kernel of the matmul or convolution that reads a tensor copies its windows or its rows.
bool isCopied(mlir::OpOperand &use, const CopyPolicy &policy = {});
/// True if `isCopied` holds for all uses of a tensor.
bool areCopied(mlir::Value value, const CopyPolicy &policy = {});

/// True if the kernels of all users of `cast` promote its input themselves as they copy it.
bool isWidenedWhenRead(CastOp cast, const CopyPolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_PROMOTEDCOPIES_H
