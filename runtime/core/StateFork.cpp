//===- StateFork.cpp - slots that share rows until one writes them --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The live rows of a state follow one another in memory. Their whole pages move to
// SharedPages, which both slots map at the addresses that they have anyway, so that
// kernels see memory like any other; the system copies a page when one of the two
// writes to it. Rows that a slot has got since its last fork are shared in addition,
// as a range behind those that it shares already.
//
// Copied are: rows of the last page, and of states that are small; those of which a
// run writes all rows, since each page would be copied one by one; everything if the
// system has no such pages.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/FreeMemory.h"
#include "runtime/base/Memory.h"
#include "runtime/core/StateStore.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

/// Bytes of a state, up to the end of the page. No other state begins there, if this one is shared.
static uint64_t toWholePages(uint64_t bytes) { return (bytes + pageSize() - 1) / pageSize() * pageSize(); }

static Status lost(const char *what) {
  return Status::make(TENON_RESOURCES,
                      "the system has lost memory of the slot to %s: reset it, or restore it from a file", what);
}

/// What a state of the target gets.
struct StateStore::ForkedState {
  uint64_t live = 0;               // bytes
  std::vector<SharedRange> ranges; // from the first byte on, end to end; what is behind them is copied
  bool isLastNew = false;          // the last range holds what was not shared before

  uint64_t countMapped() const {
    uint64_t bytes = 0;
    for (const SharedRange &range : ranges)
      bytes += range.bytes;
    return bytes;
  }
};

bool StateStore::isShareable(const State &state, const Slot &slot) const {
  return state.kind != StateKind::whole && state.bytes >= kShareableState && state.offset % pageSize() == 0 &&
         slot.memory->isPaged();
}

/// Finds what a state shares already, and what it should share in addition; the latter has no pages yet.
StateStore::ForkedState StateStore::findShared(const Slot &slot, uint32_t index) const {
  const State &state = plan().states[index];
  ForkedState result;
  result.live = liveBytes(state, slot.counts[index]);
  if (!isShareable(state, slot))
    return result;
  uint64_t whole = result.live / pageSize() * pageSize(), mapped = 0, shared = 0;
  for (const SharedRange &range : slot.shared[index])
    mapped += range.bytes;
  mapped = std::min(mapped, whole);
  if (mapped)
    mapped = countUnwritten(slot.memory->address() + state.offset, mapped);
  for (const SharedRange &range : slot.shared[index]) {
    if (shared == mapped)
      break;
    result.ranges.push_back({range.pages, range.offset, std::min(range.bytes, mapped - shared)});
    shared += result.ranges.back().bytes;
  }
  result.isLastNew = whole - shared >= kShareableState;
  if (result.isLastNew)
    result.ranges.push_back({nullptr, 0, whole - shared});
  return result;
}

/// Writes what is to be shared in addition to new pages. If the system has none, it is not shared.
void StateStore::writeShared(const Slot &slot, std::vector<ForkedState> &states) const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    if (!states[i].isLastNew)
      continue;
    SharedRange &range = states[i].ranges.back();
    // A huge page can be mapped as one. What is left out takes no memory.
    if (range.bytes >= kHugePage)
      bytes += (plan().states[i].offset + states[i].countMapped() - range.bytes - bytes) & (kHugePage - 1);
    range.offset = bytes;
    bytes += range.bytes;
  }
  if (!bytes)
    return;
  std::shared_ptr<SharedPages> pages = SharedPages::create(bytes);
  bool isWritten = pages != nullptr;
  for (size_t i = 0; i < states.size() && isWritten; ++i) {
    if (!states[i].isLastNew)
      continue;
    const SharedRange &range = states[i].ranges.back();
    const uint8_t *end = slot.memory->address() + plan().states[i].offset + states[i].countMapped();
    isWritten = pages->write(range.offset, end - range.bytes, range.bytes);
  }
  isWritten = isWritten && pages->seal();
  for (ForkedState &state : states) {
    if (!state.isLastNew)
      continue;
    state.ranges.back().pages = pages;
    if (!isWritten)
      state.ranges.pop_back();
    state.isLastNew = isWritten;
  }
}

