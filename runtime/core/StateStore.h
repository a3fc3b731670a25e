//===- StateStore.h - what a session keeps from run to run ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_STATESTORE_H
#define TENON_RUNTIME_CORE_STATESTORE_H

#include "runtime/core/Artifact.h"
#include "runtime/device/Device.h"

#include <memory>
#include <vector>

namespace tenon::rt {

/// The states of a model, once for each slot, which belongs to one sequence. Runs use the states of one slot at a time.
/// A slot's memory is allocated at its first run.
class StateStore {
public:
  /// Keeps references to both.
  StateStore(const Artifact &artifact, DeviceQueue &queue) : artifact(artifact), queue(queue) {}

  /// May be called once, before anything else.
  Status start(uint32_t slots);

  /// Returns the bytes of all slots, allocated or not; UINT64_MAX if they overflow.
  uint64_t bytes() const;
  /// Changes whenever rows(), or the memory of the current slot, may have changed.
  uint64_t version() const { return changes; }

  Status use(uint32_t slot);
  /// Fails if a failed run has left the current slot inconsistent.
  Status checkUsable() const;
  /// Gives the slot at hand its memory.
  Status prepare() { return reserve(slots[current]); }
  /// Returns the memory of the current slot, Plan::stateSize bytes; null before prepare().
  uint8_t *address() const { return slots[current].memory->address(); }

  /// Returns the values that the states bind to symbols of `program`: for each state its `live` and its `slot`, 0 if it
  /// has none.
  void rows(const Plan &program, int64_t *values) const;
  /// Marks the current slot as unusable until the run of `program` has succeeded.
  void beginRun() { slots[current].isBroken = !plan().states.empty(); }
  /// Ends a successful run; `exprs` are the values of the program's expressions.
  Status endRun(const Plan &program, const int64_t *exprs);

  /// How many rows of a state are live in a slot.
  Status countRows(uint32_t slot, uint32_t state, int64_t *rows) const;
  Status reset(uint32_t slot);
  /// Copies the live rows of one slot to another.
  Status fork(uint32_t from, uint32_t to);

  // StateFile.cpp: a slot in a file.
  Status save(uint32_t slot, const char *path);
  /// Leaves the slot unchanged if save() has not written the file for this model.
  Status restore(uint32_t slot, const char *path);

private:
  struct Slot {
    std::unique_ptr<DeviceMemory> memory;
    std::vector<int64_t> counts; // of each state: rows that were written, as far as they matter (see liveRows)
    bool isBroken = false;
  };

  /// That of any program: they have the same states.
  const Plan &plan() const { return artifact.plan(); }
  Status checkSlot(uint32_t slot) const;
  Status reserve(Slot &slot);
  Status clear(Slot &slot);
  Status writeInitial(Slot &slot);
  Status checkInitial(const State &state) const;
  Status copy(uint8_t *to, const uint8_t *from, uint64_t bytes);
  int64_t liveRows(const State &state, int64_t count) const;
  uint64_t liveBytes(const State &state, int64_t count) const;
  uint64_t layoutHash() const;
  Status checkFile(const char *path, const uint8_t *bytes, uint64_t size, std::vector<int64_t> &counts) const;

  const Artifact &artifact;
  DeviceQueue &queue;
  std::vector<Slot> slots;
  uint32_t current = 0;
  uint64_t changes = 0;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_STATESTORE_H
