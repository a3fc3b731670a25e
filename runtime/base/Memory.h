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

/// A multiple of every supported page size.
inline constexpr uint64_t kPageMultiple = uint64_t(64) << 10;
/// Larger memory is aligned to huge pages.
inline constexpr uint64_t kHugePage = uint64_t(2) << 20;

/// A block of zeroed pages that only grows. Its address is a multiple of the page size, or of the huge page size if it
/// is large enough.
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

  /// Ensures a capacity of `size` bytes. If the block must grow, it may move; its content is moved if `keep` is true,
  /// and lost otherwise. `what` names it in error messages.
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
