//===- FaultHandler.h - which instruction touched what it must not ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_FAULTHANDLER_H
#define TENON_TOOLS_TENON_RUN_FAULTHANDLER_H

#include "tenon/runtime.h"

namespace tenon::run {

/// Installs a handler: a segmentation fault in memory of `session` that TENON_DEBUG_ARENA=1 guards ends the process
/// with one line that names the instruction and the buffer. Other faults have the default action.
void explainFaults(const tenon_session *session);

/// Installs a handler: the process ends with one line if pages of a mapped file are missing because it was truncated or
/// its disk fails. `artifact` names it, and must remain valid.
void explainLostPages(const char *artifact);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_FAULTHANDLER_H
