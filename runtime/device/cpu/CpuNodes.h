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

/// CPUs that share memory of their own, a socket or a part of one, of those that this process may use.
struct CpuNodes {
  std::vector<cpu_set_t> nodes;

  /// The CPUs that a thread out of so many should stay on: those of one node, which neighbours share, so that each node
  /// has as large a part of the threads as of the CPUs. Null where there is nothing to keep apart: one node, or more
  /// threads than CPUs.
  const cpu_set_t *cpusFor(uint32_t thread, uint32_t threads) const;
};

/// Those of the system. `root` stands for /sys/devices/system/node, `allowed` are the CPUs that count.
CpuNodes readCpuNodes(const char *root, const cpu_set_t &allowed);

/// Those of this process, as its affinity mask says.
CpuNodes usableNodes();

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_CPUNODES_H
