//===- FreeMemory.cpp - how much memory this process may still have -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/FreeMemory.h"

#include "runtime/base/Cgroup.h"
#include "runtime/base/SmallFile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tenon::rt {

/// Returns the number after `key` at the beginning of a line; 0 if there is none.
static uint64_t findNumber(const char *text, const char *key) {
  for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : nullptr)
    if (strncmp(line, key, strlen(key)) == 0)
      return strtoull(line + strlen(key), nullptr, 10);
  return 0;
}

/// A file with one number, which may be "max".
static uint64_t readNumber(const char *folder, const char *name) {
  char path[1200], text[64], *end;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  readSmall(path, text, sizeof text);
  uint64_t value = strtoull(text, &end, 10);
  return end == text ? UINT64_MAX : value;
}

/// What one group has left.
static uint64_t groupMemory(const char *folder, bool isVersionTwo) {
  uint64_t limit = readNumber(folder, isVersionTwo ? "memory.max" : "memory.limit_in_bytes"),
           used = readNumber(folder, isVersionTwo ? "memory.current" : "memory.usage_in_bytes");
  if (limit == UINT64_MAX || used == UINT64_MAX)
    return UINT64_MAX;
  char path[1200], text[8192];
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  readSmall(path, text, sizeof text);
  const char *total = isVersionTwo ? "" : "total_";
  char active[32], inactive[32];
  snprintf(active, sizeof active, "%sactive_file ", total);
  snprintf(inactive, sizeof inactive, "%sinactive_file ", total);
  uint64_t files = findNumber(text, active) + findNumber(text, inactive);
  used -= std::min(used, files);
  return limit - std::min(limit, used);
}

uint64_t cgroupMemory(const char *procCgroup, const char *root) {
  uint64_t least = UINT64_MAX;
  forEachCgroup(
      procCgroup, root, "memory",
      [](void *context, const char *folder, bool isVersionTwo) {
        uint64_t &known = *static_cast<uint64_t *>(context);
        known = std::min(known, groupMemory(folder, isVersionTwo));
      },
      &least);
  return least;
}

uint64_t freeMemory() {
  char text[4096];
  readSmall("/proc/meminfo", text, sizeof text);
  uint64_t kilobytes = findNumber(text, "MemAvailable:") + findNumber(text, "SwapFree:");
  uint64_t all = kilobytes ? kilobytes << 10 : UINT64_MAX;
  readSmall("/proc/self/cgroup", text, sizeof text);
  return std::min(all, cgroupMemory(text, "/sys/fs/cgroup"));
}

bool MemoryWatch::allows(uint64_t bytes, uint64_t *left) {
  if (bytes < most - std::min(most, unseen)) {
    unseen += bytes;
    return true;
  }
  // Bytes that were allowed are in use by now.
  *left = freeMemory();
  if (bytes > *left)
    return false;
  unseen = 0;
  // The less there is, the more often it is looked at.
  most = std::min(kMany, (*left - bytes) / 2);
  return true;
}

Status checkFreeMemory(uint64_t bytes, const char *what) {
  MemoryWatch watch;
  uint64_t left;
  if (watch.allows(bytes, &left))
    return {};
  return Status::make(TENON_RESOURCES,
                      "needs %llu more bytes for %s, and the system, or this process's control group, has %llu left",
                      (unsigned long long)bytes, what, (unsigned long long)left);
}

} // namespace tenon::rt
