//===- machine.cpp - the limits of this machine ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures what the speed of models is compared with: f32 multiply-adds a second with all operands in registers,
// and bytes a second that are read from memory, on one thread and on several. Prints one line of JSON.
//
// The best of many short samples counts, because other work on the machine only makes them slower.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <vector>

static constexpr long kRounds = 2'000'000;
static constexpr int kSamples = 20;
static constexpr size_t kBytes = size_t(512) << 20;
static constexpr int kPasses = 16;

//--- Multiply-adds --------------------------------------------------------------

/// Independent sums enough to hide the latency of two units, few enough for 16 registers.
static constexpr int kSums = 12;

/// Inlined into functions for various instruction sets. The factors come from memory, so that nothing is folded.
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

//--- Reading --------------------------------------------------------------------

/// Memory in pages as large as the system has them.
static char *makeMemory(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "error: no %zu bytes of memory to read from\n", bytes);
    exit(4);
  }
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::fill_n(static_cast<char *>(memory), bytes, char(1));
  return static_cast<char *>(memory);
}

static uint64_t readAll(const char *begin, size_t bytes) {
  using Vector = uint64_t __attribute__((vector_size(64)));
  Vector sums[4] = {};
  for (size_t at = 0; at + sizeof sums <= bytes; at += sizeof sums)
    for (size_t i = 0; i < 4; ++i)
      sums[i] ^= reinterpret_cast<const Vector *>(begin + at)[i];
  Vector sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  return sum[0] ^ sum[3] ^ sum[7];
}

//--- Time -----------------------------------------------------------------------

static double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The shortest time in which all threads have done `work(thread)` once.
static double shortest(int threads, int samples, const std::function<void(int)> &work) {
  std::barrier together(threads);
  double best = 1e30;
  auto body = [&](int thread) {
    for (int sample = 0; sample < samples; ++sample) {
      together.arrive_and_wait();
      double begin = seconds();
      work(thread);
      together.arrive_and_wait();
      if (thread == 0)
        best = std::min(best, seconds() - begin);
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back(body, thread);
  body(0);
  for (std::thread &other : others)
    other.join();
  return best;
}

/// Makes the compiler believe that somebody looks at `value`.
template <class Value> static void keep(const Value &value) { asm volatile("" : : "m"(value)); }

static void printLimits(int threads, const Kernel &kernel, const char *memory) {
  static const volatile float factors[] = {0.999f, 0.001f};
  double compute = shortest(threads, kSamples, [&](int) { keep(kernel.run(factors)); });
  size_t part = kBytes / size_t(threads) & ~size_t(255);
  double read = shortest(threads, kPasses, [&](int thread) { keep(readAll(memory + part * size_t(thread), part)); });
  double flop = 2.0 * kSums * kernel.lanes * double(kRounds) * threads;
  printf("{\"threads\":%d,\"gflops\":%.1f,\"read_gb_s\":%.1f}", threads, flop / compute / 1e9,
         double(part) * threads / read / 1e9);
}

int main(int count, char **arguments) {
  int most = int(std::thread::hardware_concurrency());
  if (count == 2)
    most = atoi(arguments[1]);
  if (count > 2 || most < 1) {
    fprintf(stderr, "usage: machine-limits [THREADS]\n");
    return 2;
  }
  Kernel kernel = chooseKernel();
  char *memory = makeMemory(kBytes);
  printf("{\"instructions\":\"%s\",\"limits\":[", kernel.name);
  printLimits(1, kernel, memory);
  if (most > 1) {
    printf(",");
    printLimits(most, kernel, memory);
  }
  printf("]}\n");
  return 0;
}
