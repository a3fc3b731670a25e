//===- PanelPacking.cpp - a dimension of a weight in panels ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/PanelPacking.h"
#include "dialects/tenon/FixedNumbers.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace tenon;

/// Elements are moved as integers of their size.
template <typename T> static void pack(const PanelPacking &p, const T *source, T *target) {
  assert(p.panel > 0 && "a panel has columns");
  for (int64_t first = 0; first < p.extent; first += p.panel) {
    int64_t width = std::min(p.panel, p.extent - first);
    for (int64_t outer = 0; outer < p.outer; ++outer) {
      const T *from = source + (outer * p.extent + first) * p.inner;
      // The loop runs over one block of the inner dimension at a time, so that the lines that it reads stay in the
      // cache.
      constexpr int64_t kBlock = 64;
      for (int64_t begin = 0; begin < p.inner; begin += kBlock) {
        int64_t end = std::min(begin + kBlock, p.inner);
        for (int64_t column = 0; column < width; ++column)
          for (int64_t inner = begin; inner < end; ++inner)
            target[inner * p.panel + column] = from[column * p.inner + inner];
      }
      target += p.inner * p.panel;
    }
  }
}

void tenon::packK4(const K4Packing &p, const char *source, char *target) {
  assert(p.outer >= 0 && p.depth >= 0 && p.columns >= 0 && "extents of a weight are constants");
  for (int64_t column = 0; column < p.columns; ++column)
    for (int64_t outer = 0; outer < p.outer; ++outer) {
      const char *from = source + outer * p.outerStride + column * p.columnStride;
      int64_t groups = ((column / kPanelColumns) * p.outer + outer) * p.getNumK4Groups();
      for (int64_t k = 0; k < p.depth; ++k)
        target[((groups + k / 4) * kPanelColumns + column % kPanelColumns) * 4 + k % 4] = from[k * p.depthStride];
    }
}

/// `getShift` returns the bit of an i32 at which its integer of a number begins.
template <typename T, typename Shift>
static void packIntegers(const IntegerPacking &p, const T *source, uint32_t *target, Shift getShift) {
  uint32_t mask = (1u << p.bits) - 1;
  for (int64_t outer = 0; outer < p.outer; ++outer) {
    for (int64_t i = 0; i < p.extent; ++i) {
      int64_t shift = getShift(i % p.getIntegersPerWord());
      uint32_t *words = target + i / p.getIntegersPerWord() * p.inner;
      for (int64_t inner = 0; inner < p.inner; ++inner)
        words[inner] |= (uint32_t(*source++) & mask) << shift;
    }
    target += p.getNumWords() * p.inner;
  }
}

void tenon::packIntegers(const IntegerPacking &p, const char *source, uint32_t *target) {
  assert(p.outer >= 0 && p.extent >= 0 && p.inner >= 0 && "extents of a weight are constants");
  assert((p.bits == 4 || p.bits == 8 || p.bits == 16) && "an i32 has two integers, or bytes of one or two");
  if (p.bits == 16)
    return ::packIntegers(p, reinterpret_cast<const uint16_t *>(source), target,
                          [](int64_t place) { return place * 16; });
  ::packIntegers(p, source, target, [](int64_t place) { return place % 4 * 8 + place / 4 * 4; });
}

void tenon::packFixedPanel(const FixedPacking &p, int64_t panel, const float *source, uint32_t *target, float *scales) {
  FixedNumbers format(p.bits);
  assert(panel >= 0 && panel * kPanelColumns < p.columns && "a matrix has a panel of this number");
  assert(p.depth % format.group == 0 && "the depth of a matrix of fixed numbers is whole groups");
  // The largest element, divided by its scale, must not overflow its bits, although the scale is rounded to f32 and the
  // quotient is rounded, too.
  const double largest = std::ldexp(1.0, 31) - std::ldexp(1.0, 32 - int(p.bits)) - 256;
  int64_t first = panel * kPanelColumns, width = std::min(kPanelColumns, p.columns - first);
  const float *from = source + first * p.columnStride;
  // Columns side by side, a group of steps at a time.
  std::vector<float> group(format.group * kPanelColumns);
  auto readGroup = [&](int64_t k) {
    for (int64_t i = 0; i < format.group; ++i)
      for (int64_t n = 0; n < width; ++n)
        group[i * kPanelColumns + n] = from[(k + i) * p.depthStride + n * p.columnStride];
  };
  float limits[kPanelColumns] = {};
  for (int64_t k = 0; k < p.depth; k += format.group) {
    readGroup(k);
    for (int64_t i = 0; i < format.group; ++i)
      for (int64_t n = 0; n < kPanelColumns; ++n)
        limits[n] = std::max(limits[n], std::abs(group[i * kPanelColumns + n]));
  }
  double inverse[kPanelColumns] = {};
  for (int64_t n = 0; n < width; ++n) {
    scales[n] = static_cast<float>(limits[n] / largest);
    inverse[n] = scales[n] > 0 ? 1 / double(scales[n]) : 0;
  }
  std::vector<int32_t> numbers(group.size());
  for (int64_t k = 0; k < p.depth; k += format.group, target += format.words * kPanelColumns) {
    readGroup(k);
    for (int64_t i = 0; i < format.group; ++i)
      for (int64_t n = 0; n < kPanelColumns; ++n)
        numbers[i * kPanelColumns + n] = static_cast<int32_t>(group[i * kPanelColumns + n] * inverse[n]);
    format.pack(numbers.data(), kPanelColumns, target);
  }
}

void tenon::packPanels(const PanelPacking &packing, const char *source, char *target) {
  auto run = [&](auto element) {
    using T = decltype(element);
    pack(packing, reinterpret_cast<const T *>(source), reinterpret_cast<T *>(target));
  };
  switch (packing.elementBytes) {
  case 1:
    return run(uint8_t());
  case 2:
    return run(uint16_t());
  case 4:
    return run(uint32_t());
  default:
    assert(packing.elementBytes == 8 && "elements have a power of two of bytes, up to 8");
    return run(uint64_t());
  }
}
