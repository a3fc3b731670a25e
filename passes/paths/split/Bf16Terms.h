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

/// Chooses the step length for a sum of `depth` elements: an even number of at most 32, for which the number of steps
/// is minimal (a step takes the same time with fewer elements) and, among those, the padding is minimal.
int64_t chooseStep(int64_t depth);

/// The number of products of two terms that are computed: term i by term j where i + j < `numTerms`.
inline int64_t countTermProducts(int64_t numTerms) { return numTerms * (numTerms + 1) / 2; }

/// An array of f32 whose columns are packed in panels, and whose depth is packed in steps of terms. With one term of
/// f32, the term is the element itself.
struct TermPacking {
  int64_t outer, outerStride;
  int64_t depth, depthStride;
  int64_t columns, columnStride;
  int64_t step, numTerms;

  int64_t getNumPanels() const { return (columns + kTermColumns - 1) / kTermColumns; }
  int64_t getNumSteps() const { return (depth + step - 1) / step; }
  int64_t countElements() const { return getNumPanels() * outer * getNumSteps() * numTerms * step * kTermColumns; }
};

/// `x` rounded to the nearest bf16, ties to even.
float roundToBf16(float x);

/// Writes `source` as [panels, outer, steps, terms, step / 2, column, 2] to `target`, which must be zeroed: the padding
/// is not written. The elements are the bits of bf16, as tenon.split_bf16 defines them.
void packTerms(const TermPacking &packing, const float *source, uint16_t *target);
/// The same for one term of f32.
void packWhole(const TermPacking &packing, const float *source, float *target);

} // namespace tenon

#endif // TENON_PASSES_PATHS_SPLIT_BF16TERMS_H
