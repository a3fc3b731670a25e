//===- MappedFile.cpp - a file in memory, read only ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::rt {

MappedFile::~MappedFile() {
  if (bytes_)
    munmap(bytes_, size_);
}

Status MappedFile::open(const char *path) {
  // Without O_NONBLOCK a named pipe would hold us until somebody writes to it.
  int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return Status::make(TENON_INVALID, "cannot be opened: %s", strerror(errno));
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return Status::make(TENON_INVALID, "not a regular file");
  }
  if (info.st_size == 0) {
    close(file);
    return Status::make(TENON_INVALID, "empty");
  }
  void *bytes = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  int error = errno;
  close(file);
  if (bytes == MAP_FAILED)
    return Status::make(TENON_RESOURCES, "cannot be mapped: %s", strerror(error));
  bytes_ = static_cast<uint8_t *>(bytes);
  size_ = size_t(info.st_size);
  return {};
}

void MappedFile::release(const void *bytes, uint64_t size) const {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE)), offset = uint64_t(static_cast<const uint8_t *>(bytes) - bytes_);
  uint64_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
  if (begin < end)
    madvise(bytes_ + begin, end - begin, MADV_DONTNEED);
}

} // namespace tenon::rt
