//===- WeightCheck.cpp - weights are hashed before they are used ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/WeightCheck.h"

#include "runtime/base/Hash.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <new>

namespace tenon::rt {

Status WeightCheck::start(const uint8_t *weights, const WeightPlaces &weightPlaces, Container::BlockHashes hashes) {
  if (weightPlaces.size == 0)
    return {};
  assert(hashes.blockSize > 0 &&
         hashes.hashes.size() == (weightPlaces.size + hashes.blockSize - 1) / hashes.blockSize &&
         "each block of the weights has a hash");
  right.reset(new (std::nothrow) std::atomic<bool>[hashes.hashes.size()]());
  if (!right)
    return Status::make(TENON_RESOURCES, "no memory to check %zu blocks of weights", hashes.hashes.size());
  bytes = weights;
  places = &weightPlaces;
  numBytes = places->size;
  blocks = std::move(hashes);
  return {};
}

uint64_t WeightCheck::hashOf(uint64_t block) const {
  assert(block < blocks.hashes.size() && "a block is one of the weights");
  uint64_t begin = block * blocks.blockSize;
  return hashBytes(bytes + begin, std::min(blocks.blockSize, numBytes - begin));
}

bool WeightCheck::check(uint64_t block) const {
  if (isRight(block))
    return true;
  if (hashOf(block) != blocks.hashes[block])
    return false;
  right[block].store(true, std::memory_order_release);
  return true;
}

Status WeightCheck::mismatch(uint64_t block, const char *reader) const {
  uint64_t begin = block * blocks.blockSize, end = begin + std::min(blocks.blockSize, numBytes - begin);
  const fmt::ExternalFile *file = nullptr;
  for (uint64_t byte = begin; byte < end && !file; byte += fmt::kPageSize)
    file = places->fileOf(byte);
  return Status::make(TENON_INVALID,
                      "damaged: the hash of its weights from byte %" PRIu64 " to %" PRIu64
                      ", which node '%s' reads%s%s%s, is %016" PRIx64 ", and should be %016" PRIx64 "; %s",
                      begin, end, reader, file ? " from '" : "", file ? file->name : "", file ? "'" : "", hashOf(block),
                      blocks.hashes[block],
                      file ? "that file or the artifact is not what it was when the model was compiled"
                           : "compile or copy it again");
}

} // namespace tenon::rt
