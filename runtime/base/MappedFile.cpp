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
#include <string>
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

/// Accepts an opened file if it is regular and nonempty.
static Status checkFile(int file, size_t *size) {
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    return Status::make(TENON_INVALID, "not a regular file");
  if (info.st_size == 0)
    return Status::make(TENON_INVALID, "empty");
  *size = size_t(info.st_size);
  return {};
}

Status MappedFile::open(const char *path) {
  // Without O_NONBLOCK, opening a named pipe would block until somebody writes to it.
  file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return Status::make(TENON_INVALID, "cannot be opened: %s", strerror(errno));
  size_t size = 0;
  TENON_TRY(checkFile(file, &size));
  void *bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED)
    return Status::make(TENON_RESOURCES, "cannot be mapped: %s", strerror(errno));
  bytes_ = static_cast<uint8_t *>(bytes);
  size_ = size;
  return {};
}

Status MappedFile::openBelow(const char *folder, const char *name) {
  int at = ::open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const char *part = name; at >= 0 && *part;) {
    const char *end = strchrnul(part, '/');
    std::string own(part, size_t(end - part));
    int flags = *end ? O_PATH | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
    int next = openat(at, own.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    close(at);
    errno = error;
    at = next;
    part = *end ? end + 1 : end;
  }
  if (at < 0)
    return Status::make(TENON_INVALID, "cannot be opened in '%s': %s", folder,
                        errno == ELOOP ? "it is a symbolic link" : strerror(errno));
  file = at;
  return checkFile(file, &size_);
}

Status MappedFile::mapAt(void *address, uint64_t offset, uint64_t size) const {
  if (mmap(address, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, off_t(offset)) == MAP_FAILED)
    return Status::make(TENON_RESOURCES, "cannot be mapped: %s", strerror(errno));
  return {};
}

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 // Linux 5.14; older headers do not name it
#endif

/// The pages that bytes lie in.
static uint8_t *firstPage(const void *bytes, uint64_t page) {
  return reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(bytes) / page * page);
}

Status MappedFile::populate(const void *bytes, uint64_t size) const {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  uint8_t *begin = firstPage(bytes, page),
          *end = firstPage(static_cast<const uint8_t *>(bytes) + size + page - 1, page);
  if (begin >= end || madvise(begin, size_t(end - begin), MADV_POPULATE_READ) == 0)
    return {};
  if (errno == EINVAL) {
    // On an older kernel, touching the pages is the only way.
    for (const volatile uint8_t *i = begin; i < end; i += page)
      (void)*i;
    return {};
  }
  if (errno == ENOMEM)
    return Status::make(TENON_RESOURCES, "the system has no memory for %llu bytes of weights",
                        (unsigned long long)(end - begin));
  return Status::make(TENON_INVALID,
                      "%llu bytes of weights cannot be read: their file was cut short, or its disk fails",
                      (unsigned long long)size);
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
  uint8_t *begin = firstPage(bytes, uint64_t(sysconf(_SC_PAGESIZE)));
  // Different advice splits the mapping, if the system allows it.
  madvise(begin, size_t(static_cast<const uint8_t *>(bytes) + size - begin), isApart ? MADV_SEQUENTIAL : MADV_NORMAL);
}

void MappedFile::forget(uint64_t offset, uint64_t size) const {
  posix_fadvise(file, off_t(offset), off_t(size), POSIX_FADV_DONTNEED);
}

void MappedFile::release(const void *bytes, uint64_t size) const {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  uint8_t *begin = firstPage(static_cast<const uint8_t *>(bytes) + page - 1, page),
          *end = firstPage(static_cast<const uint8_t *>(bytes) + size, page);
  if (begin < end)
    madvise(begin, size_t(end - begin), MADV_DONTNEED);
}

} // namespace tenon::rt
