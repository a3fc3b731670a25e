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

/// What one phase of supervised work may take. Work that takes more is ended.
struct PhaseLimits {
  std::string phase;
  /// How much memory of its own the process may have, files that it maps not counted; asked again and again, since it
  /// may depend on what the work has found. No limit where it is null.
  std::function<uint64_t()> getMaxBytes;
  double maxSeconds = 0; ///< 0: no limit
};

/// Told the phase that supervised work is in, and seconds since its beginning, about ten times a second.
using ProgressFunction = std::function<void(llvm::StringRef phase, double seconds)>;

/// Runs `work` in a child process and waits for it. Whatever happens there, in any thread, is seen from here:
/// signals, a stack that overflows, uncaught exceptions, fatal errors of LLVM. None prints anything. `work`
/// announces its phases by the function that it gets, and its memory dies with it: results go to files.
///
/// The caller must have one thread. Where the child ends by a signal that somebody sent (SIGINT, SIGTERM,
/// SIGHUP), or because nobody reads what it prints (SIGPIPE), so does this process.
WorkEnd supervise(llvm::function_ref<int(llvm::function_ref<void(llvm::StringRef)> announce)> work,
                  const PhaseLimits &limits = {}, const ProgressFunction &onWait = nullptr);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_SUPERVISE_H
