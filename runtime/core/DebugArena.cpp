//===- DebugArena.cpp - every buffer alone between guard pages -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/DebugArena.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tenon::rt {

static constexpr uint8_t kPoison = 0xFF;

/// A caller's inputs and outputs are aligned to their elements, and at most to this.
static constexpr uint64_t kElementAlignment = 8;

bool DebugArena::isWanted() {
  const char *value = getenv("TENON_DEBUG_ARENA");
  return value && strcmp(value, "1") == 0;
}

DebugArena::~DebugArena() { unmap(); }

void DebugArena::unmap() {
  if (memory)
    munmap(memory, memoryBytes);
  memory = nullptr;
}

/// Creates one island for each group of buffers in the arena.
Status DebugArena::findIslands(const BoundSizes &sizes) {
  Liveness liveness;
  if (!findLiveness(plan, sizes.exprs.data(), sizes.exprKnown.data(), &liveness))
    return Status::make(TENON_RESOURCES, "the plan is too large for TENON_DEBUG_ARENA; unset it");
  islandOf.assign(plan.buffers.size(), kNone);
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (!liveness.ranges[i].isAny())
      continue;
    // The least buffer of a group stands for it, and comes first; but it may be one that is not used.
    assert(liveness.groups[i] <= i && "the first buffer stands for its group");
    uint32_t &group = islandOf[liveness.groups[i]];
    if (group == kNone) {
      group = uint32_t(islands.size());
      islands.push_back({i, UINT64_MAX, 0, plan.arenaAlign, nullptr, nullptr, 0, {}, false});
    }
    islandOf[i] = group;
    Island &island = islands[group];
    const Buffer &buffer = plan.buffers[i];
    auto [begin, end] = extentOf(plan, buffer, sizes.exprs.data(), sizes.exprKnown.data());
    uint64_t last = island.size ? island.begin + island.size : 0;
    island.begin = std::min(island.begin, begin);
    island.size = std::max(last, end) - island.begin;
    island.range.add(liveness.ranges[i].first);
    island.range.add(liveness.ranges[i].last);
  }
  return {};
}

/// An island for each input, or for each output.
void DebugArena::addWhole(const std::vector<uint64_t> &bytes, Storage storage) {
  uint32_t first = uint32_t(islands.size());
  for (uint64_t size : bytes)
    islands.push_back({kNone, 0, size, kElementAlignment, nullptr, nullptr, 0, {}, false});
  for (uint32_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].storage == storage) {
      islandOf[i] = first + plan.buffers[i].index;
      islands[islandOf[i]].buffer = i;
    }
}

