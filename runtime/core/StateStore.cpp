//===- StateStore.cpp - what a session keeps from run to run --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/StateStore.h"

#include "runtime/base/CheckedMath.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tenon::rt {

Status StateStore::start(uint32_t count) {
  constexpr uint32_t kMaxSlots = 1u << 16; // each takes memory before it is used
  if (count > kMaxSlots)
    return Status::make(TENON_MISUSE, "%u slots, a session has at most %u", count, kMaxSlots);
  slots.resize(count);
  for (Slot &slot : slots)
    start(slot);
  current = {&slots.front()};
  return {};
}

void StateStore::start(Slot &slot) const {
  slot.memory = artifact.device().makeMemory();
  slot.counts.resize(plan().states.size());
  slot.shared.resize(plan().states.size());
  slot.used.resize(plan().states.size());
}

uint64_t StateStore::bytes() const {
  uint64_t sum;
  return checkedMul(plan().stateSize, slots.size() + idle.size(), &sum) ? sum : UINT64_MAX;
}

Status StateStore::checkSlot(uint32_t slot) const {
  if (slot < slots.size())
    return {};
  return Status::make(TENON_MISUSE, "slot %u of %zu; a session has as many as its options say", slot, slots.size());
}

Status StateStore::use(const uint32_t *chosen, uint32_t count) {
  if (!count)
    return Status::make(TENON_MISUSE, "a run is of one sequence at least");
  std::vector<Slot *> next;
  for (uint32_t i = 0; i < count; ++i) {
    if (chosen[i] == TENON_NO_SLOT) {
      next.push_back(nullptr);
      continue;
    }
    TENON_TRY(checkSlot(chosen[i]));
    next.push_back(&slots[chosen[i]]);
  }
  std::vector<Slot *> sorted = next;
  std::sort(sorted.begin(), sorted.end());
  for (uint32_t i = 1; i < count; ++i)
    if (sorted[i] && sorted[i] == sorted[i - 1])
      return Status::make(TENON_MISUSE, "slot %td has two sequences of one run", sorted[i] - slots.data());
  size_t numIdle = 0;
  for (Slot *&slot : next) {
    if (slot)
      continue;
    if (numIdle == idle.size()) {
      start(idle.emplace_back());
      idle.back().isIdle = true;
    }
    slot = &idle[numIdle++];
  }
  changes += next != current;
  current = std::move(next);
  return {};
}

