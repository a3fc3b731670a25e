//===- TestServers.h - servers to try clients with, and the other way round  --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_REMOTE_TESTSERVERS_H
#define TENON_TEST_UNIT_REMOTE_TESTSERVERS_H

#include <atomic>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>

namespace tenon {

/// Answers each connection with a text, whatever it is asked.
class FakeServer {
public:
  enum class End {
    close,  ///< it closes the connection then
    hang,   ///< it says nothing more
    repeat, ///< it says the text's end again and again, as long as somebody listens
  };
  FakeServer(std::string answer, End end);
  ~FakeServer();
  int getPort() const { return port; }
  /// All that it was told so far.
  std::string getRequests() const;

private:
  void run();
  void answerOne(int connection);

  std::string answer;
  End end;
  int listener = -1, port = 0;
  std::atomic<bool> isOver = false;
  mutable std::mutex lock; ///< of requests
  std::string requests;
  std::thread thread;
};

/// A real Redis with the password "secret", which keeps nothing on disk.
class RedisServer {
public:
  explicit RedisServer(const std::string &folder);
  ~RedisServer();
  int getPort() const { return port; }

private:
  pid_t child = -1;
  int port = 0;
};

/// Sends a text to the server of a URL. Returns what it answers until it closes the connection or is silent.
std::string speak(const std::string &url, const std::string &text);

} // namespace tenon

#endif // TENON_TEST_UNIT_REMOTE_TESTSERVERS_H
