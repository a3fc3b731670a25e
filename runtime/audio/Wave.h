//===- Wave.h - recordings in WAV files -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_AUDIO_WAVE_H
#define TENON_RUNTIME_AUDIO_WAVE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::audio {

using rt::Status;

/// A recording: the mean of its channels, from -1 to 1.
struct Wave {
  uint32_t rate = 0; ///< samples per second
  std::vector<float> samples;
};

/// Reads a WAV file with integers of 16 bits or floats of 32 bits. Fails with TENON_INVALID if it is damaged, and with
/// TENON_UNSUPPORTED if it has other samples; the message begins with the path.
Status readWave(const std::string &path, Wave &wave);

/// The same for a file in memory; the message does not name it.
Status parseWave(const uint8_t *bytes, size_t size, Wave &wave);

} // namespace tenon::audio

#endif // TENON_RUNTIME_AUDIO_WAVE_H
