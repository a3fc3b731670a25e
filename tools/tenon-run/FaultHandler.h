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

/// From now on a segmentation fault in memory of `session`, which TENON_DEBUG_ARENA=1 fences, ends the process with
/// one line that names instruction and buffer. Any other is left to the system.
void explainFaults(const tenon_session *session);

/// From now on one line ends the process where pages of a mapped file are gone: it became shorter, or its disk fails.
/// `artifact` names it, and stays.
void explainLostPages(const char *artifact);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_FAULTHANDLER_H
