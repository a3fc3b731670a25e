//===- CpuFeatures.h - what this CPU can run -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_CPUFEATURES_H
#define TENON_RUNTIME_DEVICE_CPU_CPUFEATURES_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>

namespace tenon::rt {

/// A CPU's architecture, and which of the features of Target.h it has and the system lets programs use.
struct CpuFeatures {
  const char *arch;         // "x86_64", "aarch64"
  const char *const *names; // the features of Target.h for this architecture
  size_t count;
  uint64_t present = 0; // bit i stands for names[i]

  bool has(size_t feature) const { return present >> feature & 1; }
};

/// Asks the CPU and the system.
CpuFeatures detectCpu();

/// Whether code for `target` (Target.h, without a name) runs on `cpu`; the failure says what is missing.
Status matchTarget(const char *target, const CpuFeatures &cpu);

/// The most capable of the compiler's portable targets whose code runs on `cpu`, "x86-64-v3"; empty where there is
/// none.
const char *getTarget(const CpuFeatures &cpu);

/// Asks the system for the AMX tile registers, which it only gives on request, if `target` names them.
Status acquireTargetState(const char *target);

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_CPUFEATURES_H
