//===- FaultHandler.cpp - which instruction touched what it must not -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/FaultHandler.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace tenon::run {

static const tenon_session *watched;
static const char *artifactPath;

static void print(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

static void handleFault(int signal, siginfo_t *info, void *) {
  tenon_error error;
  if (tenon_session_explain_address(watched, info->si_addr, &error)) {
    print("tenon-run: error: ");
    print(error.message);
    print("\n");
    _exit(TENON_FAULT);
  }
  // After the handler returns, the access is repeated, which ends the process by the default action.
  ::signal(signal, SIG_DFL);
}

/// A page of a mapped file that is no longer there.
static void handleLostPage(int, siginfo_t *, void *) {
  // Threads that fault concurrently wait for the one that prints the message and ends the process.
  static std::atomic_flag isSaid;
  while (isSaid.test_and_set())
    pause();
  print("tenon-run: error: ");
  print(artifactPath);
  print(": the artifact or one of its inputs was truncated during the run, or its disk fails\n");
  _exit(TENON_INVALID);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(signal, &action, nullptr);
}

void explainLostPages(const char *artifact) {
  artifactPath = artifact;
  handle(SIGBUS, handleLostPage);
}

void explainFaults(const tenon_session *session) {
  watched = session;
  handle(SIGSEGV, handleFault);
}

} // namespace tenon::run
