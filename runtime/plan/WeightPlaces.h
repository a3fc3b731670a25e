//===- WeightPlaces.h - weights that lie in other files -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_WEIGHTPLACES_H
#define TENON_RUNTIME_PLAN_WEIGHTPLACES_H

#include "runtime/plan/Container.h"

namespace tenon::rt {

/// The verified section of places: the files and offsets of an artifact's weights.
struct WeightPlaces {
  std::vector<fmt::ExternalFile> files;
  std::vector<fmt::WeightSegment> segments; ///< in the order of their addresses, without a gap
  uint64_t size = 0;                        ///< of all weights

  bool areExternal() const { return !files.empty(); }
  /// Bytes that lie in other files.
  uint64_t externalBytes() const;
  /// Returns the file that contains a byte of the weights; null if it is the artifact.
  const fmt::ExternalFile *fileOf(uint64_t byte) const;
};

/// If the file has no weights, the size is 0; without a section of places, they are one segment.
Status readWeightPlaces(const Container &container, WeightPlaces *places);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_WEIGHTPLACES_H
