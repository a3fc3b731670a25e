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

/// The number of columns in a panel: two 64-byte vectors of f32, a multiple of shorter vectors. It is a property of the
/// packed format, which the targets of an artifact share.
inline constexpr int64_t kPanelColumns = 32;

/// An array [outer, extent, inner] of elements of `elementBytes` (1, 2, 4 or 8) bytes, whose `extent` is packed into
/// panels of `panel` elements.
struct PanelPacking {
  int64_t outer, extent, inner, panel;
  size_t elementBytes;

  int64_t getNumPanels() const { return (extent + panel - 1) / panel; }
  int64_t getPackedBytes() const { return getNumPanels() * outer * inner * panel * int64_t(elementBytes); }
};

/// The number of int8 elements along the summed dimension that are interleaved for instructions which sum four products
/// (VNNI packing). A property of the packed format.
inline constexpr int64_t kK4Group = 4;

/// An int8 array whose `columns` are packed into panels, with groups of four along `depth` interleaved.
struct K4Packing {
  int64_t outer, outerStride;
  int64_t depth, depthStride;
  int64_t columns, columnStride;

  int64_t getNumPanels() const { return (columns + kPanelColumns - 1) / kPanelColumns; }
  int64_t getNumK4Groups() const { return (depth + kK4Group - 1) / kK4Group; }
  int64_t getPackedBytes() const { return getNumPanels() * outer * getNumK4Groups() * kK4Group * kPanelColumns; }
};

/// An array [outer, extent, inner] of integers of 4 or 8 bits, stored as one byte each, of which some along `extent`
/// share an i32.
struct IntegerPacking {
  int64_t outer, extent, inner;
  int64_t bits;

  int64_t getIntegersPerWord() const { return 32 / bits; }
  int64_t getNumWords() const { return (extent + getIntegersPerWord() - 1) / getIntegersPerWord(); }
};

/// An f32 matrix that is stored in panels as fixed-point numbers of `bits` bits with a scale for each column
/// (dialects/tenon/FixedNumbers.h). `depth` is a multiple of a group of these numbers.
struct FixedPacking {
  int64_t bits;
  int64_t depth, depthStride;
  int64_t columns, columnStride;

  int64_t getNumPanels() const { return (columns + kPanelColumns - 1) / kPanelColumns; }
  /// The number of i32 that store one column.
  int64_t getNumWords() const { return depth * bits / 32; }
};

/// Writes one panel of `source`, whose elements are finite, as [i32, column] to `target`, and the scale of each column
/// to `scales`. Both are zero before, and stay so beyond the last column.
void packFixedPanel(const FixedPacking &packing, int64_t panel, const float *source, uint32_t *target, float *scales);

/// Writes `source` as [outer, i32, inner] to `target`, which is zero before. Byte b of an i32 is integer b; of 4 bits,
/// it has integer b + 4 in its upper half.
void packIntegers(const IntegerPacking &packing, const char *source, uint32_t *target);

/// Writes `source` as [panels, outer, group, column, 4] to `target`, which is zero before and stays so beyond both
/// extents.
void packK4(const K4Packing &packing, const char *source, char *target);

/// Writes `source` as [panels, outer, inner, panel] to `target`, which is zero before and stays so beyond the extent.
void packPanels(const PanelPacking &packing, const char *source, char *target);

} // namespace tenon

#endif // TENON_PASSES_COST_PANELPACKING_H
