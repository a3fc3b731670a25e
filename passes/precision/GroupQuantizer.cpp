//===- GroupQuantizer.cpp - a matrix of floats as integers with scales -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/GroupQuantizer.h"
#include "passes/precision/CalibratedQuantizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// Converts f16 to f32: the exponent is adjusted by a multiplication, which is exact for subnormal numbers, too.
static float fromF16(uint16_t bits) {
  uint32_t magnitude = bits & 0x7fffu, sign = uint32_t(bits & 0x8000u) << 16;
  // If all exponent bits are set, the number is infinite or NaN.
  float value = magnitude >= 0x7c00u ? bit_cast<float>(0x7f800000u | (magnitude & 0x3ffu) << 13)
                                     : bit_cast<float>(magnitude << 13) * 0x1p112f;
  return bit_cast<float>(bit_cast<uint32_t>(value) | sign);
}

float tenon::toFloat(FloatKind kind, const char *element) {
  uint16_t half;
  double wide;
  float value;
  switch (kind) {
  case FloatKind::f16:
    std::memcpy(&half, element, sizeof half);
    return fromF16(half);
  case FloatKind::bf16:
    std::memcpy(&half, element, sizeof half);
    return bit_cast<float>(uint32_t(half) << 16);
  case FloatKind::f32:
    std::memcpy(&value, element, sizeof value);
    return value;
  case FloatKind::f64:
    std::memcpy(&wide, element, sizeof wide);
    return static_cast<float>(wide);
  }
  return 0;
}

uint16_t tenon::toF16Bits(float value) {
  uint32_t bits = bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) // 65520, which rounds to more than f16 has
    return static_cast<uint16_t>(sign | 0x7c00u);
  // Below 2^-14 the unit of f16 is 2^-24, which is also that of f32 near 0.5: adding 0.5 rounds to it.
  if (magnitude < 0x38800000u)
    return static_cast<uint16_t>(sign | (bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u));
  magnitude += 0xfffu + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u) >> 13));
}

uint16_t tenon::toBf16Bits(float value) {
  uint32_t bits = bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
/// The sums that determine how well numbers fit a group: of x * n and n * n over its elements, where n is a number
/// minus the zero point.
struct Fit {
  double product = 0, square = 0;

  /// Returns by how much the squared error is smaller than the sum of squares with the best scale for these numbers.
  double getGain() const { return square > 0 ? product * product / square : 0; }
  float getScale() const { return square > 0 ? static_cast<float>(product / square) : 0; }
};
} // namespace

namespace {
/// A group whose scale is searched.
struct Group {
  ArrayRef<float> elements, importance;
};
} // namespace

/// The fit of the numbers that elements become with a scale of 1 / `inverse`.
template <bool isWeighted> static Fit measureFit(Group group, float inverse, NumberRange range) {
  // Independent sums become vectors.
  constexpr size_t kLanes = 8; // math: any number gives sums of the same elements
  float products[kLanes] = {}, squares[kLanes] = {};
  auto add = [&](size_t i, size_t lane) {
    float x = group.elements[i], number = range.round(x * inverse);
    float weighted = isWeighted ? number * group.importance[i] : number;
    products[lane] += x * weighted;
    squares[lane] += number * weighted;
  };
  size_t count = group.elements.size(), whole = count / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      add(i + lane, lane);
  for (size_t i = whole; i < count; ++i)
    add(i, i - whole);
  Fit fit;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    fit.product += products[lane];
    fit.square += squares[lane];
  }
  return fit;
}

static Fit measureFit(Group group, float inverse, NumberRange range) {
  return group.importance.empty() ? measureFit<false>(group, inverse, range) : measureFit<true>(group, inverse, range);
}

/// The scale of signed numbers from `low` to -`low` - 1 with the least squared error.
static float searchScale(Group group, float largest, float low) {
  // The largest element becomes a little more or less than the largest number.
  constexpr int kSteps = 12;         // limit: of effort; more find little
  constexpr float kStep = 1.0f / 80; // math: a tenth of a number of four bits
  float best = largest / low;
  double bestGain = -1;
  for (int step = -kSteps; step <= kSteps; ++step) {
    Fit fit = measureFit(group, low * (1 + kStep * step) / largest, {low, -low - 1});
    if (fit.getGain() > bestGain) {
      bestGain = fit.getGain();
      best = fit.getScale();
    }
  }
  return best;
}

