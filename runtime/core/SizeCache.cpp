//===- SizeCache.cpp - what follows from the last few sets of sizes ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/SizeCache.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

static size_t bytesOfOne(const Plan &plan) {
  size_t words = plan.dims.size() + 2 * plan.states.size() + plan.symbols.size() + plan.exprs.size() +
                 plan.buffers.size() + plan.operands.size() + plan.sizes.size();
  return sizeof(BoundSizes) + words * 8 + plan.symbols.size() + plan.exprs.size() +
         plan.instructions.size() * sizeof(uint32_t);
}

static size_t capacityFor(const Plan &plan) {
  for (const Symbol &symbol : plan.symbols)
    if (symbol.isEarly())
      return std::clamp<size_t>(SizeCache::kBytes / bytesOfOne(plan), 1, SizeCache::kCapacity);
  return 1;
}

void SizeCache::start(const Plan &plan) {
  size_t dims = 0;
  for (const Tensor &input : plan.inputs)
    dims += input.dims.count;
  entries.resize(capacityFor(plan));
  for (BoundSizes &entry : entries) {
    entry.dims.resize(dims);
    entry.rows.resize(2 * plan.states.size());
    entry.symbols.resize(plan.symbols.size());
    entry.exprs.resize(plan.exprs.size());
    entry.symbolKnown.resize(plan.symbols.size());
    entry.exprKnown.resize(plan.exprs.size());
    entry.buffers.resize(plan.buffers.size());
    entry.operands.resize(plan.operands.size());
    entry.sizes.resize(plan.sizes.size());
    entry.work.resize(plan.instructions.size());
  }
}

BoundSizes &SizeCache::find(const int64_t *dims, const int64_t *rows) {
  assert(!entries.empty() && "start() makes room for a set of sizes");
  BoundSizes *oldest = &entries.front();
  const BoundSizes *similar = nullptr; // of the same shapes, the last one that was used
  ++uses;
  for (BoundSizes &entry : entries) {
    if (entry.isEvaluated && std::equal(entry.dims.begin(), entry.dims.end(), dims)) {
      if (std::equal(entry.rows.begin(), entry.rows.end(), rows)) {
        entry.lastUse = uses;
        return entry;
      }
      if (!similar || similar->lastUse < entry.lastUse)
        similar = &entry;
    }
    // An unused entry counts as the oldest.
    if ((entry.isEvaluated ? entry.lastUse : 0) < (oldest->isEvaluated ? oldest->lastUse : 0))
      oldest = &entry;
  }
  oldest->isEvaluated = oldest->hasAddresses = false;
  oldest->lastUse = uses;
  // A growing sequence has a different number of rows in each run, but takes similar times.
  if (similar && similar != oldest) {
    oldest->runs = similar->runs;
    oldest->work = similar->work;
  } else if (!similar) {
    oldest->runs = 0;
    std::fill(oldest->work.begin(), oldest->work.end(), 0);
  }
  std::copy_n(dims, oldest->dims.size(), oldest->dims.begin());
  std::copy_n(rows, oldest->rows.size(), oldest->rows.begin());
  return *oldest;
}

void SizeCache::forgetAddresses() {
  for (BoundSizes &entry : entries)
    entry.hasAddresses = false;
}

} // namespace tenon::rt
