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

/// All that follows from one set of shapes of the inputs and of rows of the states.
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

/// Keeps the sizes that were used last, so that a model which alternates between a few shapes evaluates none of
/// them again. All memory is allocated at the start: kCapacity sets, fewer where the plan is so large that they
/// would come to more than kBytes, and one where no input has an open dimension.
class SizeCache {
public:
  static constexpr size_t kCapacity = 8;
  static constexpr size_t kBytes = 4u << 20;

  void start(const Plan &plan);

  /// The set for these shapes and rows: where isEvaluated is false they are new, and it stands in for the one that has
  /// not been used for the longest time. Where rows alone are new, what instructions take is what it was with others.
  /// It stays valid until the cache has given out kCapacity others.
  BoundSizes &find(const int64_t *dims, const int64_t *rows);

  /// Memory of the session has moved.
  void forgetAddresses();

private:
  std::vector<BoundSizes> entries;
  uint64_t uses = 0;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_SIZECACHE_H
