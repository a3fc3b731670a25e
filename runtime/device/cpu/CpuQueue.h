//===- CpuQueue.h - commands, run by the threads of a pool ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_CPUQUEUE_H
#define TENON_RUNTIME_DEVICE_CPU_CPUQUEUE_H

#include "runtime/base/Memory.h"
#include "runtime/device/Device.h"
#include "runtime/device/cpu/ThreadPool.h"

#include <atomic>
#include <memory>
#include <vector>

namespace tenon::rt {

/// Collects commands, and executes them in wait() as one list of jobs, which all threads traverse independently.
class CpuQueue final : public DeviceQueue {
public:
  explicit CpuQueue(uint32_t commands);

  /// As ThreadPool::start.
  Status start(uint32_t threads, const CpuNodes &nodes) { return pool.start(threads, nodes); }

  uint32_t workers() const override { return pool.size(); }
  Status reserveScratch(uint64_t bytesOfWorker) override;
  void submit(const Command &command) override;
  CommandFailure wait() override;
  void drop() override { numWaiting = 0; }
  void setBackward(bool value) override { isBackward = value; }
  Status read(void *host, const void *address, uint64_t bytes) override;
  Status write(void *address, const void *host, uint64_t bytes) override;
  bool runOnHost(uint64_t count, bool (*work)(const void *context, uint64_t index), const void *context) override;
  void setProfile(tenon_profile_fn callback, void *user) override;
  bool setTimed(bool value) override;
  uint64_t takeTime(uint32_t number) override;

private:
  /// For timed runs: the time that threads have spent on a command, and the number of its executions.
  struct Spent {
    std::atomic<uint64_t> nanoseconds{0};
    uint32_t times = 0;
  };

  static int32_t runLaunch(const Job &job, uint32_t thread, Share &share);
  static int32_t runCopyOrFill(const Job &job, uint32_t thread, Share &share);
  int64_t beginTime() const;
  void endTime(uint32_t number, uint32_t thread, int64_t time, int64_t begin, int64_t end) const;

  ThreadPool pool;
  Memory scratch;
  uint64_t scratchStride = 0;    // bytes from one thread's scratch to the next one's
  std::vector<Command> commands; // by number; most are what they were in the run before
  std::vector<Job> jobs;         // likewise
  uint32_t end = 0;              // of the numbers that wait to be run
  uint32_t numWaiting = 0;       // commands that wait to be run
  bool isBackward = false, isTimed = false;
  std::unique_ptr<Spent[]> spent; // by number; null where there is no memory for it
  tenon_profile_fn profile = nullptr;
  void *profileUser = nullptr;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_CPUQUEUE_H
