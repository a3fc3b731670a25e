//===- StateStore.h - what a session keeps from run to run ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_STATESTORE_H
#define TENON_RUNTIME_CORE_STATESTORE_H

#include "runtime/base/SharedPages.h"
#include "runtime/core/Artifact.h"
#include "runtime/device/Device.h"

#include <deque>
#include <memory>
#include <vector>

namespace tenon::rt {

/// The states of a model, once for each slot, which belongs to one sequence. A run uses the states of one slot, or of
/// as many as its program has sequences. A slot's memory is allocated at its first run.
class StateStore {
public:
  /// Keeps references to both.
  StateStore(const Artifact &artifact, DeviceQueue &queue) : artifact(artifact), queue(queue) {}

  /// May be called once, before anything else.
  Status start(uint32_t slots);

  /// Returns the bytes of all slots, allocated or not; UINT64_MAX if they overflow.
  uint64_t bytes() const;
  /// Changes whenever rows(), or the memory of the current slots, may have changed.
  uint64_t version() const { return changes; }

  /// Makes these the current slots, one for each sequence of a run. They are distinct, but for TENON_NO_SLOT, whose
  /// sequence has no live rows before the run and none after it.
  Status use(const uint32_t *chosen, uint32_t count);
  /// Returns the number of current slots.
  uint32_t sequences() const { return uint32_t(current.size()); }
  /// Fails if a failed run has left a current slot inconsistent.
  Status checkUsable() const;
  /// Gives the current slots their memory.
  Status prepare();
  /// Returns the memory of a sequence's slot, Plan::stateSize bytes; null before prepare().
  uint8_t *address(uint32_t sequence) const { return current[sequence]->memory->address(); }

  /// Returns the values that the states bind to symbols of `program`, which is for runs of as many sequences as there
  /// are current slots: for each state its `live` and its `slot`, 0 if it has none.
  void rows(const Plan &program, int64_t *values) const;
  /// Returns how many bytes of the current slots' memory a run is going to write for the first time, as far as that is
  /// known before it; `exprs` are the values of the program's expressions, those that are known.
  uint64_t countNew(const Plan &program, const int64_t *exprs, const uint8_t *known) const;
  /// Marks the current slots as unusable until the run has succeeded.
  void beginRun(const Plan &program, const int64_t *exprs, const uint8_t *known);
  /// Ends a successful run; `exprs` are the values of the program's expressions.
  Status endRun(const Plan &program, const int64_t *exprs);

  /// How many rows of a state are live in a slot.
  Status countRows(uint32_t slot, uint32_t state, int64_t *rows) const;
  /// Sets a state of which all rows are live.
  Status set(uint32_t slot, uint32_t state, const tenon_tensor *tensor);
  Status reset(uint32_t slot);

  // StateFork.cpp: slots that share rows.
  /// Makes the live rows of one slot those of another, too. Large states share their pages until one of the two writes
  /// to them, where the device's memory and the system allow it; others are copied. Fails only if memory is lost in
  /// between, which leaves the slots that it belongs to unusable.
  Status fork(uint32_t from, uint32_t to);

  // StateFile.cpp: a slot in a file.
  Status save(uint32_t slot, const char *path);
  /// Leaves the slot unchanged if save() has not written the file for this model.
  Status restore(uint32_t slot, const char *path);

private:
  /// Bytes of a slot's memory that other slots may have, too.
  struct SharedRange {
    std::shared_ptr<const SharedPages> pages;
    uint64_t offset, bytes; // of the pages
  };
  struct Slot {
    std::unique_ptr<DeviceMemory> memory;
    // Of each state: ranges that were mapped, end to end from its first byte on. Some of their pages may have been
    // written since.
    std::vector<std::vector<SharedRange>> shared;
    std::vector<uint64_t> used;  // bytes of each state, from its first one on, that have memory of the system
    std::vector<int64_t> counts; // of each state: rows that were written, as far as they matter (see liveRows)
    bool isBroken = false;
    bool isIdle = false; // it belongs to no sequence of the caller
  };

  /// That of the last program, which is for one sequence; all programs have the same states.
  const Plan &plan() const { return artifact.plan(); }
  Status checkSlot(uint32_t slot) const;
  void start(Slot &slot) const;
  Status reserve(Slot &slot);
  void discard(Slot &slot);
  Status clear(Slot &slot);
  Status writeInitial(Slot &slot);
  Status checkInitial(const State &state) const;
  Status copy(uint8_t *to, const uint8_t *from, uint64_t bytes);
  Status write(uint8_t *to, const void *from, uint64_t bytes);
  int64_t liveRows(const State &state, int64_t count) const;
  uint64_t liveBytes(const State &state, int64_t count) const;
  uint64_t bytesAfter(const State &state, int64_t count, const int64_t *exprs, const uint8_t *known) const;
  struct ForkedState;
  bool isShareable(const State &state, const Slot &slot) const;
  ForkedState findShared(const Slot &slot, uint32_t index) const;
  uint64_t countNew(const Slot &target, const std::vector<ForkedState> &states) const;
  void writeShared(const Slot &slot, std::vector<ForkedState> &states) const;
  Status giveRows(const Slot &source, const ForkedState &rows, uint32_t state, Slot &target);
  Status shareOwn(const ForkedState &rows, uint32_t state, Slot &source);
  Remapping unshare(Slot &slot);
  uint64_t layoutHash() const;
  uint64_t countNew(const Slot &slot, const std::vector<int64_t> &counts) const;
  Status checkFile(const char *path, const uint8_t *bytes, uint64_t size, std::vector<int64_t> &counts) const;

  const Artifact &artifact;
  DeviceQueue &queue;
  std::vector<Slot> slots;
  std::deque<Slot> idle;       // of sequences without a slot, which have memory nevertheless
  std::vector<Slot *> current; // of each sequence of a run
  uint64_t changes = 0;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_STATESTORE_H
