//===- Footprint.cpp - the memory that sizes come to ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Footprint.h"

#include "runtime/base/CheckedMath.h"
#include "runtime/format/Kernel.h"
#include "runtime/format/Layout.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

Status addUpOutputs(const Plan &plan, const int64_t *exprs, uint64_t *needed) {
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const Tensor &output = plan.outputs[i];
    int64_t shape[fmt::kMaxRank];
    assert(output.dims.count <= fmt::kMaxRank && "verified tensors have few dimensions");
    for (uint32_t d = 0; d < output.dims.count; ++d)
      shape[d] = exprs[plan.dims[output.dims.begin + d]];
    needed[i] = tenon_tensor_bytes(output.dtype, output.dims.count, shape);
    if (needed[i] == UINT64_MAX)
      return Status::make(TENON_INVALID,
                          "output '%s' has a dimension that is negative, or more elements than "
                          "any memory holds",
                          output.name);
  }
  for (uint32_t index : plan.movingBuffers) {
    const Buffer &buffer = plan.buffers[index];
    if (buffer.storage != Storage::output)
      continue;
    int64_t end;
    if (exprs[buffer.offset] < 0 || exprs[buffer.size] < 0 ||
        __builtin_add_overflow(exprs[buffer.offset], exprs[buffer.size], &end))
      return Status::make(TENON_INVALID, "buffer '%s' has %lld bytes at %lld", buffer.name,
                          (long long)exprs[buffer.size], (long long)exprs[buffer.offset]);
    needed[buffer.index] = std::max(needed[buffer.index], uint64_t(end));
  }
  return {};
}

Status addUpScratch(const Plan &plan, const int64_t *exprs, uint64_t *stride) {
  int64_t bytes = exprs[plan.scratchSize];
  // Scratch memory of different threads must not share a cache line nor, if it is large, a page.
  uint64_t grain = bytes < 4096 ? 2 * TENON_BUFFER_ALIGNMENT : 4096;
  if (bytes < 0 || !checkedAlign(uint64_t(bytes), grain, stride))
    return Status::make(TENON_INVALID, "the scratch memory of a thread comes to %lld bytes", (long long)bytes);
  return {};
}

uint64_t boundHeap(const Plan &plan, const std::vector<Interval> &bounds) {
  assert(bounds.size() == plan.exprs.size() && "an expression has its bounds");
  std::vector<uint64_t> blocks(plan.heapBlocks);
  for (const Instruction &instruction : plan.instructions) {
    if (instruction.op != fmt::Opcode::reserve)
      continue;
    const Interval &size = bounds[plan.sizes[instruction.exprs.begin]];
    if (!size.isBounded())
      return UINT64_MAX;
    // A block that grows does so by half as much again.
    uint64_t most = uint64_t(std::max<int64_t>(size.max, 0));
    blocks[instruction.a] = std::max(blocks[instruction.a], most + most / 2);
  }
  uint64_t sum = 0;
  for (uint64_t block : blocks)
    if (!checkedAdd(sum, block, &sum))
      return UINT64_MAX;
  return sum;
}

uint64_t boundOutputs(const Plan &plan, const std::vector<Interval> &bounds) {
  assert(bounds.size() == plan.exprs.size() && "an expression has its bounds");
  std::vector<uint64_t> needed(plan.outputs.size());
  for (uint32_t index : plan.movingBuffers) {
    const Buffer &buffer = plan.buffers[index];
    const Interval &offset = bounds[buffer.offset], &size = bounds[buffer.size];
    if (buffer.storage != Storage::output)
      continue;
    if (!offset.isBounded() || !size.isBounded())
      return UINT64_MAX;
    uint64_t end = uint64_t(std::max<int64_t>(offset.max, 0)) + uint64_t(std::max<int64_t>(size.max, 0));
    needed[buffer.index] = std::max(needed[buffer.index], end);
  }
  uint64_t sum = 0;
  for (uint64_t bytes : needed)
    if (!checkedAdd(sum, bytes, &sum))
      return UINT64_MAX;
  return sum;
}

} // namespace tenon::rt
