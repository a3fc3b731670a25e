//===- ScratchLayout.h - regions of a thread's scratch memory -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_SCRATCHLAYOUT_H
#define TENON_PASSES_KERNEL_SCRATCHLAYOUT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/format/Kernel.h"

namespace tenon {
namespace kernel {
class ContractOp;
}

struct Contraction;

/// What a region of scratch memory holds.
enum class ScratchUse {
  packedRows,       ///< rows of the LHS of a tile, side by side
  packedTile,       ///< all elements of the LHS that a tile reads, some in a wider type
  packedFilter,     ///< the filter of a depthwise convolution, for as many columns as are packed at a time
  dequantizedPanel, ///< a panel of the RHS in f32
  pmaddWdPanel,     ///< a panel of the RHS in i16, in pairs
  splitRhs,         ///< bf16 terms of two pairs of panels: one is multiplied while the other one is split
  splitLhs,         ///< bf16 terms of the rows of a tile
  termSums,         ///< sums of products of terms between K-blocks
  winogradWindow,   ///< the input that a tile reads, for some channels
  winogradInput,    ///< the transformed input
  winogradScales,   ///< what its numbers are scaled by, if they are integers that stand for floats
  winogradProducts, ///< the products of the transformed input with some filters
  strassenRows,     ///< the sums of halves of the rows of a tile
  strassenScales,   ///< what the rows are scaled by
  strassenPanel,    ///< a sum of halves of a pair of panels, for some steps
  strassenProducts, ///< the products of these sums
};

struct ScratchRegion {
  ScratchUse use;
  int64_t offset, bytes;
};

/// The regions that a kernel uses of its thread's scratch memory, one after the other. TileKernels requests the total
/// from the runtime, and the emitters take their regions from the same layout.
class ScratchLayout {
public:
  /// Of each offset, in bytes.
  static constexpr int64_t kAlignment = TENON_BUFFER_ALIGNMENT; // format: of buffers

  /// Appends a region of `bytes` bytes; none if `bytes` is 0. Each use has at most one region.
  void add(ScratchUse use, int64_t bytes);
  /// The region for `use`, or null.
  const ScratchRegion *find(ScratchUse use) const;
  bool has(ScratchUse use) const { return find(use) != nullptr; }
  /// The number of bytes from the beginning of the first region to the end of the last one.
  int64_t getBytes() const { return regions.empty() ? 0 : regions.back().offset + regions.back().bytes; }
  /// Returns the memory of the region for `use`, as a contiguous buffer of `type`, which fits the region.
  mlir::Value emit(mlir::OpBuilder &b, mlir::Location loc, ScratchUse use, mlir::MemRefType type) const;

private:
  llvm::SmallVector<ScratchRegion, 3> regions;
};

/// Returns the layout for the operands of a contraction and its schedule.
ScratchLayout getScratchLayout(kernel::ContractOp op, const Contraction &contraction);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCRATCHLAYOUT_H
