//===- MappedFile.cpp - a file in memory, read only ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/MappedFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace tenon::rt {

MappedFile::~MappedFile() {
  if (bytes_)
    munmap(bytes_, size_);
  if (file >= 0)
    close(file);
}

Status MappedFile::open(const char *path) {
  // Without O_NONBLOCK a named pipe would hold us until somebody writes to it.
  file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return Status::make(TENON_INVALID, "cannot be opened: %s", strerror(errno));
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    return Status::make(TENON_INVALID, "not a regular file");
  if (info.st_size == 0)
    return Status::make(TENON_INVALID, "empty");
  void *bytes = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED)
    return Status::make(TENON_RESOURCES, "cannot be mapped: %s", strerror(errno));
  bytes_ = static_cast<uint8_t *>(bytes);
  size_ = size_t(info.st_size);
  return {};
}

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 // Linux 5.14; older headers do not name it
#endif

Status MappedFile::populate(const void *bytes, uint64_t size) const {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE)), offset = uint64_t(static_cast<const uint8_t *>(bytes) - bytes_);
  uint64_t begin = offset / page * page, end = std::min<uint64_t>((offset + size + page - 1) / page * page, size_);
  if (begin >= end || madvise(bytes_ + begin, end - begin, MADV_POPULATE_READ) == 0)
    return {};
  if (errno == EINVAL) {
    // An older system: touching the pages is all there is.
    for (uint64_t i = begin; i < end; i += page)
      (void)*const_cast<const volatile uint8_t *>(bytes_ + i);
    return {};
  }
  if (errno == ENOMEM)
    return Status::make(TENON_RESOURCES, "the system has no memory for %llu bytes of weights",
                        (unsigned long long)(end - begin));
  return Status::make(TENON_INVALID, "its bytes from %llu to %llu cannot be read: it was cut short, or its disk fails",
                      (unsigned long long)begin, (unsigned long long)end);
}

void MappedFile::readAlone(uint64_t offset, uint64_t size, void *scratch, uint64_t scratchSize) const {
  // An error shows where the pages are mapped.
  for (uint64_t done = 0; done < size;) {
    ssize_t count = pread(file, scratch, std::min(scratchSize, size - done), off_t(offset + done));
    if (count <= 0)
      return;
    done += uint64_t(count);
  }
}

bool MappedFile::isCached(uint64_t offset) const {
  uint8_t byte;
  iovec place{&byte, 1};
  return preadv2(file, &place, 1, off_t(offset), RWF_NOWAIT) == 1;
}

void MappedFile::expectRandom() const { posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM); }

void MappedFile::setApart(const void *bytes, uint64_t size, bool isApart) const {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE)), offset = uint64_t(static_cast<const uint8_t *>(bytes) - bytes_);
  uint64_t begin = offset / page * page;
  // Other advice makes another mapping of it, as far as the system goes.
  madvise(bytes_ + begin, offset + size - begin, isApart ? MADV_SEQUENTIAL : MADV_NORMAL);
}

void MappedFile::forget(uint64_t offset, uint64_t size) const {
  posix_fadvise(file, off_t(offset), off_t(size), POSIX_FADV_DONTNEED);
}

void MappedFile::release(const void *bytes, uint64_t size) const {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE)), offset = uint64_t(static_cast<const uint8_t *>(bytes) - bytes_);
  uint64_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
  if (begin < end)
    madvise(bytes_ + begin, end - begin, MADV_DONTNEED);
}

} // namespace tenon::rt
