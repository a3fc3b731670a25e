//===- Machine.cpp - the machine that times were taken on -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Machine.h"

#include "runtime/base/SmallFile.h"

#include <cstdlib>
#include <ctime>

namespace tenon::run {

double getLoadAverage() {
  char text[128];
  rt::readSmall("/proc/loadavg", text, sizeof text);
  return *text ? strtod(text, nullptr) : -1;
}

std::string getDate() {
  time_t now = time(nullptr);
  tm parts;
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  return text;
}

} // namespace tenon::run
