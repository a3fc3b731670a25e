//===- Memory.h - memory straight from the system ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_MEMORY_H
#define TENON_RUNTIME_BASE_MEMORY_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tenon::rt {

/// A block of zeroed pages that only grows. Its address is a multiple of the page size, and of a huge page
/// where it is large enough to use those.
class Memory {
public:
  Memory() = default;
  Memory(Memory &&other) noexcept : bytes_(other.bytes_), capacity_(other.capacity_) {
    other.bytes_ = nullptr;
    other.capacity_ = 0;
  }
  Memory &operator=(Memory &&other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Memory();

  /// Makes room for `size` bytes. Does nothing where there is room already; otherwise the block may move.
  /// What it holds moves along if `keep` is true, and is lost if not. `what` names it in a failure.
  Status reserve(uint64_t size, bool keep, const char *what);

  /// Sets all of it to zero by giving the pages back.
  void clear();

  uint8_t *bytes() const { return bytes_; }
  uint64_t capacity() const { return capacity_; }

private:
  uint8_t *bytes_ = nullptr;
  uint64_t capacity_ = 0;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_MEMORY_H
