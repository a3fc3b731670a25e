//===- ExternalWeights.h - weights of several files at one stretch of addresses ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_EXTERNALWEIGHTS_H
#define TENON_RUNTIME_CORE_EXTERNALWEIGHTS_H

#include "runtime/core/WeightRegion.h"
#include "runtime/plan/WeightPlaces.h"

#include <deque>

namespace tenon::rt {

/// Maps the segments of weights, of the artifact and of other files, to consecutive addresses.
class ExternalWeights {
public:
  ExternalWeights() = default;
  ExternalWeights(ExternalWeights &&) = delete;
  ~ExternalWeights();

  /// May be called once. `own` are the bytes of the artifact's weights section, at `offset` in the file `artifact`; if
  /// `artifact` is null, they are copied. Other files are opened in `folder`. `region` receives all file mappings.
  Status map(const WeightPlaces &places, const uint8_t *own, const MappedFile *artifact, uint64_t offset,
             const char *folder, WeightRegion *region);

  const uint8_t *bytes() const { return bytes_; }

private:
  Status openFiles(const WeightPlaces &places, const char *folder);

  uint8_t *bytes_ = nullptr;
  uint64_t size = 0;
  std::deque<MappedFile> files;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_EXTERNALWEIGHTS_H
