//===- Machine.cpp - the machine that times were taken on -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Machine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/utsname.h>

namespace tenon::run {

/// The first line of a file that `matches` accepts, without its end; empty where there is none.
template <typename Matches> static std::string findLine(const char *path, Matches matches) {
  std::string found;
  if (FILE *file = fopen(path, "r")) {
    char line[512];
    while (found.empty() && fgets(line, sizeof line, file)) {
      line[strcspn(line, "\n")] = 0;
      if (matches(line))
        found = line;
    }
    fclose(file);
  }
  return found;
}

std::string getProcessorName() {
  std::string line = findLine("/proc/cpuinfo", [](const char *text) { return strncmp(text, "model name", 10) == 0; });
  size_t colon = line.find(": ");
  if (colon != line.npos)
    return line.substr(colon + 2);
  utsname system;
  return uname(&system) == 0 ? system.machine : "unknown processor";
}

std::string getGovernor() {
  return findLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", [](const char *) { return true; });
}

double getLoadAverage() {
  std::string line = findLine("/proc/loadavg", [](const char *) { return true; });
  return line.empty() ? -1 : strtod(line.c_str(), nullptr);
}

std::string getDate() {
  time_t now = time(nullptr);
  tm parts;
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  return text;
}

} // namespace tenon::run
