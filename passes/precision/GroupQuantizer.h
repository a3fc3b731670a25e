//===- GroupQuantizer.h - a matrix of floats as integers with scales -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Neighbours along a row share a scale, and maybe a zero point: x = (number - zero) * scale. Numbers are rounded to
// nearest. The scale of four bits is the one among some candidates with which the squared error of its group is least,
// refined by least squares; that scales of both signs are tried, so that the largest element may be -8, is an idea of
// ggml (https://github.com/ggml-org/ggml). The algorithm stands apart from the IR: bytes in, bytes out.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_GROUPQUANTIZER_H
#define TENON_PASSES_PRECISION_GROUPQUANTIZER_H

#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tenon {

/// Types of the elements of a matrix.
enum class FloatKind { f16, bf16, f32, f64 };

float toFloat(FloatKind kind, const char *element);
/// Rounds to nearest, ties to even. Numbers beyond the range of f16 become infinite.
uint16_t toF16Bits(float value);
uint16_t toBf16Bits(float value);

/// How the numbers of a matrix are stored.
struct GroupFormat {
  int64_t bits = 4;          ///< 4 or 8
  int64_t group = 32;        ///< neighbours along a row with one scale
  bool isAsymmetric = false; ///< groups have a zero point of their own
  bool hasF16Scales = false; ///< scales are rounded to f16

  /// True if numbers are signed; unsigned numbers of symmetric groups have their zero point in the middle.
  bool isSigned() const { return bits == 8 && !isAsymmetric; }
};

/// The scale of a group and what stands for 0.
struct GroupCode {
  float scale = 0;
  int32_t zero = 0;
};

/// The scale and zero point with which the squared error of a group is least, among those that are tried. Elements are
/// finite and at most 1e37; errors are weighted by `importance`, which has a positive weight for each element, or is
/// empty.
GroupCode chooseCode(llvm::ArrayRef<float> elements, llvm::ArrayRef<float> importance, const GroupFormat &format);

/// The scale as it is stored.
float roundScale(float scale, const GroupFormat &format);
/// Whether f16 has a scale without a loss of bits.
bool fitsF16(float scale);

/// Bounds of numbers less their zero point.
struct NumberRange {
  float low, high;

  float clamp(float value) const { return std::min(std::max(value, low), high); }
  /// Rounds to nearest, ties to even, and clamps.
  float round(float value) const {
    constexpr float kRounder = 0x1.8p23f; // math: units of f32 are 1 there
    // The sum rounds what is clamped, and so small enough: an instruction that all vectors have.
    return clamp(value) + kRounder - kRounder;
  }
};
NumberRange getNumberRange(const GroupFormat &format, const GroupCode &code);

/// Quantizes one group of such elements; `numbers` get the stored bytes.
GroupCode quantizeGroup(llvm::ArrayRef<float> elements, const GroupFormat &format, llvm::MutableArrayRef<char> numbers);

/// A matrix in memory, whose rows run along the summed dimension: element (row, i) is at offset row * rowStride + i *
/// stride.
struct FloatMatrix {
  const char *data;
  FloatKind kind;
  int64_t rows, depth, rowStride, stride; ///< strides in elements

  size_t getElementBytes() const { return kind == FloatKind::f64 ? 8 : kind == FloatKind::f32 ? 4 : 2; }
};

/// What a part of a quantized matrix is off by.
struct QuantizationError {
  double squaredError = 0, squares = 0; ///< sums over elements
  bool isFinite = true;                 ///< all elements are, and below 1e37; others have no number
  bool fitsF16 = true;                  ///< no scale loses bits in f16
  /// The squared error of products with the inputs of a calibration, and the squares of these products; else 0.
  double squaredOutputError = 0, outputSquares = 0;

  void add(const QuantizationError &other);
  /// Of the root of the sum of squares: 0.01 is 1 %.
  double getRelative() const;
  double getRelativeOfOutputs() const;
};

/// The destination of a quantized matrix: numbers have the matrix's layout, one byte each; scales and zero points are
/// [rows, groups] with strides of their own.
struct QuantizedStorage {
  char *numbers;
  char *scales; ///< f16 or f32, as the format says
  char *zeros;  ///< a byte each; null where groups have none of their own
  int64_t groupRowStride, groupStride;
};

/// The number of rows that are quantized together, so that whole cache lines are read if rows are adjacent in memory.
inline constexpr int64_t kRowsOfBlock = 16; // format: elements of f32 in a cache line

class CalibratedQuantizer;

/// Quantizes rows [begin, end): each group by itself, or whole rows for the inputs that `calibrated` has seen.
QuantizationError quantizeRows(const FloatMatrix &matrix, int64_t begin, int64_t end, const GroupFormat &format,
                               const QuantizedStorage &storage, const CalibratedQuantizer *calibrated = nullptr);

} // namespace tenon

#endif // TENON_PASSES_PRECISION_GROUPQUANTIZER_H
