//===- CpuNodes.h - which CPUs have memory of their own ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_CPUNODES_H
#define TENON_RUNTIME_DEVICE_CPU_CPUNODES_H

#include <cstdint>
#include <sched.h>
#include <vector>

namespace tenon::rt {

/// The CPUs of each NUMA node, restricted to those that this process may use.
struct CpuNodes {
  std::vector<cpu_set_t> nodes;

  /// Returns the CPUs that a thread should be pinned to: those of one node. Neighbouring threads share a node, and each
  /// node has its proportional share of the threads. Null if there is one node, or if there are more threads than CPUs.
  const cpu_set_t *cpusFor(uint32_t thread, uint32_t threads) const;
};

/// Reads the nodes of the system. `root` stands for /sys/devices/system/node, `allowed` are the usable CPUs.
CpuNodes readCpuNodes(const char *root, const cpu_set_t &allowed);

/// Those of this process, as its affinity mask says.
CpuNodes usableNodes();

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_CPUNODES_H
