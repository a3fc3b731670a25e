//===- FolderFile.cpp - small files of a model's folder -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/FolderFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon::text;

// limit: the largest tokenizer.json of 2025 has 33 MB, and its parsed form is about ten times as large.
static constexpr off_t kMaxFileBytes = 512 << 20;

static Status readOpened(int file, const std::string &path, std::string &content) {
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    return Status::make(TENON_INVALID, "%s: is no regular file", path.c_str());
  if (info.st_size > kMaxFileBytes)
    return Status::make(TENON_RESOURCES, "%s: has %lld bytes, more than the %lld that are supported", path.c_str(),
                        static_cast<long long>(info.st_size), static_cast<long long>(kMaxFileBytes));
  content.resize(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < content.size()) {
    ssize_t count = read(file, content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return Status::make(TENON_INVALID, "%s: %s", path.c_str(), strerror(errno));
    if (count == 0)
      break;
    done += static_cast<size_t>(count);
  }
  content.resize(done);
  return {};
}

Status tenon::text::readFile(const std::string &path, bool followsLinks, std::string &content) {
  // Opening a pipe without a writer would block forever.
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
  if (file < 0) {
    const char *reason =
        errno == ELOOP ? "is a symbolic link, which is not followed; copy the folder with cp -rL" : strerror(errno);
    return Status::make(TENON_INVALID, "%s: %s", path.c_str(), reason);
  }
  Status status = readOpened(file, path, content);
  close(file);
  return status;
}

bool tenon::text::existsFile(const std::string &path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}

bool tenon::text::isFolder(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}
