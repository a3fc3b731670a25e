//===- Barrier.cpp - where threads wait for each other -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Barrier.h"

#include "runtime/core/Spin.h"

#include <algorithm>
#include <new>

namespace tenon::rt {

/// Counters go around at their end.
static bool hasReached(uint32_t value, uint32_t wanted) { return int32_t(value - wanted) >= 0; }

bool Barrier::Counter::add(uint32_t wanted) {
  bool isLast = value.fetch_add(1) + 1 == wanted;
  // A waiter counts itself before the kernel compares the value: so one of the two sees the other.
  if (isLast && sleepers.load())
    futexWakeAll(&value);
  return isLast;
}

void Barrier::Counter::set(uint32_t reached) {
  value.store(reached);
  if (sleepers.load())
    futexWakeAll(&value);
}

void Barrier::Counter::waitFor(uint32_t wanted) {
  if (spin([&] { return hasReached(value.load(std::memory_order_acquire), wanted); }))
    return;
  sleepers.fetch_add(1);
  for (uint32_t seen; !hasReached(seen = value.load(), wanted);)
    futexWait(&value, seen);
  sleepers.fetch_sub(1);
}

bool Barrier::reserve(uint32_t count) {
  nodes.reset(new (std::nothrow) Node[(count + kNodeThreads - 1) / kNodeThreads]);
  return nodes != nullptr;
}

void Barrier::start(uint32_t count) {
  threads = count;
  numNodes = (count + kNodeThreads - 1) / kNodeThreads;
  root.value.store(0, std::memory_order_relaxed);
  for (uint32_t i = 0; i < numNodes; ++i) {
    nodes[i].arrived.value.store(0, std::memory_order_relaxed);
    nodes[i].released.value.store(0, std::memory_order_relaxed);
  }
}

uint32_t Barrier::endOf(uint32_t thread, uint32_t round) const {
  uint32_t first = thread / kNodeThreads * kNodeThreads;
  return std::min(kNodeThreads, threads - first) * (round + 1);
}

void Barrier::arrive(uint32_t thread, uint32_t round) {
  // Once the last one has arrived, start may change everything: so all of it is read before.
  bool hasRoot = numNodes > 1;
  uint32_t end = endOfAll(round);
  if (nodeOf(thread).arrived.add(endOf(thread, round)) && hasRoot)
    root.add(end);
}

void Barrier::wait(uint32_t thread, uint32_t round) {
  Node &node = nodeOf(thread);
  uint32_t end = endOf(thread, round);
  bool isLast = node.arrived.add(end);
  if (numNodes == 1)
    return isLast ? void() : node.arrived.waitFor(end);
  if (!isLast)
    return node.released.waitFor(round + 1);
  if (!root.add(endOfAll(round)))
    root.waitFor(endOfAll(round));
  node.released.set(round + 1);
}

void Barrier::waitForArrivals(uint32_t thread, uint32_t round) {
  arrive(thread, round);
  all().waitFor(endOfAll(round));
}

} // namespace tenon::rt
