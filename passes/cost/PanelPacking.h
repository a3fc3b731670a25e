//===- PanelPacking.h - a dimension of a weight in panels -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR: bytes in, bytes out.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_PANELPACKING_H
#define TENON_PASSES_COST_PANELPACKING_H

#include <cstddef>
#include <cstdint>

namespace tenon {

/// Columns of a panel: two vectors of 64 bytes of f32, which shorter vectors divide.
inline constexpr int64_t kPanelColumns = 32;

/// An array [outer, extent, inner] of elements of `elementBytes` (1, 2, 4 or 8) bytes, and how many of `extent` make
/// a panel.
struct PanelPacking {
  int64_t outer, extent, inner, panel;
  size_t elementBytes;

  int64_t getNumPanels() const { return (extent + panel - 1) / panel; }
  int64_t getPackedBytes() const { return getNumPanels() * outer * inner * panel * int64_t(elementBytes); }
};

/// An array of bytes, of which `columns` make panels and every four neighbours along `depth` a quad.
struct QuadPacking {
  int64_t outer, outerStride;
  int64_t depth, depthStride;
  int64_t columns, columnStride;

  int64_t getNumPanels() const { return (columns + kPanelColumns - 1) / kPanelColumns; }
  int64_t getNumQuads() const { return (depth + 3) / 4; }
  int64_t getPackedBytes() const { return getNumPanels() * outer * getNumQuads() * 4 * kPanelColumns; }
};

/// Numbers of four bits that share 32.
inline constexpr int64_t kNumbersInWord = 8;

/// An array [outer, extent, inner] of numbers of four bits, a byte each.
struct WordPacking {
  int64_t outer, extent, inner;
};

/// A matrix of f32 as numbers of `bits` bits, a scale for each column (dialects/tenon/FixedNumbers.h), in panels.
/// `depth` is whole groups.
struct FixedPacking {
  int64_t bits;
  int64_t depth, depthStride;
  int64_t columns, columnStride;

  int64_t getNumPanels() const { return (columns + kPanelColumns - 1) / kPanelColumns; }
  /// Of a column.
  int64_t getNumWords() const { return depth * bits / 32; }
};

/// Writes one panel of `source`, all finite, as [words, column] to `target`, and what numbers of its columns are to be
/// multiplied with to `scales`. Both hold zeros: beyond the columns they stay.
void packFixedPanel(const FixedPacking &packing, int64_t panel, const float *source, uint32_t *target, float *scales);

/// Writes `source` as [outer, words, inner] to `target`, which holds zeros; the first number of a word is the lowest.
void packWords(const WordPacking &packing, const char *source, uint32_t *target);

/// Writes `source` as [panels, outer, quads, column, 4] to `target`, which holds zeros: beyond both extents they stay.
void packQuads(const QuadPacking &packing, const char *source, char *target);

/// Writes `source` as [panels, outer, inner, panel] to `target`, which holds zeros: beyond the extent they stay.
void packPanels(const PanelPacking &packing, const char *source, char *target);

} // namespace tenon

#endif // TENON_PASSES_COST_PANELPACKING_H
