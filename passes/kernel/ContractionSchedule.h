//===- ContractionSchedule.h - the schedule of a contraction in its tiles ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACTIONSCHEDULE_H
#define TENON_PASSES_KERNEL_CONTRACTIONSCHEDULE_H

#include "passes/cost/SizeHints.h"
#include "passes/kernel/KernelStages.h"
#include "passes/kernel/schedules/ScheduleSource.h"

namespace tenon {

/// Describes the contraction whose result is that of `root` or the input of its epilogue, for the tiling of a result
/// with extents `dims`.
std::optional<TileProblem> findContraction(mlir::linalg::LinalgOp root, llvm::ArrayRef<mlir::AffineExpr> dims,
                                           const SizeHints &hints, const TilePolicy &policy);

/// Returns the tile that the policies choose: elements in each dimension of the result.
llvm::SmallVector<int64_t> chooseContractionTile(kernel::ContractOp op, const TileProblem &problem,
                                                 const TilePolicy &policy);

/// Makes the schedule of a contraction whose tiles have at most `sizes` in each dimension of the result. It follows
/// `draft` where that is possible, and the policies otherwise. `problem` is null if the tiles were not chosen for this
/// contraction.
kernel::ScheduleAttr makeSchedule(kernel::ContractOp op, const TileProblem *problem,
                                  llvm::ArrayRef<mlir::AffineExpr> dims, llvm::ArrayRef<int64_t> sizes,
                                  const TilePolicy &policy, const ScheduleDraft &draft = {});

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACTIONSCHEDULE_H