Status StateStore::prepare() {
  for (Slot *slot : current)
    TENON_TRY(reserve(*slot));
  return {};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Copies between device addresses, while no command runs.
Status StateStore::copy(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  if (artifact.device().properties().isHostAddressable) {
    if (bytes)
      memcpy(to, from, bytes);
    return {};
  }
  uint8_t part[4096];
  for (uint64_t done = 0; done < bytes;) {
    uint64_t count = std::min<uint64_t>(bytes - done, sizeof part);
    TENON_TRY(queue.read(part, from + done, count));
    TENON_TRY(queue.write(to + done, part, count));
    done += count;
  }
  return {};
}

/// Writes what is in this process to the device, while no command runs.
Status StateStore::write(uint8_t *to, const void *from, uint64_t bytes) {
  if (!artifact.device().properties().isHostAddressable)
    return queue.write(to, from, bytes);
  if (bytes)
    memcpy(to, from, bytes);
  return {};
}

/// Zeroes memory that was used; this only matters for states all of whose rows are live.
Status StateStore::clear(Slot &slot) {
  assert(slot.memory->address() && "a slot that has not been used has nothing to clear");
  for (const State &state : plan().states) {
    if (state.kind != StateKind::whole || state.initial != UINT64_MAX)
      continue;
    uint8_t *address = slot.memory->address() + state.offset;
    if (artifact.device().properties().isHostAddressable) {
      memset(address, 0, state.bytes);
      continue;
    }
    static const uint8_t zeros[4096] = {};
    for (uint64_t done = 0; done < state.bytes; done += sizeof zeros)
      TENON_TRY(queue.write(address + done, zeros, std::min<uint64_t>(state.bytes - done, sizeof zeros)));
  }
  return writeInitial(slot);
}

/// Verifies the weights that initialize a state, because no instruction reads them.
Status StateStore::checkInitial(const State &state) const {
  if (!fits(state.initial, state.bytes, artifact.weightBytes()))
    return Status::make(TENON_INVALID, "damaged: state '%s' begins as %llu bytes at %llu of %llu bytes of weights",
                        state.name, (unsigned long long)state.bytes, (unsigned long long)state.initial,
                        (unsigned long long)artifact.weightBytes());
  const WeightCheck &weights = artifact.weightCheck();
  if (!weights.isWanted() || !state.bytes)
    return {};
  uint64_t size = weights.blockSize();
  for (uint64_t block = state.initial / size; block <= (state.initial + state.bytes - 1) / size; ++block)
    if (!weights.isRight(block) && !weights.check(block))
      return weights.mismatch(block, state.name);
  return {};
}

Status StateStore::writeInitial(Slot &slot) {
  for (const State &state : plan().states) {
    if (state.initial == UINT64_MAX)
      continue;
    TENON_TRY(checkInitial(state));
    TENON_TRY(copy(slot.memory->address() + state.offset, artifact.weights() + state.initial, state.bytes));
  }
  return {};
}

Status StateStore::reserve(Slot &slot) {
  if (slot.memory->address() || !plan().stateSize)
    return {};
  TENON_TRY(slot.memory->reserve(plan().stateSize, false, "states"));
  ++changes;
  return writeInitial(slot);
}

/// Forgets memory that has got a hole; the next one is allocated when it is needed.
void StateStore::discard(Slot &slot) {
  slot.memory = artifact.device().makeMemory();
  slot.shared.assign(plan().states.size(), {});
  slot.used.assign(plan().states.size(), 0);
  ++changes;
}

Status StateStore::checkUsable() const {
  for (const Slot *slot : current)
    if (slot->isBroken)
      return Status::make(
          TENON_MISUSE,
          "a run that failed has left the states of slot %td half written; reset it, or restore it from a file",
          slot - slots.data());
  return {};
}

void StateStore::beginRun(const Plan &program, const int64_t *exprs, const uint8_t *known) {
  size_t numStates = plan().states.size();
  for (size_t i = 0; i < program.states.size(); ++i) {
    Slot &slot = *current[program.states[i].sequence];
    uint64_t &used = slot.used[i % numStates];
    used = std::max(used, bytesAfter(program.states[i], slot.counts[i % numStates], exprs, known));
  }
  for (Slot *slot : current)
    slot->isBroken = !plan().states.empty() && !slot->isIdle;
}

Status StateStore::set(uint32_t index, uint32_t number, const tenon_tensor *tensor) {
  TENON_TRY(checkSlot(index));
  if (number >= plan().states.size())
    return Status::make(TENON_MISUSE, "state %u of %zu", number, plan().states.size());
  const State &state = plan().states[number];
  if (state.kind != StateKind::whole)
    return Status::make(TENON_MISUSE, "state '%s' is written by runs alone: not all of its rows are live", state.name);
  const int64_t *dims = plan().stateDims.data() + state.dims.begin;
  if (tensor->dtype != state.dtype || tensor->rank != state.dims.count ||
      !std::equal(dims, dims + state.dims.count, tensor->dims))
    return Status::make(TENON_MISUSE, "state '%s' has another type or other dimensions", state.name);
  if (!tensor->data && state.bytes)
    return Status::make(TENON_MISUSE, "state '%s' is set to a tensor without data", state.name);
  Slot &slot = slots[index];
  TENON_TRY(reserve(slot));
  return write(slot.memory->address() + state.offset, tensor->data, state.bytes);
}

Status StateStore::reset(uint32_t index) {
  TENON_TRY(checkSlot(index));
  Slot &slot = slots[index];
  ++changes;
  slot.isBroken = false;
  std::fill(slot.counts.begin(), slot.counts.end(), 0);
  // Memory that is lost is as good as any: nothing of it was to be kept.
  if (unshare(slot) == Remapping::lost)
    discard(slot);
  if (!slot.memory->address())
    return {};
  return clear(slot);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

int64_t StateStore::liveRows(const State &state, int64_t count) const {
  return state.kind == StateKind::whole ? state.capacity : std::min(count, state.capacity);
}

uint64_t StateStore::liveBytes(const State &state, int64_t count) const {
  assert(count >= 0 && "rows are counted from zero");
  return state.kind == StateKind::whole ? state.bytes : uint64_t(liveRows(state, count)) * state.rowBytes;
}

/// Returns the bytes of a state that have been written after a run, as far as that is known.
uint64_t StateStore::bytesAfter(const State &state, int64_t count, const int64_t *exprs, const uint8_t *known) const {
  if (state.kind == StateKind::whole || state.next == kNoExpr || !known[state.next])
    return liveBytes(state, count);
  int64_t next = state.kind == StateKind::ring ? count + state.ringRows : exprs[state.next];
  return std::max(liveBytes(state, count), liveBytes(state, std::max<int64_t>(next, 0)));
}

uint64_t StateStore::countNew(const Plan &program, const int64_t *exprs, const uint8_t *known) const {
  size_t numStates = plan().states.size();
  uint64_t sum = 0;
  for (size_t i = 0; i < program.states.size(); ++i) {
    const Slot &slot = *current[program.states[i].sequence];
    uint64_t used = slot.used[i % numStates];
    sum += std::max(used, bytesAfter(program.states[i], slot.counts[i % numStates], exprs, known)) - used;
  }
  return sum;
}

Status StateStore::countRows(uint32_t slot, uint32_t state, int64_t *result) const {
  TENON_TRY(checkSlot(slot));
  if (state >= plan().states.size())
    return Status::make(TENON_MISUSE, "state %u of %zu", state, plan().states.size());
  *result = liveRows(plan().states[state], slots[slot].counts[state]);
  return {};
}

void StateStore::rows(const Plan &program, int64_t *values) const {
  assert(program.sequences == current.size() && "there is a slot for each sequence");
  size_t numStates = plan().states.size();
  for (size_t i = 0; i < program.states.size(); ++i) {
    const State &state = program.states[i];
    int64_t count = current[state.sequence]->counts[i % numStates];
    bool isRing = state.kind == StateKind::ring;
    values[2 * i] = state.kind == StateKind::whole ? 0 : std::min(count, state.capacity - state.ringRows);
    values[2 * i + 1] = isRing ? count % state.capacity : 0;
  }
}

Status StateStore::endRun(const Plan &program, const int64_t *exprs) {
  assert(program.sequences == current.size() && "there is a slot for each sequence");
  size_t numStates = plan().states.size();
  for (size_t i = 0; i < program.states.size(); ++i) {
    const State &state = program.states[i];
    Slot *slot = current[state.sequence];
    if (state.next == kNoExpr || slot->isIdle)
      continue;
    int64_t &count = slot->counts[i % numStates];
    int64_t next = exprs[state.next];
    if (state.kind == StateKind::growing && (next < 0 || next > state.capacity))
      return Status::make(TENON_INVALID, "state '%s' has %lld rows after the run, and memory for %lld", state.name,
                          (long long)next, (long long)state.capacity);
    int64_t before = count;
    count = state.kind == StateKind::growing ? next : count + state.ringRows;
    // For a full ring, only the write position matters.
    if (state.kind == StateKind::ring && count >= 2 * state.capacity)
      count -= state.capacity;
    changes += count != before;
  }
  for (Slot *slot : current)
    slot->isBroken = false;
  return {};
}

} // namespace tenon::rt
