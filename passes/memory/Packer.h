//===- Packer.h - places for buffers in one arena -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The algorithm stands apart from the IR: lifetimes and sizes in, offsets out.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PACKER_H
#define TENON_PASSES_MEMORY_PACKER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace tenon {

/// A buffer that is in use at times [lower, upper).
struct PackerBuffer {
  int64_t lower, upper;
  int64_t size; ///< bytes; 0 takes no place
};

struct Packing {
  std::vector<int64_t> offsets; ///< one a buffer, multiples of the alignment
  int64_t peak = 0;             ///< bytes of the arena
};

/// Gives each buffer a place, such that buffers in use at one time do not overlap. Tries several orders (by
/// size, by lifetime, by area, by start) with best fit and first fit, and keeps the smallest arena. The same
/// input gives the same offsets. O(n^2 log n) for each order.
///
/// Greedy offline placement as in Sekiyama et al., "Profile-guided memory optimization for deep neural
/// networks" (2018), and Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020).
Packing packBuffers(const std::vector<PackerBuffer> &buffers, int64_t alignment);

/// The largest sum of the (aligned) sizes of buffers in use at one time: no arena is smaller.
int64_t getPackingLowerBound(const std::vector<PackerBuffer> &buffers, int64_t alignment);

/// Checks a packing, by other means than those that make one. Nothing where it is right, else the numbers of
/// two buffers that collide (or of one twice, that lies outside of the arena or is not aligned).
std::optional<std::pair<size_t, size_t>> findPackingFault(const std::vector<PackerBuffer> &buffers,
                                                          const Packing &packing, int64_t alignment);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_PACKER_H
