//===- Spin.h - waiting for another thread -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_SPIN_H
#define TENON_RUNTIME_DEVICE_CPU_SPIN_H

#include "runtime/base/Clock.h"

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tenon::rt {

inline void futexWait(const void *address, uint32_t expected) {
  syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

inline void futexWakeAll(const void *address) {
  syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

/// Detects whether other processes compete for our CPUs. A spinning thread that observes a gap in time has been
/// descheduled; this is remembered for a while, during which threads wait without spinning.
class Contention {
public:
  void noteLoss(int64_t time) { until.store(time + kMemory, std::memory_order_relaxed); }
  bool isOn(int64_t time) const { return time < until.load(std::memory_order_relaxed); }

  /// No operation between two clock readings takes this long, unless the thread is descheduled.
  static constexpr int64_t kLoss = 200'000;

private:
  static constexpr int64_t kMemory = 100'000'000;
  std::atomic<int64_t> until{0};
};

/// Nanoseconds for which a thread spins if there is no contention.
constexpr int64_t kSpinTime = 50'000;

/// Spins until `done()`, or as long as it pays off: waking a thread takes 5 to 50 microseconds. Under contention a
/// spinning thread wastes CPU time that it will need later, so it soon stops. Returns true if `done()` holds.
template <typename Condition> bool spin(Condition done, Contention &contention) {
  constexpr int64_t kContended = 4'000;
  constexpr int kYields = 2;
  int64_t begin = 0, last = 0;
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      pause();
    }
    int64_t time = now();
    if (begin == 0)
      begin = last = time;
    if (time - last > Contention::kLoss)
      contention.noteLoss(time);
    last = time;
    bool isContended = contention.isOn(time);
    if (time - begin <= (isContended ? kContended : kSpinTime))
      continue;
    for (int i = 0; isContended && i < kYields; ++i) {
      sched_yield();
      if (done())
        return true;
    }
    return false;
  }
}

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_SPIN_H
