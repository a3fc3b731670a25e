//===- ResizeTaps.cpp - which elements make up an element of a resized axis ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/ResizeTaps.h"
#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::onnx_import;

std::optional<ResizeMode> onnx_import::parseResizeMode(const std::string &text) {
  if (text == "nearest")
    return ResizeMode::nearest;
  // Upsample called it bilinear and trilinear too.
  if (text == "linear" || text == "bilinear" || text == "trilinear")
    return ResizeMode::linear;
  if (text == "cubic")
    return ResizeMode::cubic;
  return std::nullopt;
}

std::optional<CoordinateMode> onnx_import::parseCoordinateMode(const std::string &text) {
  if (text == "half_pixel")
    return CoordinateMode::halfPixel;
  if (text == "half_pixel_symmetric")
    return CoordinateMode::halfPixelSymmetric;
  if (text == "pytorch_half_pixel")
    return CoordinateMode::pytorchHalfPixel;
  if (text == "align_corners")
    return CoordinateMode::alignCorners;
  if (text == "asymmetric")
    return CoordinateMode::asymmetric;
  if (text == "tf_crop_and_resize")
    return CoordinateMode::cropAndResize;
  return std::nullopt;
}

std::optional<NearestMode> onnx_import::parseNearestMode(const std::string &text) {
  if (text == "round_prefer_floor")
    return NearestMode::roundPreferFloor;
  if (text == "round_prefer_ceil")
    return NearestMode::roundPreferCeil;
  if (text == "floor")
    return NearestMode::floor;
  if (text == "ceil")
    return NearestMode::ceil;
  return std::nullopt;
}

/// Returns the position of the centre of output i on the input axis.
static double getCentre(const ResizeAxis &a, int64_t in, int64_t out, int64_t i) {
  double length = a.scale * static_cast<double>(in), last = static_cast<double>(in - 1);
  double x = static_cast<double>(i), halfPixel = (x + 0.5) / a.scale - 0.5;
  switch (a.coordinates) {
  case CoordinateMode::halfPixel:
    return halfPixel;
  case CoordinateMode::halfPixelSymmetric: {
    double adjustment = static_cast<double>(out) / length;
    return static_cast<double>(in) / 2 * (1 - adjustment) + halfPixel;
  }
  case CoordinateMode::pytorchHalfPixel:
    return length > 1 ? halfPixel : 0;
  case CoordinateMode::alignCorners:
    return length == 1 ? 0 : x * last / (length - 1);
  case CoordinateMode::asymmetric:
    return x / a.scale;
  case CoordinateMode::cropAndResize: {
    double extent = (a.cropEnd - a.cropStart) * last;
    return a.cropStart * last + (length == 1 ? extent / 2 : x * extent / (length - 1));
  }
  }
  return 0;
}

static double evaluateCubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Returns the weights of the elements from `start` on, relative to the element left of the centre; `ratio`, in (0, 1],
/// is the distance of the centre from that element.
static std::vector<double> getWeights(const ResizeAxis &a, double ratio, int64_t &start) {
  if (a.mode == ResizeMode::nearest) {
    start = 0;
    bool right = ratio == 1 || a.nearest == NearestMode::ceil ||
                 (a.nearest == NearestMode::roundPreferFloor && ratio > 0.5) ||
                 (a.nearest == NearestMode::roundPreferCeil && ratio >= 0.5);
    return {right ? 0.0 : 1.0, right ? 1.0 : 0.0};
  }
  // Downsampling with antialiasing widens the kernel by the scale factor.
  double scale = a.antialias ? std::min(a.scale, 1.0) : 1.0, reach = a.mode == ResizeMode::linear ? 1 : 2;
  start = static_cast<int64_t>(std::floor(-reach / scale)) + 1;
  std::vector<double> weights;
  for (int64_t i = start; i < 2 - start; ++i) {
    double x = (static_cast<double>(i) - ratio) * scale;
    weights.push_back(a.mode == ResizeMode::linear ? std::clamp(1 - std::abs(x), 0.0, 1.0)
                                                   : evaluateCubic(x, a.cubicCoefficient));
  }
  return weights;
}

static void divideBySum(std::vector<double> &weights) {
  double sum = 0;
  for (double weight : weights)
    sum += weight;
  for (double &weight : weights)
    weight = sum == 0 ? weight : weight / sum;
}

ResizeTaps onnx_import::computeTaps(const ResizeAxis &a, int64_t in, int64_t out) {
  ResizeTaps taps;
  for (int64_t i = 0; i < out; ++i) {
    double centre = getCentre(a, in, out, i), left = std::ceil(centre) - 1;
    int64_t start;
    std::vector<double> weights = getWeights(a, centre - left, start);
    taps.indices.resize(std::max(taps.indices.size(), weights.size()), std::vector<int64_t>(out, 0));
    taps.weights.resize(std::max(taps.weights.size(), weights.size()), std::vector<double>(out, 0));
    int64_t first = static_cast<int64_t>(std::clamp(left, -1e9, 1e9)) + start;
    for (size_t k = 0; k < weights.size(); ++k) {
      int64_t index = first + static_cast<int64_t>(k);
      if (a.excludeOutside && (index < 0 || index >= in))
        weights[k] = 0;
      taps.indices[k][i] = std::clamp<int64_t>(index, 0, in - 1);
    }
    if (a.excludeOutside || a.antialias)
      divideBySum(weights);
    for (size_t k = 0; k < weights.size(); ++k)
      taps.weights[k][i] = weights[k];
    taps.outside.push_back(a.coordinates == CoordinateMode::cropAndResize &&
                           (centre < 0 || centre > static_cast<double>(in - 1)));
  }
  return taps;
}

bool onnx_import::isRepetition(const ResizeAxis &a) {
  if (a.mode != ResizeMode::nearest || a.scale != std::floor(a.scale) || a.scale < 1 || a.scale > 64 ||
      a.coordinates == CoordinateMode::alignCorners || a.coordinates == CoordinateMode::cropAndResize)
    return false;
  // The other modes are translation-invariant, so a few elements represent all.
  const int64_t in = 8;
  int64_t factor = static_cast<int64_t>(a.scale);
  ResizeTaps taps = computeTaps(a, in, in * factor);
  for (int64_t i = 0; i < in * factor; ++i)
    if (taps.indices[taps.weights[0][i] == 1 ? 0 : 1][i] != i / factor)
      return false;
  return true;
}
