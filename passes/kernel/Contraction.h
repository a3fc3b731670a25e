//===- Contraction.h - how a kernel.contract multiplies its operands ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACTION_H
#define TENON_PASSES_KERNEL_CONTRACTION_H

#include "dialects/kernel/KernelDialect.h"
#include "passes/cost/PackingPolicy.h"
#include "passes/cost/RegisterBlock.h"
#include "passes/kernel/ElementRead.h"

namespace tenon {

/// How the elements of an RHS of fewer bits are dequantized: by a region whose values can all be vectors of columns,
/// because each read is stored in panels or is the same for all columns.
struct Dequantization {
  mlir::Value number; ///< a factor before it is scaled
  mlir::Value scale;  ///< null if factors are not scaled
  int64_t block;      ///< neighbours along the summed loop that have one scale
};

/// The operands of an f32 contraction of integers, of which neighbours along a summed loop have one scale. An i32 of
/// the RHS, which `rhs` reads, has `perWord` of them, in the order of tenon.unpack. An element of the LHS is an i16
/// beside i16, else an unsigned byte, its number plus 128. A group has products that are summed as integers.
struct IntegerGroups {
  unsigned loop;   ///< the last one that is summed; its extent is a multiple of `block`
  int64_t perWord; ///< 8 unsigned integers of 4 bits, or 4 of 8 or 2 of 16 bits with signs
  int64_t block;   ///< elements of a group: whole i32, with one scale in both operands
  ElementRead lhsScale;
  mlir::Value rhsScale;  ///< of the body
  mlir::Value rhsNumber; ///< of the body: the integer as a float, less its zero point if it has one

  mlir::Value getZero() const;
  /// True if the LHS has bytes.
  bool areBytes() const { return perWord != 2; }
};

/// The operands of an f32 contraction over terms of bf16 or i8 (tenon.split_terms): one read for each term, the largest
/// first. Terms of the LHS are contiguous along a step; those of the RHS have a row for each two bf16 or four i8 of a
/// step, in which those of each column are side by side. An RHS of f32 has one read: the kernel splits it into as many
/// terms of bf16 as the LHS has. An LHS of f32 or f16 is split by the kernel, too, if the RHS is, or has one term.
struct FactorTerms {
  unsigned loop; ///< the summed loop
  int64_t step;  ///< elements along it that are stored together
  llvm::SmallVector<ElementRead> lhs, rhs;
  bool areIntegers = false; ///< terms of i8

  static bool isUnsplit(const ElementRead &read) {
    mlir::Type type = mlir::getElementTypeOrSelf(read.memory);
    return !type.isBF16() && !type.isInteger();
  }
  int64_t getBytes() const { return areIntegers ? 1 : 2; }
  /// Elements along the summed loop that are side by side in the RHS.
  int64_t getNeighbours() const { return 4 / getBytes(); } // format: 32 bits in AMX tiles
  bool splitsRhs() const { return isUnsplit(rhs.front()); }
  bool splitsLhs() const { return isUnsplit(lhs.front()); }
  int64_t countLhsTerms() const { return splitsLhs() ? kAllTerms : lhs.size(); }
  int64_t countRhsTerms() const { return splitsRhs() ? countLhsTerms() : rhs.size(); }

