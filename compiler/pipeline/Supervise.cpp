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
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

using namespace tenon;

namespace {

constexpr int kFaultCode = 70;

/// Notes of the child in memory that both processes share, so that they survive a crash.
struct Notes {
  char phase[64];
  char reason[512];
  bool outOfMemory, lostPages;

  template <size_t N> static void set(char (&place)[N], llvm::StringRef text) {
    size_t length = std::min(text.size(), N - 1);
    std::copy_n(text.begin(), length, place);
    place[length] = 0;
  }
};

/// The notes for signal handlers, which have no argument of ours. Only set in the child.
Notes *childNotes = nullptr;

[[noreturn]] void endWithoutMemory() {
  childNotes->outOfMemory = true;
  _exit(kFaultCode);
}

/// True if the address space is exhausted: there is no room for a few thread stacks. Async-signal-safe.
bool isOutOfMemory() {
  constexpr size_t kProbeBytes = size_t(32) << 20;
  void *probe = mmap(nullptr, kProbeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED)
    return true;
  munmap(probe, kProbeBytes);
  return false;
}

/// True if the process has come close to the limit of its address space (`ulimit -v`), even if memory was freed since.
bool hasReachedAddressLimit() {
  constexpr uint64_t kNearBytes = uint64_t(64) << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return false;
  std::FILE *file = std::fopen("/proc/self/status", "r");
  if (!file)
    return true;
  char line[128];
  unsigned long long peak = 0;
  while (std::fgets(line, sizeof(line), file))
    if (std::sscanf(line, "VmPeak: %llu kB", &peak) == 1)
      break;
  std::fclose(file);
  return peak * 1024 + kNearBytes > limit.rlim_cur;
}

[[noreturn]] void endWithFault(llvm::StringRef reason) {
  Notes::set(childNotes->reason, reason);
  if (isOutOfMemory())
    endWithoutMemory();
  _exit(kFaultCode);
}

/// Says what the exception is that is being handled.
[[noreturn]] void endWithException() {
  try {
    if (std::current_exception())
      throw;
  } catch (const std::bad_alloc &) {
    endWithoutMemory();
  } catch (const std::system_error &e) {
    // A thread that cannot be started reports an error, since its stack needs memory, too.
    if (e.code() != std::errc::resource_unavailable_try_again && e.code() != std::errc::not_enough_memory)
      endWithFault(e.what());
    Notes::set(childNotes->reason, std::string("no thread can be started: ") + e.what());
    endWithoutMemory();
  } catch (const std::exception &e) {
    endWithFault(e.what());
  } catch (...) {
    endWithFault("an exception that was not caught");
  }
  endWithFault("std::terminate was called without an exception");
}

constexpr int kCrashSignals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
struct sigaction previousActions[std::size(kCrashSignals)];

/// Records whether memory was exhausted at a crash: libraries do not check all allocations, and a stack that cannot
/// grow causes a segmentation fault. The signal's previous action handles the rest, since the faulting instruction is
/// executed again.
void noteCrash(int signal, siginfo_t *info, void *) {
  childNotes->outOfMemory |= isOutOfMemory();
  childNotes->lostPages |= signal == SIGBUS && info->si_code == BUS_ADRERR;
  for (size_t i = 0; i < std::size(kCrashSignals); ++i)
    if (kCrashSignals[i] == signal)
      sigaction(signal, &previousActions[i], nullptr);
  // A signal that a process sent, such as by abort, will not be raised again.
  if (info->si_code <= 0)
    raise(signal);
}

/// Handlers run on a stack of their own, because the main thread's stack may be the one that cannot grow.
void installCrashHandlers() {
  static char handlerStack[size_t(64) << 10];
  stack_t stack{};
  stack.ss_sp = handlerStack;
  stack.ss_size = sizeof(handlerStack);
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = noteCrash;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (size_t i = 0; i < std::size(kCrashSignals); ++i)
    sigaction(kCrashSignals[i], &action, &previousActions[i]);
}

void installHandlers() {
  installCrashHandlers();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    // LLVM's threads abort the process if there is no memory for their stacks.
    if (llvm::StringRef(reason).starts_with("pthread_create failed")) {
      Notes::set(childNotes->reason, std::string("no thread can be started: ") + reason);
      endWithoutMemory();
    }
    endWithFault(reason);
  });
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
  std::set_terminate(endWithException);
}

