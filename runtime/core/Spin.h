//===- Spin.h - waiting for another thread -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_CORE_SPIN_H
#define TENON_CORE_SPIN_H

#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tenon::rt {

/// How long a thread spins before it sleeps. Waking one takes 5 to 50 microseconds; spinning longer than
/// that takes the CPU from others for little.
inline constexpr int64_t kSpinNanoseconds = 50'000;

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

inline int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Spins until `done()`, or for as long as that pays. Returns whether it is done.
template <typename Condition> bool spin(Condition done) {
  int64_t end = 0;
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      pause();
    }
    int64_t time = now();
    if (end == 0)
      end = time + kSpinNanoseconds;
    else if (time > end)
      return false;
  }
}

} // namespace tenon::rt

#endif // TENON_CORE_SPIN_H
