//===- StrassenTile.h - what a product of halves keeps of a tile ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_STRASSENTILE_H
#define TENON_PASSES_KERNEL_STRASSENTILE_H

#include "passes/kernel/Contraction.h"
#include "passes/kernel/ScratchLayout.h"
#include <optional>

namespace tenon {

/// The buffers of a tile that the micro-kernel `strassen_fma` computes (passes/kernel/contract/StrassenFma.cpp), all of
/// f32: the sums of the halves of its rows, [product, pair of rows, `rowStride`], and a scale of each row, [pair, 2]; a
/// sum of halves of a pair of panels, for a K-block, [`kBlock`, `panel`]; and the products of a pair of panels,
/// [product, pair of rows, `panel`].
struct StrassenTile {
  int64_t rows, pairs; ///< of the largest tile
  int64_t lastRows;    ///< of the last tile if that is smaller, else 0
  int64_t depth;       ///< of a half
  int64_t rowStride;   ///< from one pair of rows to the next one
  int64_t kBlock;      ///< steps of a half that are multiplied before the next ones; at most `depth`
  int64_t panel;       ///< columns of a panel
};

/// True if the schedule of a contraction names `strassen_fma`, and its rows and panels have halves: an f32 matrix of an
/// even static depth by one in panels, with no loops but those of rows, columns and the sum.
bool multipliesHalves(kernel::ContractOp op, const Contraction &contraction);

/// The bytes of the sums of the halves of a row; 0 if the contraction multiplies no halves.
int64_t getStrassenRowBytes(kernel::ContractOp op, const Contraction &contraction);

/// Describes the tile of a contraction that multiplies halves; none if it does not, or if tiles have no largest number
/// of rows.
std::optional<StrassenTile> getStrassenTile(kernel::ContractOp op, const Contraction &contraction);

/// Adds the buffers of a tile to the scratch memory of a thread.
void addStrassenScratch(ScratchLayout &layout, const StrassenTile &tile);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_STRASSENTILE_H
