//===- SizeCache.h - what follows from the last few sets of sizes --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_SIZECACHE_H
#define TENON_RUNTIME_CORE_SIZECACHE_H

#include "runtime/plan/Plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::rt {

/// The sizes that follow from one set of input shapes and state rows.
struct BoundSizes {
  bool isEvaluated = false;  // symbols and expressions, as they are before a run
  bool hasAddresses = false; // buffers, operands and sizes; what lies with the caller may have moved since
  uint64_t lastUse = 0;
  std::vector<int64_t> dims; // of the inputs, as in Plan::dims
  std::vector<int64_t> rows; // of the states, as bindSymbols takes them
  std::vector<int64_t> symbols;
  std::vector<int64_t> exprs;
  std::vector<uint8_t> symbolKnown, exprKnown; // whether there is a value yet; flags
  std::vector<void *> buffers;                 // one for each buffer of the plan
  std::vector<void *> operands;                // as in Plan::operands
  std::vector<int64_t> sizes;                  // as in Plan::sizes
  std::vector<uint32_t> work; // nanoseconds that an instruction takes one thread, 0 where that is not known
  uint32_t runs = 0;          // of these sizes
};

/// An LRU cache of sizes, so that a model which alternates between a few shapes does not evaluate them again. All
/// memory is allocated at the start: for kCapacity sets, for fewer if they would exceed kBytes, and for one if no input
/// has a dynamic dimension.
class SizeCache {
public:
  static constexpr size_t kCapacity = 8;
  static constexpr size_t kBytes = 4u << 20;

  void start(const Plan &plan);

  /// Returns the set for these shapes and rows; if isEvaluated is false, they are new, and the set replaces the least
  /// recently used one. If only the rows are new, the times of instructions are kept. The reference is valid until the
  /// cache has returned kCapacity other sets.
  BoundSizes &find(const int64_t *dims, const int64_t *rows);

  /// Memory of the session has moved.
  void forgetAddresses();

private:
  std::vector<BoundSizes> entries;
  uint64_t uses = 0;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_SIZECACHE_H
