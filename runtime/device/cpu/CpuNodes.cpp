//===- CpuNodes.cpp - which CPUs have memory of their own ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuNodes.h"

#include "runtime/base/SmallFile.h"

#include <cstdio>
#include <cstdlib>

namespace tenon::rt {

/// Upper bound for NUMA node numbers, which may have gaps.
static constexpr int kMaxNodes = 256;

/// Parses "0-3,8,10-11"; anything else adds nothing.
static void addCpus(const char *text, const cpu_set_t &allowed, cpu_set_t &cpus) {
  while (*text >= '0' && *text <= '9') {
    char *end;
    unsigned long first = strtoul(text, &end, 10), last = first;
    if (*end == '-')
      last = strtoul(end + 1, &end, 10);
    for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed))
        CPU_SET(cpu, &cpus);
    text = *end == ',' ? end + 1 : "";
  }
}

CpuNodes readCpuNodes(const char *root, const cpu_set_t &allowed) {
  CpuNodes result;
  for (int node = 0; node < kMaxNodes; ++node) {
    char path[1200], text[4096];
    snprintf(path, sizeof path, "%s/node%d/cpulist", root, node);
    readSmall(path, text, sizeof text);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    addCpus(text, allowed, cpus);
    if (CPU_COUNT(&cpus))
      result.nodes.push_back(cpus);
  }
  return result;
}

CpuNodes usableNodes() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 ? readCpuNodes("/sys/devices/system/node", mask) : CpuNodes();
}

const cpu_set_t *CpuNodes::cpusFor(uint32_t thread, uint32_t threads) const {
  uint32_t all = 0;
  for (const cpu_set_t &node : nodes)
    all += uint32_t(CPU_COUNT(&node));
  if (nodes.size() <= 1 || threads > all)
    return nullptr;
  uint32_t place = uint32_t(uint64_t(thread) * all / threads), end = 0;
  for (const cpu_set_t &node : nodes)
    if (place < (end += uint32_t(CPU_COUNT(&node))))
      return &node;
  return nullptr;
}

} // namespace tenon::rt
