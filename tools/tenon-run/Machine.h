//===- Machine.h - the machine that times were taken on ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_MACHINE_H
#define TENON_TOOLS_TENON_RUN_MACHINE_H

#include <string>

namespace tenon::run {

/// Returns the load average of the last minute; negative if the system does not report it.
double getLoadAverage();

/// "2026-11-26T05:20:11Z".
std::string getDate();

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_MACHINE_H
