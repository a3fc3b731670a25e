//===- EmulatedCpu.cpp - a processor with tile registers -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked with tenon-run, this makes a program for which each processor has AMX: the linker's option --wrap
// puts the functions here where the runtime asks what there is. A processor that has AMX computes for itself: without
// the system's permission it refuses some of the instructions only, since shapes of tiles are no part of their data.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuFeatures.h"
#include "test/lib/tiles/TileTrap.h"

#include <string_view>

using namespace tenon::rt;

CpuFeatures detectRealCpu() __asm__("__real__ZN5tenon2rt9detectCpuEv");
Status acquireRealState(const char *target) __asm__("__real__ZN5tenon2rt18acquireTargetStateEPKc");
CpuFeatures detectEmulatedCpu() __asm__("__wrap__ZN5tenon2rt9detectCpuEv");
Status acquireEmulatedState(const char *target) __asm__("__wrap__ZN5tenon2rt18acquireTargetStateEPKc");

static bool isAmx(const char *feature) { return std::string_view(feature).substr(0, 4) == "amx-"; }

CpuFeatures detectEmulatedCpu() {
  CpuFeatures cpu = detectRealCpu();
  for (size_t i = 0; i < cpu.count; ++i)
    if (isAmx(cpu.names[i]))
      cpu.present |= uint64_t(1) << i;
  return cpu;
}

/// The system is not asked for registers that are in memory.
Status acquireEmulatedState(const char *target) {
  CpuFeatures cpu = detectRealCpu();
  for (size_t i = 0; i < cpu.count; ++i)
    if (isAmx(cpu.names[i]) && (cpu.present >> i & 1))
      return acquireRealState(target);
  tenon::trapTileInstructions();
  return {};
}
