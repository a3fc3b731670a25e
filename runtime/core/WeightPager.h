//===- WeightPager.h - runs with less memory than weights ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of weights that a session has in memory are never more than a budget.
// Its instructions take the blocks that they read and give them back once they are
// done; threads read those of the instructions to come, in the order in which they
// are likely to come, as far as the budget has room. What is given back is dropped,
// unless the plan (PagingPlan.h) says that it stays. Nothing depends on all this but
// time: a block that is not there is read when a kernel touches it.
//
// An instruction that the order did not foresee, after a loop or a branch, begins
// the order anew.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_WEIGHTPAGER_H
#define TENON_RUNTIME_CORE_WEIGHTPAGER_H

#include "runtime/base/Memory.h"
#include "runtime/base/Thread.h"
#include "runtime/core/Artifact.h"
#include "runtime/plan/PagingPlan.h"

#include <atomic>
#include <memory>
#include <vector>

namespace tenon::rt {

/// Pages the weights of one session. Except for the pager's own threads, only the session's thread calls it.
class WeightPager {
public:
  WeightPager() = default;
  WeightPager(WeightPager &&) = delete;
  ~WeightPager();

  /// Fails if the budget, in bytes, is smaller than what a single instruction reads. May be called once.
  Status start(const Artifact &artifact, uint64_t budget);

  /// A run of a program begins.
  void beginRun(uint32_t program);
  /// Acquires the blocks of an instruction if all of them are resident, and few others are held. Otherwise the held
  /// blocks must be used and released first.
  bool tryTake(uint32_t instruction);
  /// Acquires the blocks and waits for them; no others may be held. `node` is for messages.
  Status take(uint32_t instruction, const char *node);
  /// Releases all held blocks; their instructions have run for `nanoseconds`.
  void giveBack(int64_t nanoseconds);
  /// A run has ended well.
  void endRun();

  /// Returns the number of blocks that are resident or being read, and its maximum.
  uint64_t numResident() const { return resident.load(std::memory_order_relaxed); }
  uint64_t mostResident() const { return most.load(std::memory_order_relaxed); }

private:
  enum class State : uint8_t { absent, loading, present, failed };
  struct ProgramUses {
    WeightUses uses;
    PagingPlan plan;
    PagingTimes times;
    uint32_t runs = 0;
  };
  /// Where readers go on.
  struct Cursor {
    uint32_t instruction = WeightUses::kNone;
    uint32_t range = 0; // of it
    uint64_t block = 0; // of the range, from its beginning
  };
  struct Reader {
    WeightPager *pager;
    Memory scratch;
    Thread thread; // ends before the scratch memory does
  };

  // All below wants the lock.
  const Plan &planOf(uint32_t program) const { return artifact->programs()[program].plan; }
  bool advance();
  uint64_t atCursor() const;
  void passBlock(uint64_t block);
  BlockRange claim();
  void wakeReaders();
  bool isNext(uint32_t instruction) const { return taken < tail && ring[taken % ring.size()] == instruction; }
  /// True if all blocks of an instruction are in one of two states.
  bool areAll(uint32_t instruction, State one, State other) const;
  void takeNext(uint32_t instruction);
  uint64_t countUnpinned(uint32_t instruction) const;
  void letGo(uint32_t instruction, const Cursor *upTo);
  void drop(uint64_t block);
  void flushDrops();
  void forgetOrder();
  void beginOrder(uint32_t instruction);
  void dropUnpinned();

  void readBlocks(void *scratch);
  Status explainFailure(uint32_t instruction, const char *node);

  const Artifact *artifact = nullptr;
  uint64_t budget = 0; // blocks
  bool forgets = false;
  std::vector<ProgramUses> programs;
  uint32_t active = 0;

  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t forReaders = PTHREAD_COND_INITIALIZER, forSession = PTHREAD_COND_INITIALIZER;
  std::vector<State> states;   // of each block
  std::vector<uint16_t> holds; // how many instructions in the order want each block
  std::atomic<uint64_t> resident{0}, most{0};

  /// Instructions in the predicted order: those whose blocks are held, then those whose blocks are all claimed, then
  /// the one at the cursor.
  std::vector<uint32_t> ring;
  uint64_t head = 0, taken = 0, tail = 0; // counted on; an index is their remainder
  uint64_t takenBlocks = 0;               // that are not pinned
  Cursor cursor;
  BlockRange dropped{0, 0}; // still to be released

  int64_t unassigned = 0; // nanoseconds that instructions without weights have taken
  std::atomic<uint64_t> blocksRead{0}, nanosecondsRead{0};
  bool isStopping = false;
  static constexpr int kReaders = 2; // policy: one reads while the other hashes
  std::unique_ptr<Reader> readers[kReaders];
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_WEIGHTPAGER_H
