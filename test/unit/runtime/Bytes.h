//===- Bytes.h - memory with a known alignment ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_RUNTIME_BYTES_H
#define TENON_TEST_UNIT_RUNTIME_BYTES_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace tenon::test {

/// Bytes that start at a multiple of 64, as an artifact in memory must, with nothing readable after them
/// that the address sanitizer would not notice.
struct Bytes {
  struct Free {
    void operator()(uint8_t *bytes) const { free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> memory;
  size_t size = 0;

  Bytes() = default;
  explicit Bytes(size_t size) : size(size) {
    void *block = nullptr;
    if (posix_memalign(&block, 64, size ? size : 1) != 0)
      abort();
    memory.reset(static_cast<uint8_t *>(block));
    memset(block, 0, size);
  }
  Bytes(const void *from, size_t size) : Bytes(size) {
    if (size)
      memcpy(memory.get(), from, size);
  }

  uint8_t *data() const { return memory.get(); }
  Bytes cut(size_t length) const { return Bytes(data(), length); }
  Bytes copy() const { return Bytes(data(), size); }
};

/// A whole file; fails the program where it cannot be read.
Bytes readFile(const std::string &path);
void writeFile(const std::string &path, const void *bytes, size_t size);

} // namespace tenon::test

#endif // TENON_TEST_UNIT_RUNTIME_BYTES_H
