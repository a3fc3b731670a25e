//===- Int16Groups.cpp - a matrix as integers of 16 bits with scales ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/int16/Int16Groups.h"
#include <cassert>
#include <cmath>
#include <limits>

using namespace tenon;

static constexpr int64_t kLargestI16 = std::numeric_limits<int16_t>::max(); // math: of both signs
static constexpr int64_t kLargestI32 = std::numeric_limits<int32_t>::max(); // math: of both signs

/// A row has no more than this by the root of the size. Rounding errors of rows are half of those of columns then, if
/// both are normal numbers; rows of real activations have larger elements beside smaller ones.
static constexpr double kRowByColumn = 4; // math: the square of a share of what i32 has

Int16Groups::Int16Groups(int64_t size)
    : size(size), largestOfRow(std::min<int64_t>(
                      kLargestI16, static_cast<int64_t>(std::sqrt(kRowByColumn * kLargestI32 / double(size))))) {
  assert(size > 0 && size % 2 == 0 && "a group is of pairs");
}

std::optional<Int16Groups> Int16Groups::choose(int64_t depth) {
  constexpr int64_t kMost = 64, kLeast = 16; // limit: larger groups are less exact, smaller ones are scaled more often
  for (int64_t size = kMost; size >= kLeast; size -= 2)
    if (depth > 0 && depth % size == 0)
      return Int16Groups(size);
  return std::nullopt;
}

int64_t Int16Groups::getLargestSum() const { return kLargestI32 / largestOfRow; }

/// An element is off by an equally distributed part of a step, which is the group's largest magnitude by the largest
/// number. Of n normal numbers the largest is about sqrt(2 ln(n)) times their root mean square.
double Int16Groups::getRowError() const {
  return std::sqrt(2 * std::log(static_cast<double>(size))) / static_cast<double>(largestOfRow) / std::sqrt(12.0);
}

float Int16Groups::chooseScale(double largest, double sum) const {
  double most = static_cast<double>(getLargestSum()) - 0.5 * static_cast<double>(size);
  double exact = std::max(largest / kLargestI16, sum / most);
  auto scale = static_cast<float>(exact);
  return scale < exact ? std::nextafter(scale, std::numeric_limits<float>::infinity()) : scale;
}

QuantizationError tenon::quantizeColumns(const FloatMatrix &matrix, int64_t begin, int64_t end,
                                         const Int16Groups &groups, const Int16Storage &storage) {
  assert(matrix.depth % groups.getSize() == 0 && "groups are whole");
  constexpr double kLargest = 1e30; // limit: of elements, so that sums times a scale do not overflow
  QuantizationError error;
  std::vector<double> elements(kRowsOfBlock * groups.getSize());
  // Columns that share cache lines are read together.
  for (int64_t first = begin; first < end; first += kRowsOfBlock)
    for (int64_t group = 0; group < matrix.depth / groups.getSize(); ++group) {
      int64_t count = std::min(kRowsOfBlock, end - first), from = group * groups.getSize();
      for (int64_t k = 0; k < groups.getSize(); ++k)
        for (int64_t n = 0; n < count; ++n) {
          int64_t place = (first + n) * matrix.rowStride + (from + k) * matrix.stride;
          elements[n * groups.getSize() + k] =
              toFloat(matrix.kind, matrix.data + place * static_cast<int64_t>(matrix.getElementBytes()));
        }
      for (int64_t n = 0; n < count; ++n) {
        llvm::ArrayRef<double> column = llvm::ArrayRef(elements).slice(n * groups.getSize(), groups.getSize());
        double largest = 0, sum = 0;
        for (double element : column) {
          error.isFinite &= std::fabs(element) < kLargest;
          largest = std::max(largest, std::fabs(element));
          sum += std::fabs(element);
        }
        float scale = error.isFinite ? groups.chooseScale(largest, sum) : 0;
        storage.scales[(first + n) * storage.scaleColumnStride + group * storage.groupStride] = scale;
        for (auto [k, element] : llvm::enumerate(column)) {
          double number = scale > 0 ? std::nearbyint(element / scale) : 0, off = number * scale - element;
          storage.numbers[(first + n) * storage.columnStride + (from + static_cast<int64_t>(k)) * storage.depthStride] =
              static_cast<int16_t>(number);
          error.squaredError += off * off;
          error.squares += element * element;
        }
      }
    }
  return error;
}
