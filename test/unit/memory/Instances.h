//===- Instances.h - random instances of placement ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_MEMORY_INSTANCES_H
#define TENON_TEST_UNIT_MEMORY_INSTANCES_H

#include "passes/memory/placement/Instance.h"
#include <random>

namespace tenon::placement {

/// A number in [from, to].
int64_t draw(std::mt19937 &random, int64_t from, int64_t to);

/// Sizes and times as networks have them: few distinct sizes, some of 0, short live ranges with a few long ones.
Instance makeNetwork(std::mt19937 &random, size_t count);

/// A rectangle of time and memory, cut into so many buffers: they fit in `capacity` bytes, and just so.
Instance makeCut(std::mt19937 &random, size_t count, int64_t capacity);

/// Makes some sizes and live ranges of a cut smaller, but for the buffers that are in use at its middle.
void trim(std::mt19937 &random, Instance &cut);

/// The smallest peak, by trying everything. For very few buffers.
int64_t getSmallestPeak(const Instance &instance);

} // namespace tenon::placement

#endif // TENON_TEST_UNIT_MEMORY_INSTANCES_H
