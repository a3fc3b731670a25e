//===- Contraction.h - matrix products among linalg operations ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACTION_H
#define TENON_PASSES_KERNEL_CONTRACTION_H

#include "dialects/kernel/KernelDialect.h"
#include "passes/cost/RegisterBlock.h"
#include "passes/kernel/ElementRead.h"

namespace tenon {

/// How `vectors` of fewer bits become factors, by arithmetic in the body of which each value is a vector, too: what it
/// reads lies in panels, or is the same for all columns.
struct Widening {
  mlir::Value number; ///< a factor, less its scale
  mlir::Value scale;  ///< null for none
  int64_t block;      ///< neighbours along the summed loop that have one scale
};

/// Sums of products of f32 that are made of parts (tenon.to_parts): reads of each part, the largest first.
/// `rows` are contiguous along a step, `columns` have a row of pairs of columns for each pair of a step. Columns of f32
/// are one read, which the kernel cuts into as many parts as the rows have. So are rows of f32 or f16, where columns
/// are, too, or one part.
struct FloatParts {
  unsigned loop; ///< the summed loop
  int64_t step;  ///< that has so many elements together
  llvm::SmallVector<ElementRead> rows, columns;

  static bool isWhole(const ElementRead &read) { return !mlir::getElementTypeOrSelf(read.memory).isBF16(); }
  bool cutsColumns() const { return isWhole(columns.front()); }
  bool cutsRows() const { return isWhole(rows.front()); }
  int64_t countRowParts() const { return cutsRows() ? kPartsOfAll : rows.size(); }
  int64_t countColumnParts() const { return cutsColumns() ? countRowParts() : columns.size(); }

