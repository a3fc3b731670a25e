//===- WidenedRows.h - rows of halves that kernels of products widen ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_WIDENEDROWS_H
#define TENON_DIALECTS_TENON_WIDENEDROWS_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// Whether a tensor is f16 or bf16 that was cast to f32.
bool isWidened(mlir::Value value);

/// Whether the kernel of a product with a weight can copy the rows of its left operand, a tile's at a time,
/// and widen them as it does: the only sum runs along a row, whose length is a known multiple of a line of
/// memory, and not too long for what tiles copy.
bool copiesRows(ContractOp op);

/// Whether `cast` widens rows that the kernels of all its users copy.
bool widensCopiedRows(CastOp cast);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_WIDENEDROWS_H
