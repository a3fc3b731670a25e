//===- RegisterBlock.h - how much of a result stays in registers ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_REGISTERBLOCK_H
#define TENON_PASSES_COST_REGISTERBLOCK_H

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon {

/// Int8 that are widened to i16 stay in registers for at most this many rows, and weights that are dequantized for rows
/// of f16 or bf16; for more rows they are written to scratch first.
inline constexpr int64_t kMaxRowsInRegisters = 4;
/// The same for weights that are dequantized for rows of f32: on Zen 4, a panel in scratch is faster from about 16 rows
/// on.
inline constexpr int64_t kMaxDequantizedRows = 12;
/// The same for weights of f16 and bf16, which are only widened: on Zen 4, a panel is faster from 64 rows on with
/// AVX-512, and from about 32 on with AVX2 (docs/performance/generation.md).
inline constexpr int64_t kMaxWidenedRows = 32;
/// For at most this many rows, the sum of products with weights that share a scale is scaled, which takes registers for
/// such sums; for more rows, each weight is.
inline constexpr int64_t kMaxScaledSums = 2;

/// Targets with at most this many vector registers count as having few: the sums of a block take nearly all of them.
inline constexpr int64_t kFewRegisters = 16;

/// The rows and vectors of a result whose sums are in registers at the same time.
struct RegisterBlock {
  int64_t rows, vectors;
};

/// Rows in blocks of nearly the same size: the first `larger` of the `count` blocks have one row more than `rows`.
struct RowBlocks {
  int64_t count, rows, larger;
};

/// Splits `rows` into the smallest number of blocks of at most `most` rows.
RowBlocks splitRows(int64_t rows, int64_t most);

/// The number of independent sums that hide the latency of a multiply-add.
constexpr int64_t kIndependentSums = 4;

/// A contraction, as far as it matters for blocks.
struct BlockProblem {
  int64_t rows, columns;     ///< of the result
  int64_t lanes, registers;  ///< elements of a vector register, and how many there are
  int64_t maxRows = 1 << 20; ///< of a block: L1 holds a line of each
  bool isColumnwise = false; ///< both operands are read in vectors
  double vectorCycles = 0;   ///< to load a vector from L2, as those of one operand may be
  int64_t panelVectors =
      0; ///< of that operand which are neighbours: a block has an even part of them, or some times as many
  /// The taps that a block computes together, each with one vector in a register: row r reads position `stride` * r +
  /// `dilation` * tap.
  int64_t taps = 1, stride = 1, dilation = 1;
};

/// True if a result can be computed in such blocks: a block has no more rows than the result, no vector beyond the
/// columns, fits the registers, and divides panels evenly.
bool allowsBlock(const BlockProblem &problem, RegisterBlock block);

/// Returns at most `count` blocks that differ in rows or vectors, sorted by their modelled time, each with that time
/// relative to the first one's. The first one is that of chooseBlock.
std::vector<std::pair<RegisterBlock, double>> rankBlocks(const BlockProblem &problem, size_t count);

/// Chooses the block that takes the least time for the whole result, by a simple model of a core: two vector
/// multiply-adds, two loads and four instructions per cycle, and a latency of four cycles for a sum.
RegisterBlock chooseBlock(const BlockProblem &problem);

} // namespace tenon

#endif // TENON_PASSES_COST_REGISTERBLOCK_H
