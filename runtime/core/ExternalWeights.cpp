//===- ExternalWeights.cpp - weights of several files at one stretch of addresses ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ExternalWeights.h"

#include "runtime/base/CheckedMath.h"
#include "runtime/base/FreeMemory.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tenon::rt {

ExternalWeights::~ExternalWeights() {
  if (bytes_)
    munmap(bytes_, size);
}

Status ExternalWeights::openFiles(const WeightPlaces &places, const char *folder) {
  for (const fmt::ExternalFile &wanted : places.files) {
    MappedFile &file = files.emplace_back();
    if (Status opened = file.openBelow(folder, wanted.name); opened.failed())
      return Status::make(TENON_INVALID,
                          "its weights are in '%s', which %s; put it there, or name its folder by --weights-dir or "
                          "weights_dir",
                          wanted.name, opened.message());
    if (file.size() != wanted.size)
      return Status::make(TENON_INVALID,
                          "its weights are in '%s', which has %zu bytes in '%s', and should have %" PRIu64
                          ": it is not the file that was compiled",
                          wanted.name, file.size(), folder, wanted.size);
  }
  return {};
}

Status ExternalWeights::map(const WeightPlaces &places, const uint8_t *own, const MappedFile *artifact, uint64_t offset,
                            const char *folder, WeightRegion *region) {
  if (uint64_t(sysconf(_SC_PAGESIZE)) > fmt::kPageSize)
    return Status::make(TENON_UNSUPPORTED, "pages of %ld bytes, with which weights of other files cannot be mapped",
                        sysconf(_SC_PAGESIZE));
  TENON_TRY(openFiles(places, folder));
  if (!checkedAlign(places.size, fmt::kPageSize, &size))
    return Status::make(TENON_INVALID, "damaged: its weights have %" PRIu64 " bytes", places.size);
  uint64_t copied = 0; // of an artifact that is no file
  for (const fmt::WeightSegment &segment : places.segments)
    copied += !segment.file && !artifact ? segment.size : 0;
  TENON_TRY(checkFreeMemory(copied, "weights"));
  // Unmapped parts are zeros, whatever a plan claims.
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return Status::make(TENON_RESOURCES, "the system has no addresses for %" PRIu64 " bytes of weights: %s", size,
                        strerror(errno));
  bytes_ = static_cast<uint8_t *>(memory);
  for (const fmt::WeightSegment &segment : places.segments) {
    uint8_t *address = bytes_ + segment.begin;
    if (!segment.file && !artifact) {
      memcpy(address, own + segment.offset, segment.size);
      continue;
    }
    const MappedFile &file = segment.file ? files[segment.file - 1] : *artifact;
    uint64_t begin = segment.file ? segment.offset : offset + segment.offset;
    TENON_TRY(file.mapAt(address, begin, segment.size));
    region->add(bytes_, segment.begin, segment.size, file, begin);
  }
  mprotect(bytes_, size, PROT_READ);
  return {};
}

} // namespace tenon::rt
