//===- Int8Terms.h - f32 as a sum of int8 terms with a scale ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR. After Ootomo, Ozaki and Yokota, "DGEMM on Integer
// Matrix Multiplication Unit" (2024): numbers that share a scale are digits of eight bits each,
// products of digits are summed as integers, exactly, and the smallest do not matter. Digits
// from -128 to 127 need no sign of their own.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_SPLIT_INT8TERMS_H
#define TENON_PASSES_PATHS_SPLIT_INT8TERMS_H

#include "passes/paths/split/Bf16Terms.h"
#include <vector>

namespace tenon {

/// Term i of a number counts 2^(-8 i).
inline constexpr int kInt8TermBits = 8; // format: of digits
/// The largest magnitude of a number that is split.
inline constexpr double kLargestInt8 = 127; // math: the largest signed byte
/// The elements that instructions for dot products of int8 sum.
inline constexpr int64_t kInt8Neighbours = 4; // format: int8 in 32 bits

/// What the columns of a matrix have in common with their terms.
struct Int8Columns {
  std::vector<float>
      scales; ///< an element is this times its terms: the largest magnitude by 127; NaN if one is not finite
  std::vector<double> squares; ///< the sum of those of the elements
  bool isFinite = true;        ///< all elements are
};

Int8Columns measureColumns(const TermPacking &packing, const float *source);

/// Writes the terms of `source` by the scale of each column, as tenon.split_terms defines them, as [panels, outer,
/// steps, terms, step / 4, column, 4] to `target`, which must be zeroed: the padding is not written. Terms are zero in
/// columns whose scale is NaN.
void packInt8Terms(const TermPacking &packing, const float *scales, const float *source, int8_t *target);

/// True if sums of products of terms fit i32: those of `depth` elements, for each of the pairs that count the same.
bool fitInt8Sums(int64_t depth, int64_t numTerms);

/// Returns the error of rows relative to their root mean square, which the largest is `crest` times.
double getInt8RowError(int64_t numTerms, double crest);

/// Returns the error of a product of rows with the columns, relative to the largest element of the result, as a root
/// mean square: rounding of either, and the products of terms that are left out, those of i and j with i + j >=
/// `numTerms`. The largest elements of rows are `crest` times their root mean square. Infinite if columns are not
/// finite.
double getInt8TermError(const Int8Columns &columns, int64_t depth, int64_t numTerms, double crest);

} // namespace tenon

#endif // TENON_PASSES_PATHS_SPLIT_INT8TERMS_H
