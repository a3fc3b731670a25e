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

/// The bytes of a regular file, mapped: they are read from disk when they are first touched.
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
  /// Opens a file below a folder, reached by no symbolic link, and maps nothing. Likewise.
  Status openBelow(const char *folder, const char *name);
  /// Maps a part of it over what is at an address, both multiples of the page size; beyond its end there are zeros up
  /// to the next page. Nobody unmaps it. What follows takes addresses of any mapping of this file.
  Status mapAt(void *address, uint64_t offset, uint64_t size) const;

  /// Reads the pages of a part of it into memory, by one call of the system. Fails where the file has become shorter,
  /// or cannot be read, of which a program that touches them itself hears by a signal.
  Status populate(const void *bytes, uint64_t size) const;
  /// Reads a part of it, and nothing around it, into the system's cache. `scratch` is a buffer of `scratchSize` bytes.
  void readAlone(uint64_t offset, uint64_t size, void *scratch, uint64_t scratchSize) const;
  /// Whether a read of the byte at `offset` needs no disk. False where the system cannot tell.
  bool isCached(uint64_t offset) const;
  /// Makes readAlone() keep to its word.
  void expectRandom() const;
  /// Where pages of a part are mapped, the system maps those around them along, as far as they are in its cache; not
  /// beyond the ends of a part that is set apart.
  void setApart(const void *bytes, uint64_t size, bool isApart) const;

  /// Gives the whole pages of a part of it back: they are read again when they are touched.
  void release(const void *bytes, uint64_t size) const;
  /// Takes a part of it that was released out of the system's cache, too, as far as nobody else has it mapped.
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