/// Raises the signal that ended the child, if a user ended both processes.
void passOn(int signal) {
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGPIPE)
    return;
  std::signal(signal, SIG_DFL);
  raise(signal);
}

} // namespace

/// Returns the bytes of a process that are neither file-backed nor shared.
static uint64_t getOwnBytes(pid_t process) {
  std::FILE *file = std::fopen(("/proc/" + std::to_string(process) + "/statm").c_str(), "r");
  if (!file)
    return 0;
  unsigned long long total = 0, resident = 0, shared = 0;
  int count = std::fscanf(file, "%llu %llu %llu", &total, &resident, &shared);
  std::fclose(file);
  return count == 3 && resident > shared ? (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

namespace {

/// Watches a child during the phase that has limits, and kills it if it exceeds one. Calls `onWait` with the progress
/// until its end, if given.
class Watch {
public:
  Watch(pid_t child, const Notes &notes, const PhaseLimits &limits, const ProgressFunction &onWait)
      : child(child), notes(notes), limits(limits), onWait(onWait),
        descriptor(static_cast<int>(syscall(SYS_pidfd_open, child, 0))) {}
  ~Watch() {
    if (descriptor >= 0)
      close(descriptor);
  }

  WorkEnd::Limit run() {
    constexpr int kMillisecondsBetweenLooks = 5, kMillisecondsBetweenNews = 100;
    pollfd end{descriptor, POLLIN, 0};
    auto begin = std::chrono::steady_clock::now(), start = begin;
    bool hasBegun = false, isOver = limits.phase.empty();
    while (descriptor >= 0 && (!isOver || onWait) &&
           poll(&end, 1, isOver ? kMillisecondsBetweenNews : kMillisecondsBetweenLooks) <= 0) {
      if (onWait)
        onWait(notes.phase, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      bool isInPhase = limits.phase == notes.phase;
      isOver |= hasBegun && !isInPhase;
      if (isOver)
        continue;
      if (!hasBegun)
        begin = std::chrono::steady_clock::now();
      hasBegun |= isInPhase;
      if (!isInPhase)
        continue;
      WorkEnd::Limit exceeded =
          getExceeded(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      if (exceeded != WorkEnd::Limit::none) {
        kill(child, SIGKILL);
        return exceeded;
      }
    }
    return WorkEnd::Limit::none;
  }

private:
  WorkEnd::Limit getExceeded(double seconds) const {
    if (limits.maxSeconds > 0 && seconds > limits.maxSeconds)
      return WorkEnd::Limit::time;
    return limits.getMaxBytes && getOwnBytes(child) > limits.getMaxBytes() ? WorkEnd::Limit::memory
                                                                           : WorkEnd::Limit::none;
  }

  pid_t child;
  const Notes &notes;
  const PhaseLimits &limits;
  const ProgressFunction &onWait;
  int descriptor;
};

} // namespace

WorkEnd tenon::supervise(llvm::function_ref<int(llvm::function_ref<void(llvm::StringRef)>)> work,
                         const PhaseLimits &limits, const ProgressFunction &onWait) {
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
      // Some failures for lack of memory are not reported as such: LLVM writes a truncated object file.
      notes->outOfMemory |= code == kFaultCode && (isOutOfMemory() || hasReachedAddressLimit());
      // Not exit, because the parent must destroy its own objects.
      _exit(code);
    } catch (...) {
      endWithException();
    }
  }
  WorkEnd::Limit exceeded = WorkEnd::Limit::none;
  if (child > 0 && (!limits.phase.empty() || onWait))
    exceeded = Watch(child, *notes, limits, onWait).run();
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  WorkEnd end{kFaultCode, notes->phase, notes->reason, notes->outOfMemory, notes->lostPages, exceeded};
  munmap(memory, sizeof(Notes));
  if (child < 0)
    return {kFaultCode, "", std::string("no process: ") + std::strerror(errno), true};
  if (WIFEXITED(status)) {
    end.exitCode = WEXITSTATUS(status);
    return end;
  }
  int signal = WTERMSIG(status);
  if (exceeded != WorkEnd::Limit::none)
    return end;
  passOn(signal);
  // Nobody else kills processes without a word.
  end.outOfMemory |= signal == SIGKILL;
  end.reason = "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  return end;
}
