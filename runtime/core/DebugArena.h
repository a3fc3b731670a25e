//===- DebugArena.h - every buffer alone between guard pages -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_DEBUGARENA_H
#define TENON_RUNTIME_CORE_DEBUGARENA_H

#include "runtime/base/Status.h"
#include "runtime/core/SizeCache.h"
#include "runtime/plan/Liveness.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::rt {

/// Replaces the arena if TENON_DEBUG_ARENA is 1 in the environment, to find kernels with out-of-bounds accesses and
/// plans that assign overlapping memory to live buffers. Buffers that share bytes while both are live (Liveness) are on
/// one island; all others have islands of their own: separate pages, which end as close behind the buffer as its
/// alignment allows, with a guard page on either side. An island is filled with 0xFF, NaN in every floating-point type,
/// when its live range begins, and is inaccessible before and after. Inputs are copied to read-only islands, and
/// outputs are copied from islands at the end of a run.
///
/// Weights, scratch and heap blocks are not moved; neither are outputs if instructions bind symbols.
class DebugArena {
public:
  static bool isWanted();

  explicit DebugArena(const Plan &plan) : plan(plan) {}
  DebugArena(const DebugArena &) = delete;
  ~DebugArena();

  /// Creates the islands for these sizes; `inputBytes` and `outputBytes` have one element for every input and output.
  Status layOut(const BoundSizes &sizes, const std::vector<uint64_t> &inputBytes,
                const std::vector<uint64_t> &outputBytes);

  /// Returns the address of `offset` in a buffer's storage; `usual` if it is on no island.
  uint8_t *address(uint32_t buffer, uint64_t offset, uint8_t *usual) const;

  /// To be called before and after a run. `data` has the address of each input and each output.
  void begin(const std::vector<const void *> &data);
  void end(const std::vector<void *> &data);

  /// To be called before and after an instruction. Leaving fails if it has written next to one of its buffers; `next`
  /// is the following instruction.
  void enter(uint32_t instruction);
  Status leave(uint32_t instruction, uint32_t next);

  /// Describes an address that caused a fault: "16 bytes behind buffer 'x' (arena, 64 bytes)". Returns false if it is
  /// on no island.
  bool describe(const void *address, char *text, size_t capacity) const;

private:
  struct Island {
    uint32_t buffer = 0;          // one that lies on it, for its name
    uint64_t begin = 0, size = 0; // in its storage
    uint64_t alignment = 1;
    uint8_t *pages = nullptr, *data = nullptr;
    uint64_t pageBytes = 0;
    LiveRange range;
    bool isOpen = false;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  Status findIslands(const BoundSizes &sizes);
  void addWhole(const std::vector<uint64_t> &bytes, Storage storage);
  Status map();
  void unmap();
  void open(Island &island);
  void close(Island &island);
  const uint8_t *damageOf(const Island &island) const;

  const Plan &plan;
  std::vector<Island> islands;
  std::vector<uint32_t> islandOf;                           // by buffer; kNone: it lies where it always does
  uint32_t firstInput = 0, firstOutput = 0, lastOutput = 0; // among the islands
  std::vector<uint32_t> openIslands;                        // those of the arena
  uint8_t *memory = nullptr;
  uint64_t memoryBytes = 0;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_DEBUGARENA_H