/// Maps the pages of each island, with a guard page on either side.
Status DebugArena::map() {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  unmap();
  memoryBytes = page;
  for (Island &island : islands) {
    island.pageBytes = (island.size + island.alignment + page - 1) / page * page;
    memoryBytes += island.pageBytes + page;
  }
  void *mapped = mmap(nullptr, memoryBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return Status::make(TENON_RESOURCES, "the system has no %llu bytes for TENON_DEBUG_ARENA; unset it",
                        (unsigned long long)memoryBytes);
  memory = static_cast<uint8_t *>(mapped);
  uint8_t *next = memory + page;
  for (Island &island : islands) {
    island.pages = next;
    // As close to the end as possible, and aligned as in the storage.
    assert(island.alignment && (island.alignment & (island.alignment - 1)) == 0 && "an alignment is a power of two");
    uint64_t start = island.pageBytes - island.size;
    start -= (start - island.begin) & (island.alignment - 1);
    island.data = next + start;
    next += island.pageBytes + page;
  }
  return {};
}

Status DebugArena::layOut(const BoundSizes &sizes, const std::vector<uint64_t> &inputBytes,
                          const std::vector<uint64_t> &outputBytes) {
  islands.clear();
  openIslands.clear();
  TENON_TRY(findIslands(sizes));
  firstInput = uint32_t(islands.size());
  addWhole(inputBytes, Storage::input);
  firstOutput = uint32_t(islands.size());
  if (!plan.bindsSymbols)
    addWhole(outputBytes, Storage::output);
  lastOutput = uint32_t(islands.size());
  return map();
}

uint8_t *DebugArena::address(uint32_t buffer, uint64_t offset, uint8_t *usual) const {
  if (islandOf[buffer] == kNone)
    return usual;
  const Island &island = islands[islandOf[buffer]];
  return island.data + (offset - island.begin);
}

void DebugArena::open(Island &island) {
  mprotect(island.pages, island.pageBytes, PROT_READ | PROT_WRITE);
  memset(island.pages, kPoison, island.pageBytes);
  island.isOpen = true;
}

void DebugArena::close(Island &island) {
  mprotect(island.pages, island.pageBytes, PROT_NONE);
  island.isOpen = false;
}

void DebugArena::begin(const std::vector<const void *> &data) {
  // After a failed run, some islands may still be accessible.
  for (uint32_t i : openIslands)
    close(islands[i]);
  openIslands.clear();
  for (uint32_t i = firstInput; i < lastOutput; ++i) {
    Island &island = islands[i];
    open(island);
    if (i >= firstOutput)
      continue;
    if (island.size)
      memcpy(island.data, data[i - firstInput], island.size);
    mprotect(island.pages, island.pageBytes, PROT_READ);
  }
}

void DebugArena::end(const std::vector<void *> &data) {
  for (uint32_t i = firstOutput; i < lastOutput; ++i)
    if (islands[i].size)
      memcpy(data[i - firstOutput], islands[i].data, islands[i].size);
}

void DebugArena::enter(uint32_t index) {
  assert(islandOf.size() == plan.buffers.size() && "islands are laid out before instructions reach them");
  const Instruction &instruction = plan.instructions[index];
  for (uint32_t i = 0; i < instruction.buffers.count; ++i) {
    uint32_t island = islandOf[plan.operands[instruction.buffers.begin + i]];
    if (island == kNone || islands[island].isOpen)
      continue;
    open(islands[island]);
    openIslands.push_back(island);
  }
}

/// Returns the first byte next to an island's data that was overwritten, or null.
const uint8_t *DebugArena::damageOf(const Island &island) const {
  auto isDamaged = [](uint8_t byte) { return byte != kPoison; };
  const uint8_t *dataEnd = island.data + island.size, *pagesEnd = island.pages + island.pageBytes;
  const uint8_t *before =
      std::find_if(static_cast<const uint8_t *>(island.pages), static_cast<const uint8_t *>(island.data), isDamaged);
  const uint8_t *behind = std::find_if(dataEnd, pagesEnd, isDamaged);
  return before != island.data ? before : behind != pagesEnd ? behind : nullptr;
}

Status DebugArena::leave(uint32_t index, uint32_t next) {
  const Instruction &instruction = plan.instructions[index];
  for (uint32_t i = 0; i < instruction.buffers.count; ++i) {
    uint32_t island = islandOf[plan.operands[instruction.buffers.begin + i]];
    if (island == kNone)
      continue;
    const uint8_t *damage = damageOf(islands[island]);
    char text[256];
    if (damage && describe(damage, text, sizeof text))
      return Status::make(TENON_FAULT, "instruction %u (%s '%s') has written %s; compile the model again", index,
                          fmt::kInstructions[uint32_t(instruction.op)].name, instruction.name, text);
  }
  auto isOver = [&](uint32_t island) {
    const LiveRange &range = islands[island].range;
    if (next >= range.first && next <= range.last)
      return false;
    close(islands[island]);
    return true;
  };
  openIslands.erase(std::remove_if(openIslands.begin(), openIslands.end(), isOver), openIslands.end());
  return {};
}

bool DebugArena::describe(const void *address, char *text, size_t capacity) const {
  const uint8_t *at = static_cast<const uint8_t *>(address);
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  for (const Island &island : islands) {
    if (at < island.pages - page || at >= island.pages + island.pageBytes + page || island.buffer == kNone)
      continue;
    const Buffer &buffer = plan.buffers[island.buffer];
    bool isBefore = at < island.data, isBehind = at >= island.data + island.size;
    long long distance = isBefore ? island.data - at : isBehind ? at - (island.data + island.size) : at - island.data;
    const char *what = isBefore                           ? "bytes before"
                       : isBehind                         ? "bytes behind the end of"
                       : buffer.storage == Storage::input ? "bytes into the read-only"
                                                          : "bytes into, but before or after its live range,";
    snprintf(text, capacity, "%lld %s buffer '%s' of %llu bytes", distance, what, buffer.name,
             (unsigned long long)island.size);
    return true;
  }
  return false;
}

} // namespace tenon::rt
