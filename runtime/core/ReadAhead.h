//===- ReadAhead.h - weights are read before they are needed ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first run of a model waits for the disk where its weights are not in memory
// yet: page after page, as kernels touch them. Threads of a reader go through the
// weights in the order of their first use instead, map them, and compare them with
// their hashes, while the first launches run already.
//
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_READAHEAD_H
#define TENON_RUNTIME_CORE_READAHEAD_H

#include "runtime/base/Thread.h"
#include "runtime/core/WeightCheck.h"
#include "runtime/core/WeightRegion.h"

#include <atomic>
#include <vector>

namespace tenon::rt {

/// Reads weights once, in the background. Blocks that it has not reached are read on demand.
class ReadAhead {
public:
  ReadAhead() = default;
  ReadAhead(ReadAhead &&) = delete;
  /// Ends the reading, wherever it is.
  ~ReadAhead() { stop(); }

  /// Starts reading these blocks, in this order, after those of earlier calls. Keeps references to region and check.
  /// Without `always` it does nothing if the weights are in the page cache. If the system has no more threads, nothing
  /// is read ahead.
  void start(const WeightRegion &region, const WeightCheck &check, const std::vector<BlockRange> &order, bool always);

private:
  void stop();
  void read();

  const WeightRegion *region = nullptr;
  const WeightCheck *check = nullptr;
  std::vector<BlockRange> pieces;
  std::atomic<size_t> next{0};
  std::atomic<bool> isStopping{false};
  static constexpr int kThreads = 2; // policy: one reads while another hashes; more read no faster from one disk
  Thread threads[kThreads];
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_READAHEAD_H
