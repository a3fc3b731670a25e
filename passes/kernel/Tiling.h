//===- Tiling.h - which tiles a kernel is computed in --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TILING_H
#define TENON_PASSES_KERNEL_TILING_H

#include "mlir/Interfaces/TilingInterface.h"
#include "passes/cost/SizeHints.h"
#include "passes/kernel/KernelStages.h"
#include "passes/kernel/schedules/ScheduleList.h"

namespace tenon {

/// The tile sizes of the loops of a kernel's last stage; 0 for a loop that is not tiled.
struct Tiling {
  llvm::SmallVector<int64_t> sizes;
  /// How many tiles that makes.
  mlir::AffineExpr count;
  /// The loop that varies slowest over the tiles, if not the first one: neighbouring tiles, which one thread computes,
  /// share its position.
  std::optional<unsigned> slowest = {};
  /// Loops whose dynamic extents are known to be multiples of the tile sizes.
  llvm::SmallVector<unsigned> even = {};
};

/// The choice among the schedules of one kernel.
struct ScheduleChoice {
  KernelRegion region;
  llvm::StringRef kernel;   ///< its name
  ScheduleChooser *chooser; ///< null if the policies choose

  /// False if the kernel takes the first schedule, so that none has to be listed.
  bool isOpen() const { return chooser && !region.text.empty(); }
  /// Returns the number of the schedule that the kernel takes.
  size_t choose(llvm::ArrayRef<ScheduleAlternative> list) const;
};

/// Chooses the tiles of a kernel whose last stage is a loop nest, for the elements of `result` with extents `dims`, and
/// the schedule of the contraction in it. Without a contraction a tile has about as much work as `tileElements`
/// elements that are moved or added.
Tiling chooseLoopTiling(mlir::linalg::LinalgOp root, unsigned result, llvm::ArrayRef<mlir::AffineExpr> dims,
                        const SizeHints &hints, int64_t tileElements, const TilePolicy &policy,
                        const ScheduleChoice &choice);

/// Chooses the tiles of a kernel whose result is that of a Winograd convolution or of its epilogue, `root`, one image
/// at a time: those that its path has planned, or other ones.
Tiling chooseWinogradTiling(kernel::WinogradOp op, mlir::TilingInterface root, llvm::ArrayRef<mlir::AffineExpr> dims,
                            const SizeHints &hints, const ScheduleChoice &choice);

/// Chooses the tiles of a chain of two loop nests, of which `root` is the last one: those that it was planned with
/// (passes/fusion/Chains.h), or other ones, which the attribute of `link` has then.
Tiling chooseChainTiling(mlir::linalg::LinalgOp root, mlir::Operation *link, llvm::ArrayRef<mlir::AffineExpr> dims,
                         const TilePolicy &policy, const ScheduleChoice &choice);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TILING_H