/// The same of numbers from 0 to `high` with a zero point.
static GroupCode searchRange(Group group, float least, float most, float high, bool searches) {
  constexpr int kSteps = 16;         // limit: of effort; more find little
  constexpr float kStep = 1.0f / 40; // math: shares of the range
  GroupCode best;
  double bestGain = -1;
  for (int step = 0; step <= (searches ? kSteps : 0); ++step) {
    float scale = (most - least) * (1 - kStep * step) / high;
    float middle = std::min(std::max(std::round(-least * (1 - kStep * step) / scale), 0.0f), high);
    for (float zero : {middle, middle - 1, middle + 1}) {
      if (zero < 0 || zero > high || (!searches && zero != middle))
        continue;
      Fit fit = measureFit(group, 1 / scale, {-zero, high - zero});
      if (fit.getGain() <= bestGain)
        continue;
      bestGain = fit.getGain();
      best = {searches ? fit.getScale() : scale, static_cast<int32_t>(zero)};
    }
  }
  return best;
}

float tenon::roundScale(float scale, const GroupFormat &format) {
  if (!format.hasF16Scales)
    return scale;
  uint16_t rounded = toF16Bits(scale);
  return toFloat(FloatKind::f16, reinterpret_cast<const char *>(&rounded));
}

/// Whether f16 has a scale without a loss of bits.
bool tenon::fitsF16(float scale) {
  constexpr float kLeast = 0x1p-14f, kMost = 65504; // math: the normal numbers of f16
  return scale == 0 || (std::abs(scale) >= kLeast && std::abs(scale) <= kMost);
}

/// The element of the largest magnitude, with its sign; 0 where that is too small for its inverse.
static float findLargest(ArrayRef<float> elements) {
  constexpr float kLeast = 1e-30f; // math: the range of f32
  float largest = 0;
  for (float x : elements)
    if (std::abs(x) > std::abs(largest))
      largest = x;
  return std::abs(largest) < kLeast ? 0 : largest;
}

GroupCode tenon::chooseCode(ArrayRef<float> elements, ArrayRef<float> importance, const GroupFormat &format) {
  assert((importance.empty() || importance.size() == elements.size()) && "each element has a weight, or none has");
  bool isInt4 = format.bits == 4;
  float half = static_cast<float>(1 << (format.bits - 1)), high = 2 * half - 1;
  GroupCode code;
  float largest = findLargest(elements);
  if (format.isAsymmetric) {
    float least = 0, most = 0;
    for (float x : elements) {
      least = std::min(least, x);
      most = std::max(most, x);
    }
    if (largest != 0)
      code = searchRange({elements, importance}, least, most, high, isInt4);
  } else {
    code.zero = format.isSigned() ? 0 : static_cast<int32_t>(half);
    // With eight bits, -128 is not used: it would require a negative scale in half of the groups, for little gain.
    if (largest != 0)
      code.scale = isInt4 ? searchScale({elements, importance}, largest, -half) : std::abs(largest) / (half - 1);
  }
  code.scale = roundScale(code.scale, format);
  return code;
}

NumberRange tenon::getNumberRange(const GroupFormat &format, const GroupCode &code) {
  float half = static_cast<float>(1 << (format.bits - 1)), zero = static_cast<float>(code.zero);
  return format.isSigned() ? NumberRange{1 - half, half - 1} : NumberRange{-zero, 2 * half - 1 - zero};
}

GroupCode tenon::quantizeGroup(ArrayRef<float> elements, const GroupFormat &format, MutableArrayRef<char> numbers) {
  assert(elements.size() == numbers.size() && "an element becomes a number");
  GroupCode code = chooseCode(elements, {}, format);
  NumberRange range = getNumberRange(format, code);
  float inverse = code.scale == 0 ? 0 : 1 / code.scale, zero = static_cast<float>(code.zero);
  for (auto [x, number] : zip(elements, numbers))
    number = static_cast<char>(static_cast<int32_t>(range.round(x * inverse) + zero));
  return code;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

void QuantizationError::add(const QuantizationError &other) {
  squaredError += other.squaredError;
  squares += other.squares;
  isFinite &= other.isFinite;
  fitsF16 &= other.fitsF16;
  squaredOutputError += other.squaredOutputError;
  outputSquares += other.outputSquares;
}

double QuantizationError::getRelative() const { return squares > 0 ? std::sqrt(squaredError / squares) : 0; }

double QuantizationError::getRelativeOfOutputs() const {
  return outputSquares > 0 ? std::sqrt(squaredOutputError / outputSquares) : 0;
}

/// Calls `visit(row, i)` for all elements of rows [begin, end), in the order of memory.
static void forEachElement(const FloatMatrix &matrix, int64_t begin, int64_t end, auto visit) {
  if (matrix.stride <= matrix.rowStride) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t i = 0; i < matrix.depth; ++i)
        visit(row, i);
  } else {
    for (int64_t i = 0; i < matrix.depth; ++i)
      for (int64_t row = begin; row < end; ++row)
        visit(row, i);
  }
}

