//===- Clock.h - the time ------------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_CLOCK_H
#define TENON_RUNTIME_BASE_CLOCK_H

#include <cstdint>
#include <ctime>

namespace tenon::rt {

/// Nanoseconds of CLOCK_MONOTONIC.
inline int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_CLOCK_H
