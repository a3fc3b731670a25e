//===- LaunchClock.h - what launches take in a session --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_LAUNCHCLOCK_H
#define TENON_COMPILER_DRIVER_LAUNCHCLOCK_H

#include "tenon/runtime.h"
#include <map>
#include <vector>

namespace tenon {

/// Times the launches of a session from its construction on.
class LaunchClock {
public:
  explicit LaunchClock(tenon_session *session);
  LaunchClock(const LaunchClock &) = delete;
  LaunchClock &operator=(const LaunchClock &) = delete;

  /// Forgets the runs so far.
  void reset();
  /// Returns the nanoseconds of each instruction that ran, from its first thread's begin to its last thread's end.
  std::map<uint32_t, double> list() const;

private:
  std::vector<std::vector<tenon_profile_event>> events; ///< for each thread: they record without a lock
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_LAUNCHCLOCK_H
