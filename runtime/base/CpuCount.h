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

/// Returns the number of CPUs in this process's affinity mask, or fewer if its cgroup is limited to less CPU time. At
/// least 1, at most kMaxThreads.
uint32_t usableCpus();

/// Returns the number of CPUs that a cgroup's limit corresponds to, rounded up; UINT32_MAX if there is no limit.
/// `procCgroup` is the text of /proc/self/cgroup and `root` stands for /sys/fs/cgroup.
uint32_t cgroupCpus(const char *procCgroup, const char *root);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_CPUCOUNT_H
