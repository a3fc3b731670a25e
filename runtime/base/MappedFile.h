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
  MappedFile(MappedFile &&other) noexcept : bytes_(other.bytes_), size_(other.size_) {
    other.bytes_ = nullptr;
    other.size_ = 0;
  }
  MappedFile &operator=(MappedFile &&) = delete;
  ~MappedFile();

  /// May be called once.
  Status open(const char *path);

  /// Gives the whole pages of a part of it back: they are read again when they are touched.
  void release(const void *bytes, uint64_t size) const;

  const uint8_t *bytes() const { return bytes_; }
  size_t size() const { return size_; }

private:
  uint8_t *bytes_ = nullptr;
  size_t size_ = 0;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_MAPPEDFILE_H
