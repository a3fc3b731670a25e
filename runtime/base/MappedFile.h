//===- MappedFile.h - a file in memory, read only ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_MAPPEDFILE_H
#define TENON_RUNTIME_BASE_MAPPEDFILE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>

namespace tenon::rt {

/// The mapped bytes of a regular file, which are read from disk on first access.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept : bytes_(other.bytes_), size_(other.size_), file(other.file) {
    other.bytes_ = nullptr;
    other.size_ = 0;
    other.file = -1;
  }
  MappedFile &operator=(MappedFile &&) = delete;
  ~MappedFile();

  /// May be called once.
  Status open(const char *path);
  /// Opens a file below a folder, without following symbolic links, and does not map it.
  Status openBelow(const char *folder, const char *name);
  /// Maps a part of the file over the memory at an address, both multiples of the page size; beyond the end of the
  /// file, the last page is filled with zeros. The mapping is never removed. The functions below accept addresses of
  /// any mapping of this file.
  Status mapAt(void *address, uint64_t offset, uint64_t size) const;

  /// Reads the pages of a part into memory by one system call. Fails if the file was truncated or cannot be read, which
  /// would raise a signal if the pages were accessed directly.
  Status populate(const void *bytes, uint64_t size) const;
  /// Reads a part, and nothing around it, into the page cache. `scratch` is a buffer of `scratchSize` bytes.
  void readAlone(uint64_t offset, uint64_t size, void *scratch, uint64_t scratchSize) const;
  /// True if reading the byte at `offset` needs no disk access. False if the system cannot tell.
  bool isCached(uint64_t offset) const;
  /// Makes readAlone() keep to its word.
  void expectRandom() const;
  /// When a page is mapped, the kernel also maps cached pages around it; `isApart` prevents that beyond the ends of
  /// this part.
  void setApart(const void *bytes, uint64_t size, bool isApart) const;

  /// Releases the whole pages within a part: they are read again on the next access.
  void release(const void *bytes, uint64_t size) const;
  /// Also evicts a released part from the page cache, unless somebody else has mapped it.
  void forget(uint64_t offset, uint64_t size) const;

  const uint8_t *bytes() const { return bytes_; }
  size_t size() const { return size_; }

private:
  uint8_t *bytes_ = nullptr;
  size_t size_ = 0;
  int file = -1;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_MAPPEDFILE_H
