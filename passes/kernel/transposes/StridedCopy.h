//===- StridedCopy.h - a copy between two layouts of the same elements ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What types tell of a linalg operation that only copies: its loops, their strides on both sides, and which
// of them are contiguous. Nothing here creates operations.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TRANSPOSES_STRIDEDCOPY_H
#define TENON_PASSES_KERNEL_TRANSPOSES_STRIDEDCOPY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/cost/TransposePolicy.h"
#include <optional>

namespace tenon {

enum Side : unsigned { kInput, kOutput };
inline constexpr Side kSides[] = {kInput, kOutput};

/// A loop of a copy. ShapedType::kDynamic stands for unknown values. Strides are in elements, by side; the stride of an
/// operand that does not depend on the loop is 0.
struct CopyLoop {
  unsigned loop; ///< of the linalg operation; of several that were collapsed, the innermost
  int64_t extent;
  int64_t strides[2];
};

/// Loops that together are contiguous in memory on one side, the innermost first: there, the position along all of them
/// is an offset. Whether a loop continues the ones before it may depend on run-time strides; `isSure` is true if it is
/// known at compile time.
struct LoopChain {
  llvm::SmallVector<unsigned> loops;
  llvm::SmallVector<bool> isSure = {true};
  /// The product of all extents if every one is static and every loop surely continues the others.
  int64_t extent = 1;
};

/// The innermost loops of both sides, if they are the same loops in different orders and dense on both sides: `size`
/// units that are contiguous in the input and in the output.
struct DenseBox {
  llvm::SmallVector<unsigned> loops; ///< as the input is stored, the innermost first
  int64_t size;
};

class StridedCopy {
public:
  /// Returns none if `op` computes or reduces anything or copies no element, or if an operand has no strides.
  static std::optional<StridedCopy> match(mlir::linalg::GenericOp op);

  mlir::Value getOperand(Side side) const;
  mlir::AffineMap getMap(Side side) const;
  mlir::Type getElementType() const;
  int64_t getElementBits() const { return getElementType().getIntOrFloatBitWidth(); }
  int64_t getUnitBits() const { return unit * getElementBits(); }
  const CopyLoop &getInner(Side side) const { return loops[orders[side][0]]; }
  bool isContiguous(Side side) const { return !orders[side].empty() && getInner(side).strides[side] == unit; }

  /// Makes an innermost loop that both sides share the unit, if it has a power of two of elements and at most `maxBits`
  /// bits.
  void takeUnit(int64_t maxBits);
  /// Returns the loops along which `side` is contiguous, without those in `taken`: enough loops to make the extent a
  /// multiple of the lanes of a vector, or so large that the remainder does not matter.
  LoopChain growChain(Side side, llvm::ArrayRef<unsigned> taken, int64_t lanes) const;
  /// The largest box of at most `maxUnits`.
  std::optional<DenseBox> findDenseBox(int64_t maxUnits) const;

  /// Loops of extents other than 1, in the order of the output, outermost first; loops that are contiguous on both
  /// sides are collapsed.
  llvm::SmallVector<CopyLoop> loops;
  /// The loops by side, the innermost first.
  llvm::SmallVector<unsigned> orders[2];
  /// The number of elements that are moved as one: the innermost ones, which are contiguous on both sides.
  int64_t unit = 1;
  mlir::linalg::GenericOp op;
  TransposePolicy policy = {};

private:
  bool canContinue(Side side, const LoopChain &chain, unsigned next, bool &isSure) const;
  void collapse();
  void sortBy(Side side);
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TRANSPOSES_STRIDEDCOPY_H
