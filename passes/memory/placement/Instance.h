//===- Instance.h - buffers that need places in one arena -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_INSTANCE_H
#define TENON_PASSES_MEMORY_PLACEMENT_INSTANCE_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::placement {

/// A buffer that is in use at times [lower, upper). A buffer of zero bytes or an empty lifetime takes no place.
struct Buffer {
  int64_t lower, upper;
  int64_t size;          ///< bytes
  int64_t alignment = 1; ///< its offset is a multiple of this

  bool takesPlace() const { return size > 0 && lower < upper; }
};

using Instance = std::vector<Buffer>;

struct Placement {
  std::vector<int64_t> offsets; ///< one a buffer; 0 where a buffer takes no place
  int64_t peak = 0;             ///< bytes of the arena
};

struct InstanceFault {
  size_t buffer;
  std::string text;
};

/// Describes the first invalid buffer. All other functions of this library require a valid instance, in which no sum of
/// sizes overflows, whatever the placement.
std::optional<InstanceFault> findInstanceFault(const Instance &instance);

/// Whether two buffers need different bytes.
bool inConflict(const Buffer &a, const Buffer &b);

int64_t alignTo(int64_t value, int64_t alignment);

/// Returns the largest total size of buffers in use at one time, which is a lower bound for the arena.
int64_t getLowerBound(const Instance &instance);

/// The largest end of a buffer that takes a place.
int64_t getPeak(const Instance &instance, const std::vector<int64_t> &offsets);

/// Lifetimes as ranges of columns: one column for each maximal set of buffers in use at one time. Two buffers are in
/// conflict if their ranges intersect.
struct Columns {
  struct Range {
    uint32_t begin = 0, end = 0; ///< empty where the buffer takes no place
  };
  std::vector<Range> ranges; ///< one a buffer
  uint32_t count = 0;
};

Columns getColumns(const Instance &instance);

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_INSTANCE_H
