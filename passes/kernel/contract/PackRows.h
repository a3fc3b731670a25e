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

/// The largest height of a register block with packed rows: scratch memory has room for this many rows beyond the tile.
inline constexpr int64_t kMaxPackedBlockRows = 16; // limit: of scratch memory

/// Packs the rows of the tile to scratch, interleaved for each register block of `rowLoops`, unless the previous tile
/// had the same rows. Returns the memory, or null if the schedule does not pack rows.
mlir::Value packRows(LoopBuilder &nest, const ContractionProblem &problem, RowLoops &rowLoops);

/// Loads the element of a row of the current block, which has `blockRows` rows, at the current unrolled step. Steps
/// that are unrolled together are in the same cache line.
mlir::Value loadPackedRow(LoopBuilder &nest, const ContractionProblem &problem, mlir::Value memory, int64_t row,
                          int64_t blockRows);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_PACKROWS_H
