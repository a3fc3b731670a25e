//===- MachineLimits.cpp - the limits of this machine ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/limits/MachineLimits.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <vector>

namespace tenon {

static constexpr long kRounds = 2'000'000;

//===----------------------------------------------------------------------===//
// Multiply-adds
//===----------------------------------------------------------------------===//

/// Enough independent sums to hide the latency of two units, and few enough for 16 registers.
static constexpr int kSums = 12;

/// Inlined into functions for several instruction sets. The factors are read from memory, so that nothing is folded.
template <class Vector> [[gnu::always_inline]] static inline float multiplyAdds(const volatile float *factors) {
  Vector factor = Vector{} + factors[0], addend = Vector{} + factors[1];
  Vector sums[kSums];
  for (int i = 0; i < kSums; ++i)
    sums[i] = Vector{} + float(i);
  for (long round = 0; round < kRounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i)
      sums[i] = sums[i] * factor + addend;
  for (int i = 1; i < kSums; ++i)
    sums[0] += sums[i];
  return sums[0][0];
}

using Vector128 = float __attribute__((vector_size(16)));
static float multiplyAdds128(const volatile float *factors) { return multiplyAdds<Vector128>(factors); }

#ifdef __x86_64__
using Vector256 = float __attribute__((vector_size(32)));
using Vector512 = float __attribute__((vector_size(64)));
__attribute__((target("avx2,fma"))) static float multiplyAdds256(const volatile float *factors) {
  return multiplyAdds<Vector256>(factors);
}
__attribute__((target("avx512f"))) static float multiplyAdds512(const volatile float *factors) {
  return multiplyAdds<Vector512>(factors);
}
#endif

namespace {
struct Kernel {
  const char *name;
  int lanes;
  float (*run)(const volatile float *factors);
};
} // namespace

static Kernel chooseKernel() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return {"avx512f", 16, multiplyAdds512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"avx2", 8, multiplyAdds256};
#endif
  return {"baseline", 4, multiplyAdds128};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static uint64_t readAll(const char *begin, size_t bytes) {
  using Vector = uint64_t __attribute__((vector_size(64)));
  Vector sums[4] = {};
  for (size_t at = 0; at + sizeof sums <= bytes; at += sizeof sums)
    for (size_t i = 0; i < 4; ++i)
      sums[i] ^= reinterpret_cast<const Vector *>(begin + at)[i];
  Vector sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  return sum[0] ^ sum[3] ^ sum[7];
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

/// Prevents the compiler from eliminating `value`.
template <class Value> static void keep(const Value &value) { asm volatile("" : : "m"(value)); }

namespace {
/// Memory in pages as large as the system has them.
class Pages {
public:
  explicit Pages(size_t size)
      : size(size), memory(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (!isValid())
      return;
    madvise(memory, size, MADV_HUGEPAGE);
    memset(memory, 1, size);
  }
  Pages(const Pages &) = delete;
  ~Pages() {
    if (isValid())
      munmap(memory, size);
  }
  bool isValid() const { return memory != MAP_FAILED; }
  const char *bytes() const { return static_cast<const char *>(memory); }

private:
  size_t size;
  void *memory;
};

/// Work that threads repeat in parallel; the shortest time counts.
struct Contest {
  unsigned threads;
  int samples;
  void (*work)(const Contest &contest, unsigned thread);
  Kernel kernel;
  const char *memory;
  size_t share; ///< bytes of a thread
  pthread_barrier_t together{};
  double best = 1e30;
  /// 0 until all threads have been started; negative if one cannot be started.
  std::atomic<int> gate{0};
};

struct Contestant {
  Contest *contest;
  unsigned thread;
};
} // namespace

static void *compete(void *argument) {
  auto [contest, thread] = *static_cast<Contestant *>(argument);
  while (contest->gate == 0)
    sched_yield();
  if (contest->gate < 0)
    return nullptr;
  for (int sample = 0; sample < contest->samples; ++sample) {
    pthread_barrier_wait(&contest->together);
    double begin = now();
    contest->work(*contest, thread);
    pthread_barrier_wait(&contest->together);
    if (thread == 0)
      contest->best = std::min(contest->best, now() - begin);
  }
  return nullptr;
}

/// Returns the shortest time in which all threads have done the work once; 0 if a thread cannot be started.
static double runContest(Contest &contest) {
  std::vector<Contestant> contestants;
  for (unsigned thread = 0; thread < contest.threads; ++thread)
    contestants.push_back({&contest, thread});
  std::vector<pthread_t> others(contest.threads);
  if (pthread_barrier_init(&contest.together, nullptr, contest.threads) != 0)
    return 0;
  unsigned started = 1;
  while (started < contest.threads && pthread_create(&others[started], nullptr, compete, &contestants[started]) == 0)
    ++started;
  contest.gate = started == contest.threads ? 1 : -1;
  compete(&contestants[0]);
  for (unsigned thread = 1; thread < started; ++thread)
    pthread_join(others[thread], nullptr);
  pthread_barrier_destroy(&contest.together);
  return contest.gate > 0 ? contest.best : 0;
}

bool measureMachineLimits(unsigned threads, const MeasuringEffort &effort, MachineLimits *limits) {
  Pages pages(effort.readBytes);
  if (!pages.isValid())
    return false;
  auto compute = [](const Contest &contest, unsigned) {
    static const volatile float factors[] = {0.999f, 0.001f};
    keep(contest.kernel.run(factors));
  };
  auto read = [](const Contest &contest, unsigned thread) {
    keep(readAll(contest.memory + contest.share * thread, contest.share));
  };
  Kernel kernel = chooseKernel();
  size_t share = effort.readBytes / threads & ~size_t(255);
  Contest computing{threads, effort.computeSamples, compute, kernel, nullptr, 0};
  Contest reading{threads, effort.readSamples, read, kernel, pages.bytes(), share};
  double computeTime = runContest(computing), readTime = runContest(reading);
  if (computeTime <= 0 || readTime <= 0)
    return false;
  limits->instructions = kernel.name;
  limits->flopsPerSecond = 2.0 * kSums * kernel.lanes * double(kRounds) * threads / computeTime;
  limits->readBytesPerSecond = double(share) * threads / readTime;
  return true;
}

} // namespace tenon
