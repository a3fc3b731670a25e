//===- ScheduleSource.h - alternatives of a schedule ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_SCHEDULES_SCHEDULESOURCE_H
#define TENON_PASSES_KERNEL_SCHEDULES_SCHEDULESOURCE_H

#include "passes/cost/ContractionTiles.h"
#include "passes/cost/Machine.h"
#include "passes/cost/SchedulePolicy.h"
#include "passes/kernel/Contraction.h"
#include <memory>
#include <vector>

namespace tenon {

/// The properties of a contraction that its alternative schedules depend on.
struct ScheduleProblem {
  Contraction contraction;
  mlir::Type type;              ///< of the sums
  std::optional<int64_t> depth; ///< the extent of the summed loop; none if there are several, or if it is dynamic
  TileProblem tiles;
  Machine machine;
  bool hasPackedColumns; ///< the columns of a depthwise convolution are packed, some at a time
};

/// The choices of a schedule that a measurement could decide differently.
struct ScheduleDraft {
  llvm::SmallVector<int64_t> tile;         ///< elements of each dimension of the result
  std::optional<kernel::Packing> packing;  ///< none: as the policy says for this tile
  int64_t kBlock = 0;                      ///< this and what follows: as in #kernel.schedule
  std::optional<RegisterBlock> block = {}; ///< none: as the cost model says
  int64_t unroll = 0, vectorBits = 0;
  bool prefetches = true, columnsSlowest = false;

  /// Sets the fields that are not derived from the problem: all but tile, packing and K-block.
  void setFields(kernel::ScheduleFields &fields) const {
    if (block)
      fields.block = {block->rows, block->vectors};
    fields.unroll = unroll;
    fields.vectorBits = vectorBits;
    fields.prefetches = prefetches;
    fields.columnsSlowest = columnsSlowest;
  }
};

/// A draft that a source proposes, with its estimated time relative to that of the draft that it is based on.
struct ScheduleProposal {
  ScheduleDraft draft;
  double cost = 1;
};

/// Proposes alternatives that change one property of a schedule. A source is a file of its own in this folder, and a
/// line in Registry.cpp.
class ScheduleSource {
public:
  virtual ~ScheduleSource() = default;
  /// The displayed name of the property that the alternatives change.
  virtual llvm::StringRef getName() const = 0;
  /// Returns drafts that differ from `own`, the policy's draft, only in this property; empty if the source does not
  /// apply. A tile that the panels or the extents of the result do not allow is adjusted later.
  virtual std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const = 0;
};

/// Returns all sources, with the default policy, in the order in which their alternatives are listed.
const std::vector<std::unique_ptr<ScheduleSource>> &getScheduleSources();

std::unique_ptr<ScheduleSource> createTileRows(const SchedulePolicy &policy);
std::unique_ptr<ScheduleSource> createTileColumns(const SchedulePolicy &policy);
/// Changes the tile in dimensions of the result other than rows and columns, such as the lines of an image.
std::unique_ptr<ScheduleSource> createTileLines(const SchedulePolicy &policy);
std::unique_ptr<ScheduleSource> createPackedLhs(const SchedulePolicy &policy);
std::unique_ptr<ScheduleSource> createKBlocks(const SchedulePolicy &policy);
std::unique_ptr<ScheduleSource> createRegisterBlocks(const SchedulePolicy &policy);
std::unique_ptr<ScheduleSource> createUnrolling(const SchedulePolicy &policy);
std::unique_ptr<ScheduleSource> createPrefetching(const SchedulePolicy &policy);
std::unique_ptr<ScheduleSource> createVectorWidth(const SchedulePolicy &policy);
std::unique_ptr<ScheduleSource> createTileOrder(const SchedulePolicy &policy);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCHEDULES_SCHEDULESOURCE_H
