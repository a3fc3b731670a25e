//===- LogMel.cpp - spectrograms of speech --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/audio/LogMel.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <complex>

using namespace tenon::audio;
using Complex = std::complex<double>;

static constexpr size_t kWindow = 400;           // format: samples of a window, 25 ms
static constexpr size_t kBins = kWindow / 2 + 1; // math: frequencies of a real signal
static constexpr double kPi = 3.14159265358979323846;

namespace {

/// The discrete Fourier transform of a window, by Cooley and Tukey with the factors 16 and 25.
class Transform {
public:
  Transform() {
    for (size_t i = 0; i < kWindow; ++i)
      roots[i] = std::polar(1.0, -2 * kPi * double(i) / kWindow);
  }

  /// Computes the power of each frequency of a real signal.
  void computePower(const std::array<double, kWindow> &signal, std::array<double, kBins> &power) const {
    std::array<Complex, kWindow> inner; // [kOuter][kInner]
    for (size_t n = 0; n < kOuter; ++n)
      for (size_t k = 0; k < kInner; ++k) {
        Complex sum;
        for (size_t i = 0; i < kInner; ++i)
          sum += signal[kOuter * i + n] * roots[kOuter * i * k % kWindow];
        inner[n * kInner + k] = sum * roots[n * k];
      }
    for (size_t k = 0; k < kBins; ++k) {
      Complex sum;
      for (size_t n = 0; n < kOuter; ++n)
        sum += inner[n * kInner + k % kInner] * roots[kInner * n * (k / kInner) % kWindow];
      power[k] = std::norm(sum);
    }
  }

private:
  static constexpr size_t kInner = 16, kOuter = kWindow / kInner; // math: factors of 400
  std::array<Complex, kWindow> roots;
};

} // namespace

//===----------------------------------------------------------------------===//
// Mel bands
//===----------------------------------------------------------------------===//

/// Slaney's scale, "Auditory Toolbox", 1998: linear up to 1 kHz, which is 15, and logarithmic above.
static double melToHertz(double mel) {
  constexpr double kLinear = 15;
  return mel < kLinear ? mel * 200 / 3 : 1000 * std::exp((mel - kLinear) * std::log(6.4) / 27);
}

static double hertzToMel(double hertz) {
  return hertz < 1000 ? hertz * 3 / 200 : 15 + std::log(hertz / 1000) * 27 / std::log(6.4);
}

/// Returns the weight of each frequency in each band, [bands][kBins]: triangles of the same area.
static std::vector<std::array<double, kBins>> makeBands(size_t bands) {
  std::vector<double> corners(bands + 2);
  double top = hertzToMel(double(kSpeechRate) / 2);
  for (size_t i = 0; i < corners.size(); ++i)
    corners[i] = melToHertz(top * double(i) / double(bands + 1));
  std::vector<std::array<double, kBins>> weights(bands);
  for (size_t band = 0; band < bands; ++band) {
    double low = corners[band], middle = corners[band + 1], high = corners[band + 2];
    for (size_t bin = 0; bin < kBins; ++bin) {
      double hertz = double(bin) * kSpeechRate / kWindow;
      double weight = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      weights[band][bin] = std::max(weight, 0.0) * 2 / (high - low);
    }
  }
  return weights;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Returns a sample at a place from -200 on, where samples before the first and after the last of `count` are
/// reflections.
static double getReflected(const std::vector<float> &samples, ptrdiff_t place, ptrdiff_t count) {
  place = place < 0 ? -place : place;
  place = place >= count ? 2 * (count - 1) - place : place;
  return static_cast<size_t>(place) < samples.size() ? double(samples[static_cast<size_t>(place)]) : 0;
}

std::vector<float> tenon::audio::computeLogMel(const std::vector<float> &samples, size_t bands, size_t columns) {
  assert(columns >= 2 && "half a window is reflected");
  Transform transform;
  std::vector<std::array<double, kBins>> weights = makeBands(bands);
  std::array<double, kWindow> hann, signal;
  for (size_t i = 0; i < kWindow; ++i)
    hann[i] = 0.5 - 0.5 * std::cos(2 * kPi * double(i) / kWindow);
  std::vector<double> logs(bands * columns);
  std::array<double, kBins> power;
  for (size_t column = 0; column < columns; ++column) {
    auto begin = static_cast<ptrdiff_t>(column * kHop) - static_cast<ptrdiff_t>(kWindow / 2);
    for (size_t i = 0; i < kWindow; ++i)
      signal[i] =
          hann[i] * getReflected(samples, begin + static_cast<ptrdiff_t>(i), static_cast<ptrdiff_t>(columns * kHop));
    transform.computePower(signal, power);
    for (size_t band = 0; band < bands; ++band) {
      double sum = 0;
      for (size_t bin = 0; bin < kBins; ++bin)
        sum += weights[band][bin] * power[bin];
      constexpr double kQuietest = 1e-10; // format: of Whisper's training
      logs[band * columns + column] = std::log10(std::max(sum, kQuietest));
    }
  }
  constexpr double kRange = 8; // format: of Whisper's training
  double lowest = *std::max_element(logs.begin(), logs.end()) - kRange;
  std::vector<float> result(logs.size());
  std::transform(logs.begin(), logs.end(), result.begin(),
                 [&](double value) { return static_cast<float>((std::max(value, lowest) + 4) / 4); });
  return result;
}