/// Copies rows [begin, end) to `block`, each `depth` floats.
static void loadRows(const FloatMatrix &matrix, int64_t begin, int64_t end, float *block) {
  size_t bytes = matrix.getElementBytes();
  forEachElement(matrix, begin, end, [&](int64_t row, int64_t i) {
    const char *element = matrix.data + (row * matrix.rowStride + i * matrix.stride) * int64_t(bytes);
    block[(row - begin) * matrix.depth + i] = toFloat(matrix.kind, element);
  });
}

namespace {
/// Some rows that are quantized together.
struct RowBlock {
  const FloatMatrix &matrix;
  const GroupFormat &format;
  const QuantizedStorage &storage;
  int64_t begin, end;
  const CalibratedQuantizer *calibrated;
  std::vector<float> elements = {};
  std::vector<char> numbers = {};
  std::vector<GroupCode> codes = {};

  QuantizationError quantize();

private:
  int64_t getGroups() const { return static_cast<int64_t>(divideCeil(matrix.depth, format.group)); }
  QuantizationError chooseNumbers();
  QuantizationError storeRow(int64_t row);
  void storeCode(int64_t row, int64_t group, GroupCode code);
  void storeNumbers();
};
} // namespace

void RowBlock::storeCode(int64_t row, int64_t group, GroupCode code) {
  int64_t place = row * storage.groupRowStride + group * storage.groupStride;
  if (format.hasF16Scales) {
    uint16_t scale = toF16Bits(code.scale);
    std::memcpy(storage.scales + place * sizeof scale, &scale, sizeof scale);
  } else {
    std::memcpy(storage.scales + place * sizeof code.scale, &code.scale, sizeof code.scale);
  }
  if (storage.zeros)
    storage.zeros[place] = static_cast<char>(code.zero);
}

QuantizationError RowBlock::chooseNumbers() {
  if (calibrated)
    return calibrated->quantize(elements, format, codes, numbers);
  size_t depth = static_cast<size_t>(matrix.depth), group = static_cast<size_t>(format.group), next = 0;
  for (size_t first = 0; first < elements.size(); first += depth)
    for (size_t start = 0; start < depth; start += group) {
      size_t count = std::min(group, depth - start);
      codes[next++] = quantizeGroup(ArrayRef(elements).slice(first + start, count), format,
                                    MutableArrayRef(numbers).slice(first + start, count));
    }
  return {};
}

QuantizationError RowBlock::storeRow(int64_t row) {
  QuantizationError error;
  int64_t first = (row - begin) * matrix.depth, groups = getGroups();
  for (int64_t group = 0; group < groups; ++group) {
    const GroupCode &code = codes[(row - begin) * groups + group];
    error.fitsF16 &= fitsF16(code.scale);
    storeCode(row, group, code);
    int64_t start = group * format.group, stop = std::min(start + format.group, matrix.depth);
    for (int64_t i = first + start; i < first + stop; ++i) {
      int32_t value = format.isSigned() ? static_cast<int8_t>(numbers[i]) : static_cast<uint8_t>(numbers[i]);
      double off = double(elements[i]) - double(code.scale) * (value - code.zero);
      error.squaredError += off * off;
      error.squares += double(elements[i]) * elements[i];
    }
  }
  return error;
}

void RowBlock::storeNumbers() {
  forEachElement(matrix, begin, end, [&](int64_t row, int64_t i) {
    storage.numbers[row * matrix.rowStride + i * matrix.stride] = numbers[(row - begin) * matrix.depth + i];
  });
}

QuantizationError RowBlock::quantize() {
  size_t count = static_cast<size_t>((end - begin) * matrix.depth);
  elements.resize(count);
  numbers.resize(count);
  codes.resize(static_cast<size_t>((end - begin) * getGroups()));
  loadRows(matrix, begin, end, elements.data());
  QuantizationError error;
  constexpr float kMost = 1e37f; // math: the range of f32, with room for the range of a group
  error.isFinite = all_of(elements, [](float x) { return std::abs(x) <= kMost; });
  if (!error.isFinite)
    return error;
  error.add(chooseNumbers());
  for (int64_t row = begin; row < end; ++row)
    error.add(storeRow(row));
  storeNumbers();
  return error;
}

QuantizationError tenon::quantizeRows(const FloatMatrix &matrix, int64_t begin, int64_t end, const GroupFormat &format,
                                      const QuantizedStorage &storage, const CalibratedQuantizer *calibrated) {
  assert(format.group > 0 && "a row has groups");
  int64_t step = calibrated ? CalibratedQuantizer::kRowsOfBlock : kRowsOfBlock;
  QuantizationError error;
  for (int64_t row = begin; row < end; row += step)
    error.add(RowBlock{matrix, format, storage, row, std::min(row + step, end), calibrated}.quantize());
  return error;
}
