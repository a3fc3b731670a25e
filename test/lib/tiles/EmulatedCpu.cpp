//===- EmulatedCpu.cpp - a processor with tile registers -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked with tenon-run, this makes a program for which each processor has AMX: the linker's option --wrap
// puts the functions here where the runtime asks what there is.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuFeatures.h"
#include "test/lib/tiles/TileTrap.h"

#include <string_view>

using namespace tenon::rt;

CpuFeatures detectRealCpu() __asm__("__real__ZN5tenon2rt9detectCpuEv");
CpuFeatures detectEmulatedCpu() __asm__("__wrap__ZN5tenon2rt9detectCpuEv");
Status acquireEmulatedState(const char *target) __asm__("__wrap__ZN5tenon2rt18acquireTargetStateEPKc");

CpuFeatures detectEmulatedCpu() {
  CpuFeatures cpu = detectRealCpu();
  for (size_t i = 0; i < cpu.count; ++i)
    if (std::string_view(cpu.names[i]).substr(0, 4) == "amx-")
      cpu.present |= uint64_t(1) << i;
  return cpu;
}

/// The system is not asked for registers that are in memory.
Status acquireEmulatedState(const char *) {
  tenon::trapTileInstructions();
  return {};
}
