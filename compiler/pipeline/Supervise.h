//===- Supervise.h - work in a process of its own --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_SUPERVISE_H
#define TENON_COMPILER_PIPELINE_SUPERVISE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>
#include <string>

namespace tenon {

/// How supervised work ended.
struct WorkEnd {
  int exitCode = 0;   ///< what the work returned; 70 where it did not come to that
  std::string phase;  ///< the last one that it announced
  std::string reason; ///< of a fault: the signal, LLVM's fatal error, the exception; else empty
  bool outOfMemory = false;
  bool lostPages = false; ///< pages of a mapped file were gone: it became shorter, or its disk fails
  enum class Limit { none, memory, time } exceeded = Limit::none; ///< why the work was ended, if it was
};

/// The limits of one phase of supervised work. Work that exceeds one is killed.
struct PhaseLimits {
  std::string phase;
  /// Returns the limit for private memory of the process, without mapped files; called repeatedly, because it may
  /// depend on what the work has found. Null means no limit.
  std::function<uint64_t()> getMaxBytes;
  double maxSeconds = 0; ///< 0: no limit
};

/// Called about ten times a second with the phase of the supervised work and the seconds since its beginning.
using ProgressFunction = std::function<void(llvm::StringRef phase, double seconds)>;

/// Runs `work` in a child process and waits for it. Any failure in any of its threads is reported without output of its
/// own: signals, stack overflow, uncaught exceptions, fatal errors of LLVM. `work` announces its phases through its
/// argument, and must write results to files, since its memory is lost.
///
/// The caller must be single-threaded. If the child is ended by a user's signal (SIGINT, SIGTERM, SIGHUP), or because
/// its output is not read (SIGPIPE), so is this process.
WorkEnd supervise(llvm::function_ref<int(llvm::function_ref<void(llvm::StringRef)> announce)> work,
                  const PhaseLimits &limits = {}, const ProgressFunction &onWait = nullptr);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_SUPERVISE_H
