//===- Bf16Dot.h - dot products of two bf16: vdpbf16ps ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_BF16DOT_H
#define TENON_PASSES_KERNEL_CONTRACT_BF16DOT_H

#include "mlir/IR/Builders.h"

namespace tenon {

/// Sums of an instruction.
inline constexpr int64_t kBf16DotLanes = 16; // format: of 512 bits

/// Adds to each of `kBf16DotLanes` f32 `sums` two products of neighbours in `x` and `y`, vectors of twice as many bf16.
mlir::Value addBf16Dots(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sums, mlir::Value x, mlir::Value y);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_BF16DOT_H
