//===- Thread.h - a thread that is joined at the end --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_THREAD_H
#define TENON_RUNTIME_BASE_THREAD_H

#include <csignal>
#include <initializer_list>
#include <pthread.h>

namespace tenon::rt {

/// A thread of the runtime's own.
class Thread {
public:
  Thread() = default;
  Thread(Thread &&) = delete;
  ~Thread() { join(); }

  /// Returns false if the system refuses. Asynchronous signals are blocked in the thread, so that the program's own
  /// threads handle them; synchronous ones are not.
  bool start(void *(*run)(void *), void *argument) {
    sigset_t blocked, old;
    sigfillset(&blocked);
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
      sigdelset(&blocked, signal);
    pthread_sigmask(SIG_SETMASK, &blocked, &old);
    isRunning = pthread_create(&handle, nullptr, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    return isRunning;
  }
  void join() {
    if (isRunning)
      pthread_join(handle, nullptr);
    isRunning = false;
  }

private:
  pthread_t handle;
  bool isRunning = false;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_THREAD_H