  /// That have all bits of an f32.
  static constexpr int64_t kPartsOfAll = 3;
};

/// Bytes of the rows of a tile in parts, at most, where all that is summed is done at once: they stay in the second
/// cache, where they are loaded from for each pair of panels. Longer sums are done for some bytes at a time.
inline constexpr int64_t kBytesOfPartRows = 1 << 20, kBytesOfSplitPartRows = 3 << 18;
/// Rows and columns of such a tile, whose sums wait meanwhile, at most.
inline constexpr int64_t kSplitPartRows = 128, kSplitPartColumns = 192;
/// Bytes of the rows of a tile in parts where the kernel cuts them, to its scratch, at most.
inline constexpr int64_t kBytesOfCutRows = 1 << 19;

/// Lines of memory that lie a multiple of so many bytes apart compete for the same places of the first cache, in all
/// processors that look for a line there before they know its page.
inline constexpr int64_t kSetBytes = 4096;

/// Bytes of the rows of a tile that are copied side by side, at most.
inline constexpr int64_t kBytesOfCopiedRows = 1 << 20;

/// How a linalg.generic is a sum of products that registers can be blocked for: one operand is read in
/// vectors along the innermost loop, the other one element by element, and both are used many times.
struct Contraction {
  ElementRead vectors; ///< contiguous along `columnLoop` (in each panel), does not depend on `rowLoop`
  ElementRead scalars; ///< is the same for all columns (of a panel), or contiguous along them, too; may have bounds
  unsigned columnLoop; ///< the last loop, parallel
  /// The parallel loop that one index of `scalars` alone depends on; none for a vector times a matrix.
  std::optional<unsigned> rowLoop;
  bool isColumnwise = false; ///< `scalars` are vectors, too: each column is summed by itself (a depthwise convolution)
  int64_t panel = 0;         ///< columns of a panel of `vectors`, 0 where it has none
  bool isGrouped = false;    ///< each panel has `scalars` of its own (a convolution of several groups)
  /// Of products of bytes: the summed loop of which four steps are neighbours in both operands. `vectors` are signed
  /// then, `scalars` unsigned, and sums have 32 bits.
  std::optional<unsigned> quadLoop = {};
  /// Columnwise products of unsigned `scalars` with signed `vectors`, few enough that f32 sums them exactly.
  bool isOfBytes = false;
  bool isOfWordPairs = false; ///< elements are pairs of words, of which each step sums both products (WordPairs.h)
  std::optional<Widening> widening = {};
  /// `scalars` are f16 or bf16, and factors f32: they are widened as rows (PackRows.cpp) or as all that a tile
  /// reads (PackTile.cpp) are copied, or one by one.
  bool widensScalars = false;
  std::optional<FloatParts> parts = {}; ///< `vectors` and `scalars` are the reads of the first ones
};

/// Recognises contractions of f32, of f64, of what is widened to these, of bytes in quads and of words in pairs, on
/// tensors and on buffers.
std::optional<Contraction> matchContraction(mlir::linalg::GenericOp op);

/// How `factor`, a value of the body, is widened from fewer bits; `vectors` becomes the read of these.
std::optional<Widening> matchWidening(mlir::linalg::GenericOp op, mlir::Value factor, unsigned columnLoop,
                                      ElementRead &vectors);

/// The summed loop of a contraction whose factors are widened.
unsigned getWidenedLoop(mlir::linalg::GenericOp op);

/// The bytes of a dequantized panel of the RHS in scratch; 0 if all rows dequantize in registers.
int64_t getDequantizedPanelBytes(mlir::linalg::GenericOp op, const Contraction &contraction);

/// Bytes from a row of the operand that is read element by element to the next one, along `rowLoop`, where they are
/// known.
std::optional<int64_t> getRowDistance(const Contraction &contraction);

/// The bytes of a row where `op`, on tensors, does better with copies of its rows side by side (PackRows.cpp); 0
/// where not.
int64_t getCopiedRowBytes(mlir::linalg::GenericOp op, const Contraction &contraction);

/// The bytes of the packed rows of a tile in scratch; 0 if the schedule does not pack rows.
int64_t getPackedRowsBytes(mlir::linalg::GenericOp op, const Contraction &contraction);

/// What a tile reads of halves is widened to the thread's scratch, so many bytes at most: the second cache holds it
/// beside a panel. Bytes become words, and of these it reads a stream.
inline constexpr int64_t kBytesOfWidenedTile = 1 << 18, kBytesOfTileInWords = 1 << 19;
inline int64_t getMostTileBytes(const Contraction &contraction) {
  return contraction.quadLoop ? kBytesOfTileInWords : kBytesOfWidenedTile;
}

/// Whether both operands of products of bytes can become words in the thread's scratch (PmaddWd.cpp), where
/// processors multiply pairs of those; and the bytes that a panel takes then.
bool fitsWords(mlir::linalg::GenericOp op, const Contraction &contraction);
int64_t getPmaddWdPanelBytes(mlir::linalg::GenericOp op, const Contraction &contraction);

/// Whether pixels of a depthwise convolution lie so far apart, by a large power of two, that the first cache has few of
/// them at a time: the columns of a block are copied side by side then, of all lines that a tile sees
/// (PackTile.cpp).
bool copiesColumns(mlir::linalg::GenericOp op, const Contraction &contraction);
/// At most as many as these.
inline constexpr int64_t kCopiedColumns = 32;

/// The bytes of what a tile reads of halves or of bytes, widened, or of columns that are copied, where it has `extents`
/// steps of each loop, at most; none where the kernel does not copy it. Rows that are packed are no part of that.
std::optional<int64_t> getWidenedTileBytes(mlir::linalg::GenericOp op, const Contraction &contraction,
                                           llvm::ArrayRef<int64_t> extents);

/// The bytes of the filter of a depthwise convolution for as many columns as are packed at a time.
int64_t getPackedFilterBytes(mlir::linalg::GenericOp op);

/// The bytes of the bf16 terms of two pairs of panels of the RHS, and of the LHS rows of a tile, of a contraction with
/// `parts`; 0 for an operand that the kernel does not split.
int64_t getSplitRhsBytes(mlir::linalg::GenericOp op, const Contraction &contraction);
int64_t getSplitLhsBytes(mlir::linalg::GenericOp op, const Contraction &contraction);

/// Whether a loop's steps are neighbours along the last dimension, and nowhere else.
bool isAlongLast(mlir::AffineMap map, unsigned loop);

/// The width of the panels that a dimension is packed in: one index is `loop floordiv width`, the last one
/// `loop mod width`, and no other has it. 0 where it is not so.
int64_t getPanel(mlir::AffineMap map, unsigned loop);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACTION_H