/// Returns how many bytes have memory of the system only after the fork.
uint64_t StateStore::countNew(const Slot &target, const std::vector<ForkedState> &states) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    const ForkedState &state = states[i];
    uint64_t has = std::max(target.used[i], state.countMapped());
    sum += (state.isLastNew ? state.ranges.back().bytes : 0) + std::max(state.live, has) - has;
  }
  return sum;
}

/// Gives a state of the target the rows of the source.
Status StateStore::giveRows(const Slot &source, const ForkedState &rows, uint32_t state, Slot &target) {
  uint8_t *to = target.memory->address() + plan().states[state].offset;
  const uint8_t *from = source.memory->address() + plan().states[state].offset;
  uint64_t done = 0, before = 0;
  for (const SharedRange &range : target.shared[state])
    before += range.bytes;
  target.shared[state].clear();
  uint64_t &used = target.used[state];
  for (const SharedRange &range : rows.ranges) {
    Remapping result = range.pages->mapOver(to + done, range.offset, range.bytes);
    if (result == Remapping::lost)
      return lost("fork to");
    // Without a mapping, the rows are copied to whatever is there.
    if (result == Remapping::refused)
      break;
    target.shared[state].push_back(range);
    done += range.bytes;
  }
  // Pages that the target has shared, and which have no rows now.
  if (done < before) {
    before = std::max(before, toWholePages(used));
    if (mapFresh(to + done, before - done) == Remapping::lost)
      return lost("fork to");
    used = done;
  }
  used = std::max(used, rows.live);
  return copy(to + done, from + done, rows.live - done);
}

/// Gives the source the pages that its rows were written to, in place of its own.
Status StateStore::shareOwn(const ForkedState &rows, uint32_t state, Slot &source) {
  if (!rows.isLastNew)
    return {};
  uint8_t *end = source.memory->address() + plan().states[state].offset + rows.countMapped();
  const SharedRange &last = rows.ranges.back();
  Remapping result = last.pages->mapOver(end - last.bytes, last.offset, last.bytes);
  if (result == Remapping::lost)
    return lost("fork");
  if (result == Remapping::done)
    source.shared[state] = rows.ranges;
  return {};
}

/// Gives a slot's memory back what it shares. Its rows have no values then.
Remapping StateStore::unshare(Slot &slot) {
  for (size_t i = 0; i < slot.shared.size(); ++i) {
    uint64_t bytes = 0;
    for (const SharedRange &range : slot.shared[i])
      bytes += range.bytes;
    slot.shared[i].clear();
    if (!bytes)
      continue;
    // All of it, so that nothing of what is left counts as new when it is written again.
    bytes = std::max(bytes, toWholePages(slot.used[i]));
    if (mapFresh(slot.memory->address() + plan().states[i].offset, bytes) == Remapping::lost)
      return Remapping::lost;
    slot.used[i] = 0;
  }
  return Remapping::done;
}

Status StateStore::fork(uint32_t from, uint32_t to) {
  TENON_TRY(checkSlot(from));
  TENON_TRY(checkSlot(to));
  if (from == to)
    return {};
  Slot &source = slots[from], &target = slots[to];
  if (source.isBroken)
    return Status::make(TENON_MISUSE, "slot %u has nothing to copy: the run before has failed", from);
  TENON_TRY(reserve(source));
  std::vector<ForkedState> states(plan().states.size());
  for (uint32_t i = 0; i < states.size(); ++i)
    states[i] = findShared(source, i);
  if (artifact.device().properties().isHostAddressable)
    TENON_TRY(checkFreeMemory(countNew(target, states), "a fork"));
  TENON_TRY(reserve(target));
  writeShared(source, states);
  ++changes;
  // From here on, a failure leaves the slot unusable to which it happened.
  target.isBroken = true;
  for (uint32_t i = 0; i < states.size(); ++i) {
    Status status = giveRows(source, states[i], i, target);
    if (status.failed()) {
      discard(target);
      return status;
    }
  }
  target.counts = source.counts;
  target.isBroken = false;
  for (uint32_t i = 0; i < states.size(); ++i) {
    Status status = shareOwn(states[i], i, source);
    if (status.failed()) {
      discard(source);
      source.isBroken = true;
      return status;
    }
  }
  return {};
}

} // namespace tenon::rt
