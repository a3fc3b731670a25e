//===- WeightPager.cpp - runs with less memory than weights -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/WeightPager.h"

#include "runtime/base/Clock.h"
#include "runtime/base/FreeMemory.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>

namespace tenon::rt {

// policy: blocks that a thread reads at once.
static constexpr uint64_t kPiece = 4;
// policy: the fraction of the window that is held at a time, so that the rest can be read meanwhile.
static constexpr uint64_t kTakenPart = 4;
// policy: the number of runs after which a new plan is made. The first run's times are those of a cold start.
static constexpr uint32_t kPlannedRuns = 2;

namespace {
class Guard {
public:
  explicit Guard(pthread_mutex_t &mutex) : mutex(mutex) { pthread_mutex_lock(&mutex); }
  ~Guard() { pthread_mutex_unlock(&mutex); }
  Guard(const Guard &) = delete;

private:
  pthread_mutex_t &mutex;
};
} // namespace

WeightPager::~WeightPager() {
  {
    Guard guard(lock);
    isStopping = true;
    pthread_cond_broadcast(&forReaders);
  }
  for (std::unique_ptr<Reader> &reader : readers)
    reader.reset();
  if (!artifact)
    return;
  for (uint64_t block = 0; block < states.size(); ++block)
    if (states[block] != State::absent)
      drop(block);
  flushDrops();
}

Status WeightPager::start(const Artifact &from, uint64_t bytes) {
  const WeightRegion &region = from.weightRegion();
  if (!region.isMapped())
    return from.weightBytes()
               ? Status::make(TENON_MISUSE, "a weight budget is for artifacts in files, which weights are read from")
               : Status();
  if (from.weightCheck().isWanted() && !from.weightCheck().isByBlocks())
    return Status::make(TENON_UNSUPPORTED,
                        "a weight budget needs a hash for each block of the weights, which artifacts "
                        "of this version do not have; compile the model again");
  budget = bytes / kWeightBlock;
  uint64_t largest = 0, instructions = 0;
  for (const Program &program : from.programs()) {
    ProgramUses &own = programs.emplace_back();
    own.uses = listWeightUses(program.plan, from.weightBytes());
    own.plan = makeFirstPagingPlan(own.uses, budget);
    own.times.compute.resize(program.plan.instructions.size());
    largest = std::max(largest, own.uses.largest());
    instructions = std::max<uint64_t>(instructions, program.plan.instructions.size());
  }
  if (largest > budget)
    return Status::make(TENON_RESOURCES,
                        "the weight budget is %" PRIu64 " bytes, and one launch reads %" PRIu64
                        " bytes of weights: that is the smallest possible budget",
                        bytes, largest * kWeightBlock);
  states.resize(countBlocks(from.weightBytes()), State::absent);
  holds.resize(states.size());
  ring.resize(instructions + 1);
  artifact = &from;
  // If the page cache cannot hold the dropped weights, they are evicted from it explicitly, which is faster than
  // reclaim by the kernel.
  forgets = freeMemory() < from.weightBytes();
  if (forgets)
    region.expectRandom();
  // Verification at load time maps more pages than it has accessed.
  region.release({0, states.size()}, forgets);
  for (std::unique_ptr<Reader> &reader : readers) {
    reader.reset(new Reader{this, {}, {}});
    if (forgets)
      TENON_TRY(reader->scratch.reserve(WeightRegion::kScratch, false, "reading weights"));
    auto run = [](void *self) -> void * {
      auto *own = static_cast<Reader *>(self);
      own->pager->readBlocks(own->scratch.bytes());
      return nullptr;
    };
    if (!reader->thread.start(run, reader.get()))
      return Status::make(TENON_RESOURCES, "a thread that reads weights cannot be started");
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Drops a block once it is known that its successor is not dropped as well.
void WeightPager::drop(uint64_t block) {
  assert(states[block] != State::absent && resident.load() > 0 && "a block that is dropped is in memory");
  states[block] = State::absent;
  --resident;
  if (dropped.end != block) {
    flushDrops();
    dropped.begin = block;
  }
  dropped.end = block + 1;
}

void WeightPager::flushDrops() {
  if (dropped.count())
    artifact->weightRegion().release(dropped, forgets);
  dropped = {0, 0};
}

/// An instruction of the order releases its blocks; at the cursor, only those that were claimed.
void WeightPager::letGo(uint32_t instruction, const Cursor *upTo) {
  const ProgramUses &own = programs[active];
  const IndexRange &of = own.uses.of[instruction];
  for (uint32_t k = 0; k < of.count && (!upTo || k <= upTo->range); ++k) {
    const BlockRange &range = own.uses.ranges[of.begin + k];
    uint64_t end = upTo && k == upTo->range ? range.begin + upTo->block : range.end;
    for (uint64_t block = range.begin; block < end; ++block) {
      assert(holds[block] > 0 && "an instruction lets go of blocks that it holds");
      // What a thread is just reading is dropped when it is there.
      if (--holds[block] == 0 && states[block] != State::loading && !own.plan.pinned[block])
        drop(block);
    }
  }
}

/// Clears the predicted order; held blocks remain.
void WeightPager::forgetOrder() {
  for (uint64_t i = taken; i < tail; ++i)
    letGo(ring[i % ring.size()], nullptr);
  tail = taken;
  if (cursor.instruction != WeightUses::kNone)
    letGo(cursor.instruction, &cursor);
  cursor = {};
  flushDrops();
}

void WeightPager::beginOrder(uint32_t instruction) {
  forgetOrder();
  cursor.instruction = programs[active].uses.findNext(planOf(active), instruction);
  wakeReaders();
}

void WeightPager::dropUnpinned() {
  for (uint64_t block = 0; block < states.size(); ++block)
    if ((states[block] == State::present || states[block] == State::failed) && !holds[block] &&
        !programs[active].plan.pinned[block])
      drop(block);
  flushDrops();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Advances the cursor past resident blocks to one that must be read. Returns true if there is one.
bool WeightPager::advance() {
  const ProgramUses &own = programs[active];
  while (cursor.instruction != WeightUses::kNone) {
    const IndexRange &of = own.uses.of[cursor.instruction];
    if (cursor.range == of.count) {
      if (tail - head == ring.size())
        return false;
      ring[tail++ % ring.size()] = cursor.instruction;
      cursor = {own.uses.findNext(planOf(active), own.uses.follow(planOf(active), cursor.instruction)), 0, 0};
      continue;
    }
    uint64_t block = atCursor();
    if (states[block] == State::absent)
      return true;
    passBlock(block);
  }
  return false;
}

/// Adds this block to the holds of the instruction at the cursor, and of those for which it is read.
void WeightPager::passBlock(uint64_t block) {
  const IndexRange &of = programs[active].uses.of[cursor.instruction];
  ++holds[block];
  if (++cursor.block == programs[active].uses.ranges[of.begin + cursor.range].count())
    cursor = {cursor.instruction, cursor.range + 1, 0};
}

uint64_t WeightPager::atCursor() const {
  assert(cursor.instruction != WeightUses::kNone && "the cursor is at a block of an instruction");
  const WeightUses &uses = programs[active].uses;
  return uses.ranges[uses.of[cursor.instruction].begin + cursor.range].begin + cursor.block;
}

/// Returns the next blocks to read, and marks them as being read; none if there is nothing to do, or no room.
BlockRange WeightPager::claim() {
  BlockRange piece{0, 0};
  if (!advance())
    return piece;
  uint32_t instruction = cursor.instruction, range = cursor.range;
  piece.begin = piece.end = atCursor();
  while (cursor.instruction == instruction && cursor.range == range && piece.count() < kPiece &&
         states[piece.end] == State::absent && resident.load() < budget) {
    states[piece.end] = State::loading;
    passBlock(piece.end++);
    most.store(std::max(most.load(), ++resident));
  }
  return piece;
}

/// Wakes a reader where there is something to read.
void WeightPager::wakeReaders() {
  if (advance() && resident.load() < budget)
    pthread_cond_broadcast(&forReaders);
}

void WeightPager::readBlocks(void *scratch) {
  const WeightRegion &region = artifact->weightRegion();
  const WeightCheck &check = artifact->weightCheck();
  pthread_mutex_lock(&lock);
  while (!isStopping) {
    BlockRange piece = claim();
    if (!piece.count()) {
      pthread_cond_wait(&forReaders, &lock);
      continue;
    }
    pthread_mutex_unlock(&lock);
    int64_t begin = now();
    Status status = region.loadAlone(piece, scratch);
    int64_t end = now();
    bool isRight[kPiece];
    for (uint64_t block = piece.begin; block < piece.end; ++block)
      isRight[block - piece.begin] = !status.failed() && (!check.isWanted() || check.check(block));
    blocksRead += piece.count();
    nanosecondsRead += uint64_t(end - begin);
    pthread_mutex_lock(&lock);
    for (uint64_t block = piece.begin; block < piece.end; ++block) {
      assert(states[block] == State::loading && "a block is read by the thread that has claimed it");
      states[block] = isRight[block - piece.begin] ? State::present : State::failed;
      if (!holds[block] && !programs[active].plan.pinned[block])
        drop(block);
    }
    flushDrops();
    pthread_cond_signal(&forSession);
  }
  pthread_mutex_unlock(&lock);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

void WeightPager::beginRun(uint32_t program) {
  if (!artifact)
    return;
  Guard guard(lock);
  if (program != active) {
    forgetOrder();
    active = program;
    dropUnpinned();
  }
  if (tail == taken && cursor.instruction == WeightUses::kNone)
    beginOrder(0);
}

bool WeightPager::areAll(uint32_t instruction, State one, State other) const {
  assert(instruction < programs[active].uses.of.size() && "an instruction is one of the active program");
  const WeightUses &uses = programs[active].uses;
  for (uint32_t k = 0; k < uses.of[instruction].count; ++k) {
    const BlockRange &range = uses.ranges[uses.of[instruction].begin + k];
    for (uint64_t block = range.begin; block < range.end; ++block)
      if (states[block] != one && states[block] != other)
        return false;
  }
  return true;
}

uint64_t WeightPager::countUnpinned(uint32_t instruction) const {
  const ProgramUses &own = programs[active];
  uint64_t count = 0;
  for (uint32_t k = 0; k < own.uses.of[instruction].count; ++k) {
    const BlockRange &range = own.uses.ranges[own.uses.of[instruction].begin + k];
    for (uint64_t block = range.begin; block < range.end; ++block)
      count += !own.plan.pinned[block];
  }
  return count;
}

void WeightPager::takeNext(uint32_t instruction) {
  assert(isNext(instruction) && "instructions are taken in the order that is foreseen");
  ++taken;
  takenBlocks += countUnpinned(instruction);
}

bool WeightPager::tryTake(uint32_t instruction) {
  if (!artifact || !programs[active].uses.has(instruction))
    return true;
  Guard guard(lock);
  uint64_t more = countUnpinned(instruction), room = programs[active].plan.window / kTakenPart;
  bool fits = !takenBlocks || !more || takenBlocks + more <= room;
  if (!isNext(instruction))
    wakeReaders();
  if (!fits || !isNext(instruction) || !areAll(instruction, State::present, State::present))
    return false;
  takeNext(instruction);
  return true;
}

Status WeightPager::take(uint32_t instruction, const char *node) {
  Guard guard(lock);
  if (!isNext(instruction) && (tail != taken || cursor.instruction != instruction))
    beginOrder(instruction);
  wakeReaders();
  while (!isNext(instruction) || !areAll(instruction, State::present, State::failed)) {
    pthread_cond_wait(&forSession, &lock);
    (void)advance();
  }
  if (!areAll(instruction, State::present, State::present))
    return explainFailure(instruction, node);
  takeNext(instruction);
  return {};
}

/// Describes why a block of an instruction could not be read. The read is retried the next time.
Status WeightPager::explainFailure(uint32_t instruction, const char *node) {
  const WeightUses &uses = programs[active].uses;
  const WeightCheck &check = artifact->weightCheck();
  Status status = Status::make(TENON_INVALID, "its weights could not be read for node '%s'; run it again", node);
  bool isFound = false;
  for (uint32_t k = 0; k < uses.of[instruction].count; ++k) {
    const BlockRange &range = uses.ranges[uses.of[instruction].begin + k];
    for (uint64_t block = range.begin; block < range.end && !isFound; ++block) {
      if (states[block] != State::failed)
        continue;
      Status read = artifact->weightRegion().load({block, block + 1});
      isFound = read.failed() || (check.isWanted() && !check.check(block));
      if (isFound)
        status = read.failed() ? std::move(read) : check.mismatch(block, node);
    }
  }
  // The blocks are dropped, so that the next run reads them again.
  forgetOrder();
  return status;
}

void WeightPager::giveBack(int64_t nanoseconds) {
  if (!artifact)
    return;
  Guard guard(lock);
  assert(head <= taken && taken <= tail && tail - head <= ring.size() && "what is taken is a part of what is foreseen");
  unassigned += nanoseconds;
  if (head == taken)
    return;
  ProgramUses &own = programs[active];
  uint64_t blocks = 0;
  for (uint64_t i = head; i < taken; ++i)
    blocks += own.uses.count(ring[i % ring.size()]);
  for (; head < taken; ++head) {
    uint32_t instruction = ring[head % ring.size()];
    own.times.compute[instruction] =
        double(unassigned) * 1e-9 * double(own.uses.count(instruction)) / double(std::max<uint64_t>(blocks, 1));
    letGo(instruction, nullptr);
  }
  unassigned = 0;
  takenBlocks = 0;
  flushDrops();
  wakeReaders();
}

void WeightPager::endRun() {
  if (!artifact)
    return;
  Guard guard(lock);
  ProgramUses &own = programs[active];
  if (own.runs == kPlannedRuns)
    return;
  ++own.runs;
  if (uint64_t count = blocksRead.load())
    own.times.readBlock = double(nanosecondsRead.load()) * 1e-9 / double(count) / kReaders;
  own.plan = makePagingPlan(own.uses, budget, own.times);
  dropUnpinned();
  wakeReaders();
}

} // namespace tenon::rt
