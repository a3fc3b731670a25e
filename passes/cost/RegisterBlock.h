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

/// Weights that are dequantized, or int8 that are widened to i16, stay in registers for at most this many rows; for
/// more they are written to scratch first.
inline constexpr int64_t kMaxRowsInRegisters = 4;

/// Targets with at most so many vector registers have few of them: the sums of a block take nearly all.
inline constexpr int64_t kFewRegisters = 16;

/// Rows and vectors of a result that are summed at the same time.
struct RegisterBlock {
  int64_t rows, vectors;
};

/// Rows in blocks of nearly the same size: the first `larger` of the `count` blocks have one row more than `rows`.
struct RowBlocks {
  int64_t count, rows, larger;
};

/// As few blocks as there can be of at most `most` rows.
RowBlocks splitRows(int64_t rows, int64_t most);

/// Sums that do not depend on each other, so many that a core starts a multiply-add while others are under way.
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
  /// Taps that are done at once, each with a vector in a register: row r reads place `stride` * r + `dilation` * tap.
  int64_t taps = 1, stride = 1, dilation = 1;
};

/// True if a block of the result can be computed so: it has no more rows than there are, no vector beyond the columns,
/// registers have room for it, and panels are divided evenly.
bool allowsBlock(const BlockProblem &problem, RegisterBlock block);

/// Some blocks that differ from each other in rows or vectors, at most `count`, in the order of their time by the
/// model, each with that time relative to the first one's, which is the one of chooseBlock.
std::vector<std::pair<RegisterBlock, double>> rankBlocks(const BlockProblem &problem, size_t count);

/// The block that needs least time for the whole result, by a simple model of a core: two vector multiply-adds, two
/// loads and four instructions a cycle, four cycles until a sum can be used again.
RegisterBlock chooseBlock(const BlockProblem &problem);

} // namespace tenon

#endif // TENON_PASSES_COST_REGISTERBLOCK_H
