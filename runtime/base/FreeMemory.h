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

/// Bytes that this process can still get before the system, or a control group, ends processes for it: what is free,
/// and pages of files that can be read again. UINT64_MAX where the system does not say.
uint64_t freeMemory();

/// The same of control groups alone. `procCgroup` is the text of /proc/self/cgroup, and `root` stands for
/// /sys/fs/cgroup.
uint64_t cgroupMemory(const char *procCgroup, const char *root);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_FREEMEMORY_H
