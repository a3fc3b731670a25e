//===- Processor.cpp - what the system calls its processor -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Processor.h"

#include "runtime/base/SmallFile.h"

#include <cstring>
#include <sys/utsname.h>

namespace tenon::rt {

std::string getProcessorName() {
  // The first processor's lines are enough.
  char text[4096];
  readSmall("/proc/cpuinfo", text, sizeof text);
  if (const char *line = strstr(text, "model name"))
    if (const char *name = strstr(line, ": "))
      return std::string(name + 2, strcspn(name + 2, "\n"));
  utsname system;
  return uname(&system) == 0 ? system.machine : "unknown processor";
}

std::string getGovernor() {
  char text[64];
  readSmall("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof text);
  return std::string(text, strcspn(text, "\n"));
}

} // namespace tenon::rt
