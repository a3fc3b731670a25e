//===- CpuCount.h - how many threads this process should use -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_CPUCOUNT_H
#define TENON_RUNTIME_BASE_CPUCOUNT_H

#include <cstdint>

namespace tenon::rt {

/// No session has more threads.
inline constexpr uint32_t kMaxThreads = 1024;

/// CPUs in this process's affinity mask, or fewer where its cgroup is limited to less time than that. At
/// least 1, at most kMaxThreads.
uint32_t usableCpus();

/// The CPUs that a cgroup's limit comes to, rounded up; UINT32_MAX where there is none. `procCgroup` is the
/// text of /proc/self/cgroup and `root` stands for /sys/fs/cgroup.
uint32_t cgroupCpus(const char *procCgroup, const char *root);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_CPUCOUNT_H
