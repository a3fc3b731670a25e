//===- Supervise.cpp - work in a process of its own ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Supervise.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon;

namespace {

constexpr int kFaultCode = 70;

/// What the child tells: memory that both processes see, so that it outlives a crash.
struct Notes {
  char phase[64];
  char reason[512];
  bool outOfMemory;

  template <size_t N> static void set(char (&place)[N], llvm::StringRef text) {
    size_t length = std::min(text.size(), N - 1);
    std::memcpy(place, text.data(), length);
    place[length] = 0;
  }
};

/// For handlers, which get no argument of ours. Set in the child alone.
Notes *childNotes = nullptr;

[[noreturn]] void endWithFault(llvm::StringRef reason) {
  Notes::set(childNotes->reason, reason);
  _exit(kFaultCode);
}

[[noreturn]] void endWithoutMemory() {
  childNotes->outOfMemory = true;
  _exit(kFaultCode);
}

/// Says what the exception is that is being handled.
[[noreturn]] void endWithException() {
  try {
    if (std::current_exception())
      throw;
  } catch (const std::bad_alloc &) {
    endWithoutMemory();
  } catch (const std::exception &e) {
    endWithFault(e.what());
  } catch (...) {
  }
  endWithFault("an exception that nobody caught");
}

void installHandlers() {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) { endWithFault(reason); });
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
  std::set_terminate(endWithException);
}

/// Ends as the child did, when the same person ended both.
void passOn(int signal) {
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP)
    return;
  std::signal(signal, SIG_DFL);
  raise(signal);
}

} // namespace

WorkEnd tenon::supervise(llvm::function_ref<int(llvm::function_ref<void(llvm::StringRef)>)> work) {
  void *memory = mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return {kFaultCode, "", std::string("no memory for a process: ") + std::strerror(errno), true};
  auto *notes = new (memory) Notes{};
  llvm::outs().flush();
  pid_t child = fork();
  if (child == 0) {
    childNotes = notes;
    installHandlers();
    try {
      int code = work([notes](llvm::StringRef phase) { Notes::set(notes->phase, phase); });
      // Not exit: the parent's objects are the parent's to destroy.
      _exit(code);
    } catch (...) {
      endWithException();
    }
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  WorkEnd end{kFaultCode, notes->phase, notes->reason, notes->outOfMemory};
  munmap(memory, sizeof(Notes));
  if (child < 0)
    return {kFaultCode, "", std::string("no process: ") + std::strerror(errno), true};
  if (WIFEXITED(status)) {
    end.exitCode = WEXITSTATUS(status);
    return end;
  }
  int signal = WTERMSIG(status);
  passOn(signal);
  // Nobody else kills processes without a word.
  end.outOfMemory |= signal == SIGKILL;
  end.reason = "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  return end;
}
