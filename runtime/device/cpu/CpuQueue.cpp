//===- CpuQueue.cpp - commands, run by the threads of a pool -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuQueue.h"

#include "runtime/base/Clock.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace tenon::rt {

CpuQueue::CpuQueue(uint32_t count) : commands(count), jobs(count), spent(new (std::nothrow) Spent[count]) {}

Status CpuQueue::reserveScratch(uint64_t bytesOfWorker) {
  // The session has checked that the product does not overflow.
  TENON_TRY(scratch.reserve(bytesOfWorker * pool.size(), false, "scratch"));
  scratchStride = bytesOfWorker;
  return {};
}

int64_t CpuQueue::beginTime() const { return profile || isTimed ? now() : 0; }

void CpuQueue::endTime(uint32_t number, uint32_t thread, int64_t time, int64_t begin, int64_t last) const {
  if (isTimed)
    spent[number].nanoseconds.fetch_add(uint64_t(now() - time), std::memory_order_relaxed);
  if (!profile)
    return;
  tenon_profile_event event{number, thread, time, now(), begin, last};
  profile(profileUser, &event);
}

int32_t CpuQueue::runLaunch(const Job &job, uint32_t thread, Share &share) {
  const CpuQueue &queue = *static_cast<const CpuQueue *>(job.owner);
  const Command &command = queue.commands[job.number];
  auto kernel = reinterpret_cast<tenon_kernel_fn>(const_cast<void *>(command.kernel));
  void *scratch = queue.scratch.bytes() + thread * queue.scratchStride;
  int64_t time = queue.beginTime(), begin, end, lastEnd = -1;
  int32_t result = 0;
  for (; !result && share.next(begin, end); lastEnd = end)
    result = kernel(command.buffers, command.sizes, begin, end, scratch, lastEnd);
  queue.endTime(job.number, thread, time, share.ownBegin(), share.ownEnd());
  return result;
}

/// A copy or a fill is split into blocks, so that threads share a large one.
static constexpr uint64_t kBlockBytes = 256u << 10;

int32_t CpuQueue::runCopyOrFill(const Job &job, uint32_t thread, Share &share) {
  const CpuQueue &queue = *static_cast<const CpuQueue *>(job.owner);
  const Command &command = queue.commands[job.number];
  void *const *buffer = command.buffers;
  int64_t time = queue.beginTime(), begin, end;
  while (share.next(begin, end)) {
    uint64_t first = uint64_t(begin) * kBlockBytes, last = std::min(uint64_t(end) * kBlockBytes, command.count);
    if (command.kind == Command::Kind::copy)
      memmove(static_cast<uint8_t *>(buffer[1]) + first, static_cast<const uint8_t *>(buffer[0]) + first, last - first);
    else
      memset(static_cast<uint8_t *>(buffer[0]) + first, command.value, last - first);
  }
  queue.endTime(job.number, thread, time, 0, 0);
  return 0;
}

void CpuQueue::submit(const Command &command) {
  uint32_t number = command.number;
  assert(number < commands.size() && "a queue has room for each instruction of each program");
  assert((numWaiting == 0 || number == end) && "commands that wait are one list of jobs");
  bool isLaunch = command.kind == Command::Kind::launch;
  int64_t tiles = int64_t(isLaunch ? command.count : (command.count + kBlockBytes - 1) / kBlockBytes);
  Job job{isLaunch ? runLaunch : runCopyOrFill, this, number, command.isConcurrent, tiles, command.nanoseconds};
  if (isTimed)
    ++spent[number].times;
  // An unchanged command is not written again, so that it stays in the caches of other cores.
  if (commands[number] != command)
    commands[number] = command;
  if (jobs[number] != job)
    jobs[number] = job;
  ++numWaiting;
  end = number + 1;
}

CommandFailure CpuQueue::wait() {
  if (!numWaiting)
    return {};
  uint32_t first = end - numWaiting;
  JobFailure failure = pool.run({&jobs[first], numWaiting, isBackward});
  assert((failure.code == TENON_KERNEL_OK || failure.job < numWaiting) &&
         "a job that fails is one of those that waited");
  numWaiting = 0;
  CommandFailure result{failure.code, first + failure.job, {}};
  if (failure.code == TENON_KERNEL_INDEX_OUT_OF_RANGE && scratchStride >= sizeof result.report)
    memcpy(&result.report, scratch.bytes() + failure.thread * scratchStride, sizeof result.report);
  return result;
}

Status CpuQueue::read(void *host, const void *address, uint64_t bytes) {
  memcpy(host, address, bytes);
  return {};
}

Status CpuQueue::write(void *address, const void *host, uint64_t bytes) {
  memcpy(address, host, bytes);
  return {};
}

bool CpuQueue::runOnHost(uint64_t count, bool (*work)(const void *, uint64_t), const void *context) {
  struct Work {
    bool (*work)(const void *, uint64_t);
    const void *context;
    static int32_t run(const Job &job, uint32_t, Share &share) {
      const Work &self = *static_cast<const Work *>(job.owner);
      bool isFine = true;
      for (int64_t begin, end; share.next(begin, end);)
        for (int64_t i = begin; i < end; ++i)
          isFine &= self.work(self.context, uint64_t(i));
      return isFine ? TENON_KERNEL_OK : TENON_KERNEL_FAULT;
    }
  };
  Work all{work, context};
  Job job{Work::run, &all, 0, false, int64_t(count)};
  return pool.run({&job, 1}).code == TENON_KERNEL_OK;
}

void CpuQueue::setProfile(tenon_profile_fn callback, void *user) {
  profile = callback;
  profileUser = user;
}

bool CpuQueue::setTimed(bool value) {
  // With a single thread, nothing is split, so timing has no benefit.
  isTimed = value && spent && pool.size() > 1;
  return isTimed;
}

uint64_t CpuQueue::takeTime(uint32_t number) {
  assert(spent && number < commands.size() && "times are taken where they were measured");
  Spent &entry = spent[number];
  uint32_t times = entry.times;
  uint64_t took = entry.nanoseconds.load(std::memory_order_relaxed);
  entry.times = 0;
  entry.nanoseconds.store(0, std::memory_order_relaxed);
  return times ? std::max<uint64_t>(took / times, 1) : 0;
}

} // namespace tenon::rt
