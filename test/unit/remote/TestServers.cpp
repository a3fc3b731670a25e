//===- TestServers.cpp - servers to try clients with, and the other way round  ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/remote/TestServers.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon;

static sockaddr_in makeAddress(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Listens on a port that is free.
static int listenAnywhere(int &port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = makeAddress(0);
  socklen_t size = sizeof(address);
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  REQUIRE(bind(listener, generic, size) == 0);
  REQUIRE(listen(listener, 16) == 0);
  REQUIRE(getsockname(listener, generic, &size) == 0);
  port = ntohs(address.sin_port);
  return listener;
}

static int connectTo(int port) {
  int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = makeAddress(port);
  if (connect(connection, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0)
    return connection;
  close(connection);
  return -1;
}

//===----------------------------------------------------------------------===//
// FakeServer
//===----------------------------------------------------------------------===//

FakeServer::FakeServer(std::string answer, End end) : answer(std::move(answer)), end(end) {
  listener = listenAnywhere(port);
  thread = std::thread([this] { run(); });
}

FakeServer::~FakeServer() {
  isOver = true;
  shutdown(listener, SHUT_RDWR);
  thread.join();
  close(listener);
}

std::string FakeServer::getRequests() const {
  std::lock_guard<std::mutex> guard(lock);
  return requests;
}

void FakeServer::run() {
  while (!isOver) {
    int connection = accept(listener, nullptr, nullptr);
    if (connection < 0)
      return;
    answerOne(connection);
    close(connection);
  }
}

void FakeServer::answerOne(int connection) {
  char request[4096];
  constexpr int kPatience = 100;
  // All that was asked, so that closing the connection does not take the answer back.
  pollfd waiting{connection, POLLIN, 0};
  while (poll(&waiting, 1, kPatience) > 0) {
    ssize_t count = read(connection, request, sizeof(request));
    if (count <= 0)
      return;
    std::lock_guard<std::mutex> guard(lock);
    requests.append(request, count);
  }
  std::string text = answer, more;
  while (end == End::repeat && more.size() < 100'000)
    more += answer.substr(answer.size() - std::min<size_t>(answer.size(), 6));
  while (!isOver) {
    // Whoever has gone ends it.
    if (!text.empty() && send(connection, text.data(), text.size(), MSG_NOSIGNAL) < 0)
      return;
    if (end == End::close)
      return;
    text = more;
    if (text.empty() && poll(&waiting, 1, kPatience) > 0 && read(connection, request, sizeof(request)) <= 0)
      return;
  }
}

//===----------------------------------------------------------------------===//
// RedisServer
//===----------------------------------------------------------------------===//

RedisServer::RedisServer(const std::string &folder) {
  close(listenAnywhere(port));
  std::string number = std::to_string(port);
  child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    freopen("/dev/null", "w", stdout);
    execlp("redis-server", "redis-server", "--port", number.c_str(), "--bind", "127.0.0.1", "--save", "",
           "--appendonly", "no", "--requirepass", "secret", "--dir", folder.c_str(), nullptr);
    _exit(127);
  }
  for (int i = 0; i < 500; ++i) {
    if (int connection = connectTo(port); connection >= 0) {
      close(connection);
      return;
    }
    usleep(20'000);
  }
  FAIL("redis-server does not listen");
}

RedisServer::~RedisServer() {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

std::string tenon::speak(const std::string &url, const std::string &text) {
  int connection = connectTo(std::stoi(url.substr(url.rfind(':') + 1)));
  REQUIRE(connection >= 0);
  size_t sent = 0;
  std::string answer;
  char piece[65536];
  while (true) {
    constexpr int kPatience = 1000;
    pollfd waiting{connection, static_cast<short>(POLLIN | (sent < text.size() ? POLLOUT : 0)), 0};
    if (poll(&waiting, 1, kPatience) <= 0)
      break;
    if (waiting.revents & (POLLIN | POLLHUP | POLLERR)) {
      ssize_t count = read(connection, piece, sizeof(piece));
      if (count <= 0)
        break;
      answer.append(piece, count);
    } else if (waiting.revents & POLLOUT) {
      ssize_t count = send(connection, text.data() + sent, std::min<size_t>(text.size() - sent, sizeof(piece)),
                           MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0)
        break;
      sent += count;
    }
    // Nobody waits for the end of a connection that is kept.
    if (sent == text.size() && answer.find("\r\n\r\n") != std::string::npos)
      break;
  }
  close(connection);
  return answer;
}
