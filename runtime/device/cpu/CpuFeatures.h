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

/// A CPU's architecture, and those features of Target.h that it has and the system enables.
struct CpuFeatures {
  const char *arch;         // "x86_64", "aarch64"
  const char *const *names; // the features of Target.h for this architecture
  size_t count;
  uint64_t present = 0; // bit i stands for names[i]

  bool has(size_t feature) const { return present >> feature & 1; }
};

/// Asks the CPU and the system.
CpuFeatures detectCpu();

/// Checks whether code for `target` (Target.h, without a name) runs on `cpu`; the failure says what is missing.
Status matchTarget(const char *target, const CpuFeatures &cpu);

/// Returns the most capable portable target of the compiler that runs on `cpu`, such as "x86-64-v3"; empty if there is
/// none.
const char *getTarget(const CpuFeatures &cpu);

/// Requests permission for AMX tiles from the system, which is required before their use, if `target` names them.
Status acquireTargetState(const char *target);

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_CPUFEATURES_H
