//===- MachineLimits.h - the limits of this machine --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the speed of models is compared with, measured: the best of many short samples counts, because other work on
// the machine only makes them slower.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_LIMITS_MACHINELIMITS_H
#define TENON_TOOLS_LIMITS_MACHINELIMITS_H

#include <cstddef>

namespace tenon {

struct MachineLimits {
  const char *instructions = ""; ///< that multiply-adds were measured with: "avx512f"
  double flopsPerSecond = 0;     ///< f32 multiply-adds, two each, with all operands in registers
  double readBytesPerSecond = 0; ///< from memory
};

/// The effort of the measurements. The default takes about a second.
struct MeasuringEffort {
  int computeSamples = 20;
  int readSamples = 16;
  size_t readBytes = size_t(512) << 20; ///< more than any cache holds
};

/// Measures with `threads` threads, at least 1, in parallel. Returns false if memory or threads are unavailable.
bool measureMachineLimits(unsigned threads, const MeasuringEffort &effort, MachineLimits *limits);

} // namespace tenon

#endif // TENON_TOOLS_LIMITS_MACHINELIMITS_H
