//===- SessionWeights.cpp - weights are checked before a launch reads them ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Session.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

/// Lists the instructions that read weights. Instructions that release weights read none. With a pager, the pager's
/// threads verify the weights.
void Session::listUnchecked() {
  bool isWanted = artifact.weightCheck().isWanted() && !pager;
  weightsUnchecked.resize(plan.instructions.size());
  for (size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction &instruction = plan.instructions[i];
    releasesWeights |= instruction.op == fmt::Opcode::release;
    if (instruction.op == fmt::Opcode::release)
      continue;
    const uint32_t *operands = plan.operands.data() + instruction.buffers.begin;
    weightsUnchecked[i] = isWanted && std::any_of(operands, operands + instruction.buffers.count, [&](uint32_t buffer) {
                            return plan.buffers[buffer].storage == Storage::weight;
                          });
    numUnchecked += weightsUnchecked[i];
  }
  watchesWeights = pager || numUnchecked;
}

/// Before the first instruction of a run.
void Session::beginWeights() {
  if (pager) {
    assert(&program >= artifact.programs().data() && &program <= &artifact.programs().back() &&
           "a session runs a program of its artifact");
    pager->beginRun(uint32_t(&program - artifact.programs().data()));
    return;
  }
  if (!isFirstRun)
    return;
  isFirstRun = false;
  // A plan that releases weights is made for having few of them in memory.
  if (readsAhead != TENON_READ_AHEAD_NEVER && !releasesWeights && artifact.weightRegion().isMapped())
    readAhead.start(artifact.weightRegion(), artifact.weightCheck(),
                    listWeightUses(plan, artifact.weightBytes()).listByFirstUse(),
                    readsAhead == TENON_READ_AHEAD_ALWAYS);
}

/// Ensures that the weights of the current instruction are verified and, with a budget, in memory.
Status Session::enterWeights(const Instruction &instruction) {
  if (numUnchecked)
    return checkWeights(instruction);
  if (!pager) {
    watchesWeights = false;
    return {};
  }
  if (pager->tryTake(current))
    return {};
  TENON_TRY(wait());
  return pager->take(current, instruction.name);
}

/// Verifies the weights that an instruction reads, as far as nobody has. Pending commands run first, so that the blocks
/// are still in cache when the instruction reads them.
Status Session::checkWeights(const Instruction &instruction) {
  if (!weightsUnchecked[current])
    return {};
  const WeightCheck &weights = artifact.weightCheck();
  bool isFixed = true; // the same bytes in every run
  blocksToCheck.clear();
  for (uint32_t i = 0; i < instruction.buffers.count; ++i) {
    const Buffer &buffer = plan.buffers[plan.operands[instruction.buffers.begin + i]];
    uint64_t begin = uint64_t(bound->exprs[buffer.offset]), size = uint64_t(bound->exprs[buffer.size]);
    if (buffer.storage != Storage::weight)
      continue;
    isFixed &= plan.exprs[buffer.offset].op == ExprOp::constant && plan.exprs[buffer.size].op == ExprOp::constant;
    if (!size)
      continue;
    // resolve() has checked that the buffer is within the weights.
    for (uint64_t block = begin / weights.blockSize(); block <= (begin + size - 1) / weights.blockSize(); ++block)
      if (!weights.isRight(block))
        blocksToCheck.push_back(block);
  }
  if (!blocksToCheck.empty()) {
    TENON_TRY(wait());
    auto check = [](const void *context, uint64_t i) {
      const Session &session = *static_cast<const Session *>(context);
      return session.artifact.weightCheck().check(session.blocksToCheck[size_t(i)]);
    };
    if (!queue.runOnHost(blocksToCheck.size(), check, this))
      for (uint64_t block : blocksToCheck)
        if (!weights.isRight(block))
          return weights.mismatch(block, instruction.name);
    releaseNeighbours(instruction);
  }
  if (isFixed) {
    assert(numUnchecked > 0 && "an instruction whose weights are checked is counted");
    weightsUnchecked[current] = false;
    --numUnchecked;
  }
  return {};
}

/// A plan that releases weights is made for having no others in memory than it uses: bytes of the verified blocks that
/// the instruction does not use are released again. Pages that are needed later are read again from the page cache.
void Session::releaseNeighbours(const Instruction &instruction) const {
  if (!releasesWeights)
    return;
  uint64_t blockSize = artifact.weightCheck().blockSize();
  for (uint32_t i = 0; i < instruction.buffers.count; ++i) {
    const Buffer &buffer = plan.buffers[plan.operands[instruction.buffers.begin + i]];
    if (buffer.storage != Storage::weight)
      continue;
    uint64_t begin = uint64_t(bound->exprs[buffer.offset]), end = begin + uint64_t(bound->exprs[buffer.size]);
    uint64_t first = begin / blockSize * blockSize,
             last = std::min((end + blockSize - 1) / blockSize * blockSize, artifact.weightBytes());
    artifact.releaseWeights(artifact.weights() + first, begin - first);
    if (end < last)
      artifact.releaseWeights(artifact.weights() + end, last - end);
  }
}

} // namespace tenon::rt
