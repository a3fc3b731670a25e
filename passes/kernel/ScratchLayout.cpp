//===- ScratchLayout.cpp - regions of a thread's scratch memory -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/ScratchLayout.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/StrassenTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

void ScratchLayout::add(ScratchUse use, int64_t bytes) {
  assert(bytes >= 0 && "a region has no negative size");
  assert(!has(use) && "a use has one region");
  if (bytes > 0)
    regions.push_back({use, static_cast<int64_t>(llvm::alignTo(getBytes(), kAlignment)), bytes});
}

const ScratchRegion *ScratchLayout::find(ScratchUse use) const {
  const auto *region = llvm::find_if(regions, [&](const ScratchRegion &region) { return region.use == use; });
  return region == regions.end() ? nullptr : region;
}

Value ScratchLayout::emit(OpBuilder &b, Location loc, ScratchUse use, MemRefType type) const {
  const ScratchRegion *region = find(use);
  assert(region && "the layout has a region for all that is packed");
  assert(type.getNumElements() * int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8)) <= region->bytes &&
         "a buffer lies within its region");
  return kernel::ScratchOp::create(b, loc, type, region->offset);
}

ScratchLayout tenon::getScratchLayout(kernel::ContractOp op, const Contraction &contraction) {
  ScratchLayout layout;
  if (contraction.terms) {
    layout.add(ScratchUse::splitRhs, getSplitRhsBytes(op, contraction));
    layout.add(ScratchUse::splitLhs, getSplitLhsBytes(op, contraction));
    layout.add(ScratchUse::termSums, getTermSumBytes(op, contraction));
    return layout;
  }
  if (std::optional<StrassenTile> tile = getStrassenTile(op, contraction)) {
    addStrassenScratch(layout, *tile);
    return layout;
  }
  layout.add(ScratchUse::packedRows, getPackedRowsBytes(op, contraction));
  layout.add(ScratchUse::dequantizedPanel, getDequantizedPanelBytes(op, contraction));
  kernel::ScheduleAttr schedule = kernel::getSchedule(op);
  std::optional<int64_t> tileBytes = schedule.getPacking() == kernel::Packing::tile
                                         ? getPackedTileBytes(op, contraction, schedule.getTile())
                                         : std::nullopt;
  if (!tileBytes)
    return layout;
  layout.add(ScratchUse::packedTile, *tileBytes);
  if (contraction.isColumnwise)
    layout.add(ScratchUse::packedFilter, getPackedFilterBytes(op));
  else if (contraction.dot4Loop)
    layout.add(ScratchUse::pmaddWdPanel, getPmaddWdPanelBytes(op, contraction));
  return layout;
}
