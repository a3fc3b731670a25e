//===- Bf16Terms.h - f32 as a sum of bf16 terms -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR. After Henry, Tang and Heinecke, "Leveraging the
// bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations"
// (2019): a product of sums is a sum of products, of which the smallest do not
// matter.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_SPLIT_BF16TERMS_H
#define TENON_PASSES_PATHS_SPLIT_BF16TERMS_H

#include <cstdint>

namespace tenon {

/// The elements in a row of an AMX tile, and its columns.
inline constexpr int64_t kMaxOfStep = 32, kTermColumns = 16; // format: of an AMX tile
/// The longest sum for which a kernel splits the matrix itself: the terms must fit L2.
inline constexpr int64_t kMaxSplitDepth = 1536; // format: of the scratch of kernels

/// Chooses the step length for a sum of `depth` elements, of which `neighbours` fill 32 bits, two bf16 or four i8: a
/// multiple of these, at most 16 of them, for which the number of steps is minimal (a step takes the same time with
/// fewer elements) and, among those, the padding is minimal.
int64_t chooseStep(int64_t depth, int64_t neighbours = 2);

/// The number of products of two terms that are computed: term i by term j where i + j < `numTerms`.
inline int64_t countTermProducts(int64_t numTerms) { return numTerms * (numTerms + 1) / 2; }

/// An array of f32 whose columns are packed in panels, and whose depth is packed in steps of terms, `neighbours` side
/// by side. With one term of f32, the term is the element itself.
struct TermPacking {
  int64_t outer, outerStride;
  int64_t depth, depthStride;
  int64_t columns, columnStride;
  int64_t step, numTerms, neighbours = 2;

  int64_t getNumPanels() const { return (columns + kTermColumns - 1) / kTermColumns; }
  int64_t getNumSteps() const { return (depth + step - 1) / step; }
  /// Elements of a panel, of all outer dimensions.
  int64_t countPanelElements() const { return outer * getNumSteps() * numTerms * step * kTermColumns; }
  int64_t countElements() const { return getNumPanels() * countPanelElements(); }
};

/// Calls `place` with each element, its column, and the index of its first term in panels of the packing.
template <typename Place> void forTerms(const TermPacking &p, const float *source, Place place) {
  int64_t term = p.step * kTermColumns, panel = 0;
  for (int64_t first = 0; first < p.columns; first += kTermColumns)
    for (int64_t outer = 0; outer < p.outer; ++outer) {
      int64_t width = p.columns - first < kTermColumns ? p.columns - first : kTermColumns;
      const float *from = source + outer * p.outerStride + first * p.columnStride;
      for (int64_t k = 0; k < p.depth; ++k) {
        int64_t row = k % p.step / p.neighbours * p.neighbours * kTermColumns + k % p.neighbours;
        int64_t begin = panel + k / p.step * p.numTerms * term + row;
        for (int64_t column = 0; column < width; ++column)
          place(from[k * p.depthStride + column * p.columnStride], first + column, begin + p.neighbours * column);
      }
      panel += p.getNumSteps() * p.numTerms * term;
    }
}

/// `x` rounded to the nearest bf16, ties to even.
float roundToBf16(float x);

/// Writes `source` as [panels, outer, steps, terms, step / 2, column, 2] to `target`, which must be zeroed: the padding
/// is not written. The elements are the bits of bf16, as tenon.split_terms defines them.
void packTerms(const TermPacking &packing, const float *source, uint16_t *target);
/// The same for one term of f32.
void packWhole(const TermPacking &packing, const float *source, float *target);

} // namespace tenon

#endif // TENON_PASSES_PATHS_SPLIT_BF16TERMS_H
