//===- Border.h - register blocks at the border of a convolution ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_BORDER_H
#define TENON_PASSES_KERNEL_CONTRACT_BORDER_H

#include "passes/kernel/contract/KBlocking.h"
#include "passes/kernel/contract/Operands.h"

namespace tenon {

/// How much of a convolution window is in bounds for the rows of a register block: all of it, a part that is known at
/// compile time, or a part that is known at run time.
enum class BorderMode { interior, staticBorder, dynamicBorder };

/// Emits register blocks whose windows may extend beyond the border of the input. Without a window, all rows are in the
/// interior.
class Border : EmitterPart {
public:
  Border(LoopBuilder &nest, const ContractionProblem &problem, Operands &operands, const KBlocking &kBlocking)
      : EmitterPart(nest, problem), operands(operands), kBlocking(kBlocking) {}

  /// How much of the window the rows of the current block read.
  BorderMode getMode() const { return mode; }
  /// True if `loop` is the one along the window.
  bool isWindow(unsigned loop) const { return problem.window && problem.window->loop == loop; }
  /// True if several rows read out-of-bounds taps of `loop`, known only at run time, as zeros.
  bool readsZeros(unsigned loop, mlir::ArrayRef<int64_t> rows) const;
  /// True if all taps of a depthwise window are in registers together, so that an element that several rows read is
  /// loaded once.
  bool unrollsTaps();

  //===--- Loops over rows ---===//

  /// Emits `body` for a block of `rows` rows from the current one on, with a separate version for the interior if it is
  /// not known whether the block is at the border.
  void emitRows(int64_t rows, llvm::function_ref<void(int64_t rows)> body);
  /// True if the taps that each row reads are known at compile time, and few blocks are at the border.
  bool hasKnownWindows(const RowBlocks &blocks);
  /// Emits `body` once for each block at the border, and in loops for those in the interior. `hasKnownWindows` holds.
  void forRowsOfKnownWindows(const RowBlocks &blocks, llvm::function_ref<void(int64_t rows)> body);

  //===--- Sums ---===//

  using EmitLoop =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(LoopRange, mlir::ArrayRef<int64_t>, mlir::ValueRange)>;
  /// Sums the taps of the window for rows at the border: calls `emitLoop` with ranges of taps and the rows that read
  /// them.
  llvm::SmallVector<mlir::Value> emitWindow(mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums, EmitLoop emitLoop);
  /// Makes `operands` load rows of a block of `blockRows` rows from zeros if the current tap is out of bounds.
  void loadPixels(mlir::ArrayRef<int64_t> rows, int64_t blockRows);

  /// Returns the iterations of a summed loop in which the bounds hold for a row of the block, relative to the start of
  /// the K-block.
  LoopRange getRange(unsigned loop, int64_t row);
  /// Returns the taps that a row reads, which must be known at compile time.
  std::pair<int64_t, int64_t> getKnownRange(int64_t row);
  /// Emits a condition that is true if the current tap is in bounds for a row of the block.
  mlir::Value isTapInBounds(int64_t row);

private:
  bool isKnownInterior(int64_t first, int64_t rows);
  mlir::Value isInterior(int64_t rows);
  std::optional<int64_t> getPixelDim();
  mlir::Value getZeros(mlir::MemRefType pixel);

  Operands &operands;
  const KBlocking &kBlocking;
  BorderMode mode = BorderMode::interior;
  /// What is loaded for a pixel beyond the border.
  mlir::Value zeros;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_BORDER_H
