//===- WeightRegion.cpp - the files behind the addresses of weights -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/WeightRegion.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

void WeightRegion::add(const uint8_t *weights, uint64_t begin, uint64_t size, const MappedFile &file, uint64_t offset) {
  assert((parts.empty() || parts.back().begin + parts.back().size <= begin) &&
         "files are added in the order of the weights");
  parts.push_back({weights + begin, begin, size, &file, offset});
}

template <typename Use> Status WeightRegion::forEach(BlockRange blocks, Use use) const {
  assert(blocks.begin <= blocks.end && "a range of blocks ends behind its begin");
  uint64_t begin = blocks.begin * kWeightBlock, end = blocks.end * kWeightBlock;
  for (const Part &part : parts) {
    uint64_t first = std::max(begin, part.begin), last = std::min(end, part.begin + part.size);
    if (first < last)
      TENON_TRY(use(part, first - part.begin, last - first));
  }
  return {};
}

Status WeightRegion::load(BlockRange blocks) const {
  return forEach(blocks, [&](const Part &part, uint64_t begin, uint64_t size) {
    return part.file->populate(part.address + begin, size);
  });
}

Status WeightRegion::loadAlone(BlockRange blocks, void *scratch) const {
  return forEach(blocks, [&](const Part &part, uint64_t begin, uint64_t size) {
    if (scratch)
      part.file->readAlone(part.offset + begin, size, scratch, kScratch);
    part.file->setApart(part.address + begin, size, true);
    return part.file->populate(part.address + begin, size);
  });
}

void WeightRegion::release(BlockRange blocks, bool forgets) const {
  (void)forEach(blocks, [&](const Part &part, uint64_t begin, uint64_t size) {
    part.file->release(part.address + begin, size);
    part.file->setApart(part.address + begin, size, false);
    if (forgets)
      part.file->forget(part.offset + begin, size);
    return Status();
  });
}

bool WeightRegion::isCached(uint64_t block) const {
  bool isCached = true;
  // The system reads ahead by more than a page, so sampling a few pages suffices.
  (void)forEach({block, block + 1}, [&](const Part &part, uint64_t begin, uint64_t size) {
    for (uint64_t at : {begin, begin + size / 2, begin + size - 1})
      isCached = isCached && part.file->isCached(part.offset + at);
    return Status();
  });
  return isCached;
}

void WeightRegion::expectRandom() const {
  for (const Part &part : parts)
    part.file->expectRandom();
}

} // namespace tenon::rt
