//===- Program.cpp - calls tenon-run as a shell would --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/tenon-run/Program.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace tenon::test {

Folder::Folder() {
  char pattern[] = "/tmp/tenon-run-test-XXXXXX";
  if (!mkdtemp(pattern))
    abort();
  path = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

Result tenonRun(const std::vector<std::string> &arguments) {
  Folder folder;
  std::string out = folder / "out", err = folder / "err";
  pid_t child = fork();
  if (child == 0) {
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0666), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0666), STDERR_FILENO);
    std::vector<char *> pointers{const_cast<char *>(TENON_RUN)};
    for (const std::string &argument : arguments)
      pointers.push_back(const_cast<char *>(argument.c_str()));
    pointers.push_back(nullptr);
    execv(TENON_RUN, pointers.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Bytes outBytes = readFile(out), errBytes = readFile(err);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          std::string(reinterpret_cast<char *>(outBytes.data()), outBytes.size),
          std::string(reinterpret_cast<char *>(errBytes.data()), errBytes.size)};
}

std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7)
    text += char(value | 0x80);
  return text + char(value);
}

std::string field(unsigned number, uint64_t value) { return varint(number << 3) + varint(value); }

std::string field(unsigned number, const std::string &bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string tensorProto(const std::string &name, unsigned dataType, const std::vector<int64_t> &dims, const void *data,
                        size_t bytes) {
  std::string text;
  for (int64_t dim : dims)
    text += field(1, uint64_t(dim));
  return text + field(2, dataType) + field(8, name) + field(9, std::string(static_cast<const char *>(data), bytes));
}

} // namespace tenon::test
