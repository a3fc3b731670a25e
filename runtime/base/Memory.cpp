//===- Memory.cpp - memory straight from the system ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Memory.h"

#include "runtime/base/CheckedMath.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace tenon::rt {

/// Large enough that growing is rare.
static constexpr uint64_t kGranularity = kPageMultiple;

Memory::~Memory() {
  if (bytes_)
    munmap(bytes_, capacity_);
}

void Memory::clear() {
  if (bytes_)
    madvise(bytes_, capacity_, MADV_DONTNEED);
}

/// Maps `size` bytes, aligned to the huge page size if they fill a huge page.
static uint8_t *map(uint64_t size) {
  uint64_t extra = size >= kHugePage ? kHugePage : 0;
  void *memory = mmap(nullptr, size + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  uint8_t *bytes = static_cast<uint8_t *>(memory);
  if (!extra)
    return bytes;
  uint64_t front = -reinterpret_cast<uintptr_t>(bytes) & (kHugePage - 1);
  if (front)
    munmap(bytes, front);
  if (extra - front)
    munmap(bytes + front + size, extra - front);
  bytes += front;
  madvise(bytes, size, MADV_HUGEPAGE);
  return bytes;
}

Status Memory::reserve(uint64_t size, bool keep, const char *what) {
  if (size <= capacity_)
    return {};
  uint64_t rounded;
  uint8_t *bytes = nullptr;
  if (checkedAlign(size, kGranularity, &rounded) && rounded < uint64_t(INT64_MAX) - kHugePage) {
    bytes = map(rounded);
    if (bytes && keep && capacity_) {
      // Moves the pages instead of copying them.
      void *moved = mremap(bytes_, capacity_, capacity_, MREMAP_MAYMOVE | MREMAP_FIXED, bytes);
      if (moved == MAP_FAILED) {
        munmap(bytes, rounded);
        bytes = nullptr;
      } else {
        bytes_ = nullptr;
      }
    }
  }
  if (!bytes)
    return Status::make(TENON_RESOURCES, "the system has no %llu bytes for %s; bind smaller inputs",
                        (unsigned long long)size, what);
  if (bytes_)
    munmap(bytes_, capacity_);
  bytes_ = bytes;
  capacity_ = rounded;
  return {};
}

} // namespace tenon::rt
