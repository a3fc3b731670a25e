//===- Int16Groups.h - a matrix as integers of 16 bits with scales --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Factors of a product as fixed-point numbers with a scale for each group of neighbours
// along the sum (block floating point: Wilkinson, "Rounding Errors in Algebraic
// Processes", 1963). Products of a group are summed in i32, which no sum may exceed,
// whatever the rows are: the numbers of a row are bounded, and those of a column, which
// is constant, have a scale with which their magnitudes sum to no more than what i32 has
// for such rows. Magnitudes of real columns are far less than their largest one on
// average, so they keep more bits than if each element were bounded.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_INT16_INT16GROUPS_H
#define TENON_PASSES_PATHS_INT16_INT16GROUPS_H

#include "passes/precision/GroupQuantizer.h"
#include <cstdint>
#include <optional>

namespace tenon {

/// Sums of a group of factors along the summed dimension are exact.
class Int16Groups {
public:
  /// `size` is even, since an instruction sums two products.
  explicit Int16Groups(int64_t size);

  /// The groups of sums of `depth` products: as many neighbours as divide it, up to a limit. None if there are only
  /// groups that are too small to be scaled each.
  static std::optional<Int16Groups> choose(int64_t depth);

  int64_t getSize() const { return size; }
  /// The largest magnitude of a number of a row.
  int64_t getLargestOfRow() const { return largestOfRow; }
  /// The largest sum of magnitudes of the numbers of a group of a column.
  int64_t getLargestSum() const;
  /// Returns a scale with which the largest magnitude of a group of a column fits i16, and the sum of its magnitudes
  /// the limit, however numbers are rounded.
  float chooseScale(double largest, double sum) const;
  /// Returns the error of a row of normal numbers that is rounded, relative to its root mean square.
  double getRowError() const;

private:
  int64_t size, largestOfRow;
};

/// Where the numbers of a quantized matrix and their scales go; strides are in elements.
struct Int16Storage {
  int16_t *numbers;
  int64_t columnStride, depthStride; ///< of numbers
  float *scales;
  int64_t scaleColumnStride, groupStride; ///< of scales
};

/// Quantizes columns [begin, end) of a matrix, which are the rows of a FloatMatrix: a number times its scale is the
/// nearest one to the element.
QuantizationError quantizeColumns(const FloatMatrix &matrix, int64_t begin, int64_t end, const Int16Groups &groups,
                                  const Int16Storage &storage);

} // namespace tenon

#endif // TENON_PASSES_PATHS_INT16_INT16GROUPS_H
