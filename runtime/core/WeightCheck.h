//===- WeightCheck.h - weights are hashed before they are used -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight that differs in one bit gives another result, or an index that lies
// outside of its table. So a block of weights is compared with its hash before the
// first launch that reads it, by all threads of the session, and never again.
// Nothing is hashed that no launch reads, and what was hashed is still in the cache
// when the launch reads it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_WEIGHTCHECK_H
#define TENON_RUNTIME_CORE_WEIGHTCHECK_H

#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/WeightPlaces.h"
#include "runtime/plan/WeightUses.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace tenon::rt {

/// Tracks which blocks of an artifact's weights have been verified. Thread-safe.
class WeightCheck {
public:
  /// If it is not called, every block counts as verified. The caller keeps the bytes and places.
  Status start(const uint8_t *weights, const WeightPlaces &weightPlaces, Container::BlockHashes hashes);

  /// Whether there is anything to check.
  bool isWanted() const { return !blocks.hashes.empty(); }
  uint64_t blockSize() const { return blocks.blockSize; }
  /// True if weights are hashed in the blocks in which they are read; older files have a single hash.
  bool isByBlocks() const { return isWanted() && blocks.blockSize == kWeightBlock; }

  bool isRight(uint64_t block) const { return right[block].load(std::memory_order_acquire); }
  /// Compares a block with its hash; returns false if they differ.
  bool check(uint64_t block) const;
  /// Describes why `check` returned false. `reader` is the node that needs the block.
  Status mismatch(uint64_t block, const char *reader) const;

private:
  uint64_t hashOf(uint64_t block) const;

  const WeightPlaces *places = nullptr;
  const uint8_t *bytes = nullptr;
  uint64_t numBytes = 0;
  Container::BlockHashes blocks;
  std::unique_ptr<std::atomic<bool>[]> right; ///< one for each block
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_WEIGHTCHECK_H