  /// Terms that together have all bits of an f32.
  static constexpr int64_t kAllTerms = 3; // math: 3 * 8 bits of mantissa
};

/// A `kernel.contract` that can be register-blocked: the RHS is loaded in vectors along the innermost loop, the LHS is
/// loaded element by element and broadcast, and both are reused.
struct Contraction {
  ElementRead lhs;     ///< the same for all columns (of a panel), or contiguous along them, too; may have bounds
  ElementRead rhs;     ///< contiguous along `columnLoop` (in each panel), and independent of `rowLoop`
  unsigned columnLoop; ///< the last loop, parallel
  /// The parallel loop over M, on which one index of the LHS alone depends; none for a vector times a matrix.
  std::optional<unsigned> rowLoop;
  bool isColumnwise = false; ///< the LHS is loaded in vectors, too: each column has a sum (a depthwise convolution)
  int64_t panel = 0;         ///< columns of a panel of the RHS; 0 if it has none
  bool isGrouped = false;    ///< each panel has an LHS of its own (a convolution with several groups)
  /// For int8 contractions, the summed loop whose steps are interleaved by four in both operands (VNNI packing). The
  /// LHS is unsigned, the RHS signed, and the sums have 32 bits.
  std::optional<unsigned> dot4Loop = {};
  /// True for columnwise int8 contractions (unsigned LHS, signed RHS) of so few products that f32 sums are exact.
  bool isDepthwiseInt8 = false;
  bool isPackedI16 = false;  ///< an element is a pair of i16; a step sums the products of both (I16Pairs.h)
  bool isPackedBf16 = false; ///< an element is a pair of bf16; a step sums the products of both (Bf16Pairs.h)
  std::optional<Dequantization> dequantization = {};
  /// True if the LHS is f16 or bf16 and the factors are f32: packed rows (PackRows.cpp) and packed tiles (PackTile.cpp)
  /// are promoted, else each load is.
  bool promotesLhs = false;
  std::optional<FactorTerms> terms = {}; ///< `rhs` and `lhs` are the reads of the first terms
  std::optional<IntegerGroups> integerGroups = {};
};

/// Describes a `kernel.contract`: its `contraction`, the values that its kernel.sum names, and the accesses that read
/// them. None if the body reads an element at indices that are not affine in the loops, or reads the RHS conditionally;
/// such a contraction is computed element by element.
std::optional<Contraction> readContraction(kernel::ContractOp op);

/// The summed loop of a contraction that dequantizes its RHS, the last one of those of f16 windows.
unsigned getDequantizedLoop(mlir::linalg::LinalgOp op);

/// True if the schedule asks for products of the f16 of both operands as they are stored (micro-kernel `f16_fma`), none
/// of which is widened in scratch, and the operands have such.
bool multipliesF16(kernel::ContractOp op, const Contraction &contraction);
/// True if both operands are f16 that the body widens, the RHS in panels.
bool isOfF16(const Contraction &contraction);

/// Returns the number of rows up to which a contraction dequantizes its RHS in registers, for each block of rows again.
int64_t getMaxRowsInRegisters(const Contraction &contraction);

/// Returns the bytes of a dequantized panel of the RHS in scratch; 0 if all rows dequantize in registers.
int64_t getDequantizedPanelBytes(kernel::ContractOp op, const Contraction &contraction);

/// Returns the distance in bytes between neighbouring rows of the LHS along `rowLoop`; none if it is dynamic.
std::optional<int64_t> getRowDistance(const ElementRead &lhs, unsigned rowLoop);

/// Returns the bytes of a packed row of the LHS; 0 if its rows cannot be packed.
int64_t getPackableRowBytes(kernel::ContractOp op, const Contraction &contraction);

/// Returns the bytes of a packed row of the LHS if `op`, on tensors, is faster with packed rows (PackRows.cpp); 0 if it
/// is not.
int64_t getPackedRowBytes(kernel::ContractOp op, const Contraction &contraction, const PackingPolicy &policy = {});

/// The bytes of the packed rows of a tile in scratch; 0 if the schedule does not pack rows.
int64_t getPackedRowsBytes(kernel::ContractOp op, const Contraction &contraction);

/// The upper bound in bytes for the packed copy of a tile's LHS in scratch.
int64_t getMaxTileBytes(const Contraction &contraction, const PackingPolicy &policy = {});

/// True if both operands of an int8 contraction can be widened to i16 in scratch, for pmaddwd (PmaddWd.cpp).
bool fitsPmaddWd(kernel::ContractOp op, const Contraction &contraction, const PackingPolicy &policy = {});
int64_t getPmaddWdPanelBytes(kernel::ContractOp op, const Contraction &contraction);

/// True if the stride between the pixels of a depthwise convolution is a large power of two, so that they map to few
/// sets of L1. Then some columns (`policy.columns`) of all lines that a tile reads are packed at a time (PackTile.cpp).
bool packsColumns(kernel::ContractOp op, const Contraction &contraction, const PackingPolicy &policy = {});

/// The bytes of the packed copy of all elements of the LHS that a tile of at most `extents` iterations of each loop
/// reads: promoted to f32, widened to i16, or some columns. None if the kernel does not pack tiles. Packed rows are not
/// counted.
std::optional<int64_t> getPackedTileBytes(kernel::ContractOp op, const Contraction &contraction,
                                          llvm::ArrayRef<int64_t> extents, const PackingPolicy &policy = {});

/// The bytes of the filter of a depthwise convolution for as many columns as are packed at a time.
int64_t getPackedFilterBytes(kernel::ContractOp op, const PackingPolicy &policy = {});

/// The bytes of the bf16 terms of two pairs of panels of the RHS, and of the LHS rows of a tile, of a contraction with
/// `terms`; 0 for an operand that the kernel does not split.
int64_t getSplitRhsBytes(kernel::ContractOp op, const Contraction &contraction);
int64_t getSplitLhsBytes(kernel::ContractOp op, const Contraction &contraction);

/// The shape of the sums of a tile between K-blocks, [row, column] of f32 in whole blocks of AMX tiles, of a
/// contraction with `terms`; empty if there are no K-blocks. And their bytes.
llvm::SmallVector<int64_t> getTermSumShape(kernel::ContractOp op, const Contraction &contraction);
int64_t getTermSumBytes(kernel::ContractOp op, const Contraction &contraction);

/// True if a loop's steps are contiguous along the last dimension, and the loop occurs in no other index.
bool isAlongLast(mlir::AffineMap map, unsigned loop);

/// Returns the panel width of a dimension: one index is `loop floordiv width`, the last one `loop mod width`, and no
/// other has the loop. 0 if the dimension is not in panels.
int64_t getPanel(mlir::AffineMap map, unsigned loop);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACTION_H
