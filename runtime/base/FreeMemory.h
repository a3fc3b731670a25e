//===- FreeMemory.h - how much memory this process may still have -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_FREEMEMORY_H
#define TENON_RUNTIME_BASE_FREEMEMORY_H

#include <cstdint>

namespace tenon::rt {

/// Returns the bytes that this process can allocate before the kernel or a control group kills processes: free memory,
/// and evictable pages of files. UINT64_MAX if the system does not report it.
uint64_t freeMemory();

/// The same for control groups only. `procCgroup` is the text of /proc/self/cgroup, and `root` stands for
/// /sys/fs/cgroup.
uint64_t cgroupMemory(const char *procCgroup, const char *root);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_FREEMEMORY_H
