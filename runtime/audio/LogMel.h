//===- LogMel.h - spectrograms of speech ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_AUDIO_LOGMEL_H
#define TENON_RUNTIME_AUDIO_LOGMEL_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::audio {

inline constexpr uint32_t kSpeechRate = 16000; // format: samples per second that Whisper is trained with
inline constexpr size_t kHop = 160;            // format: samples between two columns of a spectrogram, 10 ms

/// Computes the log-mel spectrogram that Whisper takes, [bands, columns] row by row: the first `columns` * kHop
/// samples, padded with zeros if there are fewer, in windows of 25 ms (Hann), whose power is summed up in bands of
/// equal width on Slaney's mel scale up to 8 kHz; its logarithm to base 10, at most 8 below the largest, is scaled by
/// (x + 4) / 4. As transformers' WhisperFeatureExtractor does it, but in f64. There are at least two columns.
std::vector<float> computeLogMel(const std::vector<float> &samples, size_t bands, size_t columns);

} // namespace tenon::audio

#endif // TENON_RUNTIME_AUDIO_LOGMEL_H
