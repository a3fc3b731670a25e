//===- WeightPlaces.cpp - weights that lie in other files ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/WeightPlaces.h"

#include "runtime/base/CheckedMath.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace tenon::rt {

uint64_t WeightPlaces::externalBytes() const {
  uint64_t bytes = 0;
  for (const fmt::WeightSegment &segment : segments)
    bytes += segment.file ? segment.size : 0;
  return bytes;
}

const fmt::ExternalFile *WeightPlaces::fileOf(uint64_t byte) const {
  for (const fmt::WeightSegment &segment : segments)
    if (byte >= segment.begin && byte - segment.begin < segment.size)
      return segment.file ? &files[segment.file - 1] : nullptr;
  return nullptr;
}

/// True if a name is printable, and is a relative path that stays below its folder.
static bool isBelow(const char *name, size_t capacity) {
  size_t length = strnlen(name, capacity);
  if (length == 0 || length == capacity)
    return false;
  for (size_t i = length; i < capacity; ++i)
    if (name[i])
      return false;
  for (size_t i = 0; i < length; ++i)
    if (uint8_t(name[i]) < ' ' || name[i] == 0x7f)
      return false;
  for (const char *part = name;; ++part) {
    const char *end = strchrnul(part, '/');
    size_t size = size_t(end - part);
    if (size == 0 || (size == 1 && part[0] == '.') || (size == 2 && part[0] == '.' && part[1] == '.'))
      return false;
    if (!*end)
      return true;
    part = end;
  }
}

static Status checkSegments(const WeightPlaces &places, uint64_t ownBytes) {
  uint64_t begin = 0, own = 0;
  for (size_t i = 0; i < places.segments.size(); ++i) {
    const fmt::WeightSegment &segment = places.segments[i];
    bool isLast = i + 1 == places.segments.size();
    if (segment.begin != begin || segment.zero || segment.size == 0 || segment.file > places.files.size() ||
        segment.begin % fmt::kPageSize || segment.offset % fmt::kPageSize ||
        (segment.size % fmt::kPageSize && !isLast) || !checkedAdd(begin, segment.size, &begin) || begin > INT64_MAX)
      return Status::make(TENON_INVALID, "damaged: segment %zu of its weights is not a valid range", i);
    uint64_t size = segment.file ? places.files[segment.file - 1].size : ownBytes, end;
    // The last page of a file may be a part of one.
    if (segment.offset >= size || !checkedAdd(segment.offset, segment.size, &end) ||
        (end > size && end - size >= fmt::kPageSize) || (!segment.file && (segment.offset != own || end > size)))
      return Status::make(TENON_INVALID, "damaged: segment %zu of its weights lies outside of its file", i);
    own += segment.file ? 0 : segment.size;
  }
  if (own != ownBytes)
    return Status::make(TENON_INVALID, "damaged: its weights have %" PRIu64 " bytes, of which %" PRIu64 " have a place",
                        ownBytes, own);
  return {};
}

Status readWeightPlaces(const Container &container, WeightPlaces *places) {
  const fmt::Section *weights = container.find(fmt::SectionKind::weights),
                     *section = container.find(fmt::SectionKind::places);
  uint64_t ownBytes = weights ? weights->size : 0;
  places->size = ownBytes;
  if (!section) {
    places->segments.push_back({0, ownBytes, 0, 0, 0});
    return {};
  }
  TENON_TRY(container.checkHash(*section));
  fmt::WeightPlaces counts;
  const uint8_t *bytes = container.data(*section);
  if (!weights || section->size < sizeof counts)
    return Status::make(TENON_INVALID, "damaged: it has places of weights, and %s", weights ? "too few" : "no weights");
  memcpy(&counts, bytes, sizeof counts);
  bool isFine = counts.fileCount > 0 && counts.fileCount <= fmt::kMaxExternalFiles && counts.segmentCount > 0 &&
                counts.segmentCount <= fmt::kMaxWeightSegments &&
                section->size == sizeof counts + counts.fileCount * sizeof(fmt::ExternalFile) +
                                     counts.segmentCount * sizeof(fmt::WeightSegment);
  if (!isFine)
    return Status::make(TENON_INVALID, "damaged: %" PRIu64 " bytes of places for %u files and %u segments",
                        section->size, counts.fileCount, counts.segmentCount);
  places->files.resize(counts.fileCount);
  places->segments.resize(counts.segmentCount);
  memcpy(places->files.data(), bytes + sizeof counts, counts.fileCount * sizeof(fmt::ExternalFile));
  memcpy(places->segments.data(), bytes + sizeof counts + counts.fileCount * sizeof(fmt::ExternalFile),
         counts.segmentCount * sizeof(fmt::WeightSegment));
  for (uint32_t i = 0; i < counts.fileCount; ++i)
    if (!isBelow(places->files[i].name, sizeof places->files[i].name))
      return Status::make(TENON_INVALID, "damaged: the name of file %u that weights are in leads out of its folder", i);
  TENON_TRY(checkSegments(*places, ownBytes));
  places->size = places->segments.back().begin + places->segments.back().size;
  return {};
}

} // namespace tenon::rt
