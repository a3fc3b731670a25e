//===- Team.cpp - the threads that are at work on a group of jobs --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who is in the group is counted in `state`, so that it does not change while
// anybody is. With nodes, what is counted there are nodes that somebody is in; the
// node's own word counts its threads, and has the group's number so that a thread
// that comes late does not take it for one that is over.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/Team.h"

#include <cassert>
#include <new>

namespace tenon::rt {

bool Team::reserve(uint32_t threads) {
  if (threads <= kNodeThreads)
    return true;
  nodes.reset(new (std::nothrow) Node[(threads + kNodeThreads - 1) / kNodeThreads]);
  return nodes != nullptr;
}

/// Comes in with the others of the node that are in group `number`; false where there are none.
bool Team::join(uint32_t thread, uint32_t number) {
  std::atomic<uint64_t> &node = nodes[thread / kNodeThreads].word;
  uint64_t seen = node.load(std::memory_order_relaxed);
  while (insideOf(seen) && numberOf(seen) == number)
    if (node.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_relaxed))
      return true;
  return false;
}

/// A thread that is counted in `state` becomes a member of its node, which is counted once.
void Team::attach(uint32_t thread, uint32_t number) {
  if (!nodes)
    return;
  std::atomic<uint64_t> &node = nodes[thread / kNodeThreads].word;
  for (uint64_t seen = node.load(std::memory_order_relaxed);;) {
    // Those of an earlier group have all left.
    uint32_t inside = numberOf(seen) == number ? insideOf(seen) : 0;
    if (!node.compare_exchange_weak(seen, pack(number, 0, inside + 1), std::memory_order_acq_rel,
                                    std::memory_order_relaxed))
      continue;
    if (inside)
      state.fetch_sub(1, std::memory_order_acq_rel); // not the last: the node is counted already
    return;
  }
}

void Team::open(uint32_t thread, uint32_t number, uint32_t parts) {
  assert(parts > 0 && parts <= 0xffff && "the number of threads fits its bits of the word");
  state.store(pack(number, parts, 1));
  attach(thread, number);
}

void Team::close(uint32_t number) { state.store(pack(number, 0, 0)); }

bool Team::enter(uint32_t thread, uint32_t *seen, uint32_t *parts) {
  uint64_t now = state.load(std::memory_order_acquire);
  while (thread < partsOf(now) && numberOf(now) != *seen) {
    uint32_t number = numberOf(now);
    bool isIn = nodes && join(thread, number);
    if (!isIn && !state.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    if (!isIn)
      attach(thread, number);
    *seen = number;
    *parts = partsOf(now);
    return true;
  }
  return false;
}

bool Team::leave(uint32_t thread, uint32_t number, uint32_t next, uint32_t nextParts) {
  if (nodes) {
    std::atomic<uint64_t> &node = nodes[thread / kNodeThreads].word;
    if (insideOf(node.fetch_sub(1, std::memory_order_acq_rel)) > 1)
      return false;
  }
  uint64_t now = state.load(std::memory_order_relaxed);
  for (;;) {
    assert(insideOf(now) > 0 && "a thread leaves a group that it has entered");
    bool isLast = insideOf(now) == 1;
    uint64_t after = isLast ? pack(nextParts ? next : number, nextParts, 1) : now - 1;
    // Sequentially consistent, like open() and close(), because sleeping threads are checked after it.
    if (!state.compare_exchange_weak(now, after))
      continue;
    if (isLast && nextParts)
      attach(thread, next);
    return isLast;
  }
}

} // namespace tenon::rt
