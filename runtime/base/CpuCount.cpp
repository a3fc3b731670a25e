//===- CpuCount.cpp - how many threads this process should use -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/CpuCount.h"

#include "runtime/base/Cgroup.h"
#include "runtime/base/SmallFile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <unistd.h>

namespace tenon::rt {

/// Returns the number of CPUs that `quota` microseconds per `period` correspond to.
static uint32_t cpusOf(long long quota, long long period) {
  if (quota <= 0 || period <= 0)
    return UINT32_MAX;
  long long cpus = quota / period + (quota % period != 0);
  return uint32_t(std::clamp<long long>(cpus, 1, kMaxThreads));
}

/// Returns the limit of one group: "MAX PERIOD" in cpu.max for version 2, two files for version 1.
static uint32_t groupLimit(const char *folder, bool versionTwo) {
  char path[1200], text[64];
  long long quota = -1, period = -1;
  if (versionTwo) {
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    readSmall(path, text, sizeof text);
    // "max" is not a number, so both variables are unchanged.
    if (sscanf(text, "%lld %lld", &quota, &period) != 2)
      return UINT32_MAX;
  } else {
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    readSmall(path, text, sizeof text);
    quota = atoll(text);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    readSmall(path, text, sizeof text);
    period = atoll(text);
  }
  return cpusOf(quota, period);
}

uint32_t cgroupCpus(const char *procCgroup, const char *root) {
  uint32_t least = UINT32_MAX;
  forEachCgroup(
      procCgroup, root, "cpu",
      [](void *context, const char *folder, bool isVersionTwo) {
        uint32_t &known = *static_cast<uint32_t *>(context);
        known = std::min(known, groupLimit(folder, isVersionTwo));
      },
      &least);
  return least;
}

uint32_t usableCpus() {
  // The call fails if there are more CPUs than a cpu_set_t holds; then the number of online CPUs is used.
  cpu_set_t mask;
  uint32_t count = sched_getaffinity(0, sizeof mask, &mask) == 0 ? uint32_t(CPU_COUNT(&mask))
                                                                 : uint32_t(sysconf(_SC_NPROCESSORS_ONLN));
  char text[4096];
  readSmall("/proc/self/cgroup", text, sizeof text);
  count = std::min(count, cgroupCpus(text, "/sys/fs/cgroup"));
  return std::clamp(count, 1u, kMaxThreads);
}

} // namespace tenon::rt
