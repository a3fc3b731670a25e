//===- ReadAhead.cpp - weights are read before they are needed ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ReadAhead.h"

#include <algorithm>

namespace tenon::rt {

// policy: blocks that a thread reads at a time, a megabyte: enough to keep a disk busy, with a short wait.
static constexpr uint64_t kPiece = 4;
// limit: sampled blocks that decide whether the weights are in memory.
static constexpr size_t kSamples = 32;

/// True if all sampled pieces, evenly spread, are in the page cache.
static bool areCached(const WeightRegion &region, const std::vector<BlockRange> &pieces) {
  size_t step = std::max<size_t>(pieces.size() / kSamples, 1);
  for (size_t i = 0; i < pieces.size(); i += step)
    if (!region.isCached(pieces[i].begin))
      return false;
  return true;
}

void ReadAhead::start(const WeightRegion &newRegion, const WeightCheck &newCheck, const std::vector<BlockRange> &order,
                      bool always) {
  stop();
  region = &newRegion;
  check = &newCheck;
  pieces.clear();
  for (const BlockRange &range : order)
    for (uint64_t block = range.begin; block < range.end; block += kPiece)
      pieces.push_back({block, std::min(block + kPiece, range.end)});
  if (!region->isMapped() || pieces.empty() || (!always && areCached(*region, pieces)))
    return;
  next = 0;
  isStopping = false;
  auto run = [](void *self) -> void * {
    static_cast<ReadAhead *>(self)->read();
    return nullptr;
  };
  for (Thread &thread : threads)
    thread.start(run, this);
}

void ReadAhead::stop() {
  isStopping = true;
  for (Thread &thread : threads)
    thread.join();
}

void ReadAhead::read() {
  for (size_t i; !isStopping.load(std::memory_order_relaxed) && (i = next.fetch_add(1)) < pieces.size();) {
    // An unreadable or invalid block is reported by the instruction that needs it.
    if (region->load(pieces[i]).failed())
      return;
    for (uint64_t block = pieces[i].begin; check->isByBlocks() && block < pieces[i].end; ++block)
      (void)check->check(block);
  }
}

} // namespace tenon::rt
