//===- FreeMemory.h - how much memory this process may still have -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_FREEMEMORY_H
#define TENON_RUNTIME_BASE_FREEMEMORY_H

#include "runtime/base/Status.h"

#include <cstdint>

namespace tenon::rt {

/// Returns the bytes that this process can allocate before the kernel or a control group kills processes: free memory,
/// and evictable pages of files. UINT64_MAX if the system does not report it.
uint64_t freeMemory();

/// Looks at the free memory before memory is written for the first time: the system overcommits, and kills processes
/// that use too much. It reads files of the system, so that needs are only looked at once enough of them have come
/// together.
class MemoryWatch {
public:
  /// Returns false if `bytes` more, which the caller is about to use, are not free, and sets `left` to those that are.
  bool allows(uint64_t bytes, uint64_t *left);

private:
  static constexpr uint64_t kMany = uint64_t(64) << 20; // limit: so many may be used without a look
  uint64_t unseen = 0;                                  // that were allowed since the last look
  uint64_t most = kMany;                                // that may be allowed without the next one
};

/// A single look. `what` says for what the bytes are.
Status checkFreeMemory(uint64_t bytes, const char *what);

/// The same as freeMemory() for control groups only. `procCgroup` is the text of /proc/self/cgroup, and `root` stands
/// for /sys/fs/cgroup.
uint64_t cgroupMemory(const char *procCgroup, const char *root);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_FREEMEMORY_H
