//===- ResizeTaps.h - which elements make up an element of a resized axis -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_RESIZETAPS_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_RESIZETAPS_H

#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon::onnx_import {

enum class ResizeMode { nearest, linear, cubic };
enum class CoordinateMode { halfPixel, halfPixelSymmetric, pytorchHalfPixel, alignCorners, asymmetric, cropAndResize };
enum class NearestMode { roundPreferFloor, roundPreferCeil, floor, ceil };

/// How one axis is resized. `scale` is out / in as the model specifies it, which may differ from the quotient of the
/// extents because of rounding.
struct ResizeAxis {
  ResizeMode mode = ResizeMode::nearest;
  CoordinateMode coordinates = CoordinateMode::halfPixel;
  NearestMode nearest = NearestMode::roundPreferFloor;
  double scale = 1, cubicCoefficient = -0.75, cropStart = 0, cropEnd = 1;
  bool excludeOutside = false, antialias = false;
};

/// The input elements whose weighted sum is output i: `indices[k][i]`, in bounds, with `weights[k][i]`. `outside` is
/// true for outputs whose centre is outside the input, if the mode has another value for these.
struct ResizeTaps {
  std::vector<std::vector<int64_t>> indices;
  std::vector<std::vector<double>> weights;
  std::vector<bool> outside;
};

ResizeTaps computeTaps(const ResizeAxis &axis, int64_t in, int64_t out);

/// True if nearest resizing by an integer factor repeats each element that many times, for all extents.
bool isRepetition(const ResizeAxis &axis);

std::optional<ResizeMode> parseResizeMode(const std::string &text);
std::optional<CoordinateMode> parseCoordinateMode(const std::string &text);
std::optional<NearestMode> parseNearestMode(const std::string &text);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_RESIZETAPS_H
