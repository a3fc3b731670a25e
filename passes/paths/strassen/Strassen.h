//===- Strassen.h - a product of matrices by seven products of halves -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strassen, "Gaussian elimination is not optimal" (1969): both matrices are cut in the
// middle of both dimensions, and instead of eight products of blocks there are seven of
// sums of blocks, whose sums are the blocks of the result. "In the middle" is any halves
// of the same size.
//
// The algorithm is stable norm-wise: an error is relative to the largest elements of both
// matrices, and not to those of a row (Higham, "Accuracy and Stability of Numerical
// Algorithms", 23.2.2). Rows are therefore scaled to like magnitudes before (diagonal
// scaling: Ballard, Benson, Druinsky, Lipshitz and Schwartz, "Improving the Numerical
// Stability of Fast Matrix Multiplication", 2016).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_STRASSEN_STRASSEN_H
#define TENON_PASSES_PATHS_STRASSEN_STRASSEN_H

#include <cstdint>

namespace tenon {

inline constexpr int kStrassenProducts = 7; // math: of the algorithm
/// The products whose right factor is the sum of two blocks come first, then those of a difference; the others have a
/// single block.
inline constexpr int kStrassenSums = 3, kStrassenDifferences = 2; // math: of the algorithm

/// The coefficients of blocks [row half][column half], each -1, 0 or 1: product p is (sum of kLeftBlocks[p] * blocks of
/// the left matrix) (sum of kRightBlocks[p] * blocks of the right one), and block (i, j) of the result is the sum over
/// p of kResultBlocks[i][j][p] * product p.
extern const int kLeftBlocks[kStrassenProducts][2][2], kRightBlocks[kStrassenProducts][2][2],
    kResultBlocks[2][2][kStrassenProducts];

/// A constant right matrix of f32. Its halves are those of the depth, which is even, and every other panel of columns;
/// columns that are missing in the last panel are zeros, and a panel without another one is not halved.
struct StrassenMatrix {
  int64_t depth, depthStride;
  int64_t columns, columnStride;
  int64_t panel;
  const float *elements;

  float get(int64_t k, int64_t n) const { return elements[k * depthStride + n * columnStride]; }
};

/// Returns the largest error of results in f32, relative to the largest of them, for some random rows of like
/// magnitudes and up to 128 pairs of columns; 0 if there is no pair. Infinite if an element of the matrix
/// is not finite, which would reach results that do not have it, or so large that sums of rows of a magnitude near 1
/// may exceed f32, whatever the rows are scaled back by.
double measureStrassenError(const StrassenMatrix &matrix);

} // namespace tenon

#endif // TENON_PASSES_PATHS_STRASSEN_STRASSEN_H
