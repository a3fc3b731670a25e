//===- PackRows.h - rows of the LHS that are packed for register blocks ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_PACKROWS_H
#define TENON_PASSES_KERNEL_CONTRACT_PACKROWS_H

#include "passes/kernel/contract/RowLoops.h"

namespace tenon {

/// The most rows of a register block whose rows are packed: scratch memory has room for so many beyond the tile.
inline constexpr int64_t kMaxPackedBlockRows = 16; // limit: of scratch memory

/// Packs the rows of the tile to scratch, those of each register block of `rowLoops` together, unless the tile before
/// had the same ones. Returns the memory, or null if the schedule does not pack rows.
mlir::Value packRows(LoopBuilder &nest, const ContractionProblem &problem, RowLoops &rowLoops);

/// The element of a row of the current block, which has `blockRows` rows, at the current unrolled step. Steps that are
/// unrolled together are packed in the same cache line.
mlir::Value loadPackedRow(LoopBuilder &nest, const ContractionProblem &problem, mlir::Value memory, int64_t row,
                          int64_t blockRows);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_PACKROWS_H
