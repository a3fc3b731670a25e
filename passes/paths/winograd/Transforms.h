//===- Transforms.h - the matrices of Winograd convolutions ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR. Sources: Winograd, "Arithmetic
// Complexity of Computations" (1980); Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks" (2016); for points that keep errors small
// Barabasz, Anderson, Soodhalter and Gregg, "Error analysis and improving the
// accuracy of Winograd convolution for deep neural networks" (2020). Of whole
// numbers, whose points are 0, 1, -1, 2, -2, the transforms are scaled to have no
// fractions, and everything is exact modulo 2^32.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_WINOGRAD_TRANSFORMS_H
#define TENON_PASSES_PATHS_WINOGRAD_TRANSFORMS_H

#include "passes/paths/int16/Int16Groups.h"
#include <cstdint>
#include <vector>

namespace tenon {

/// A small matrix, row by row.
struct SmallMatrix {
  int64_t rows, columns;
  std::vector<double> elements;

  SmallMatrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), elements(rows * columns) {}
  double &at(int64_t row, int64_t column) { return elements[row * columns + column]; }
  double at(int64_t row, int64_t column) const { return elements[row * columns + column]; }
};

/// With a = outputs + window - 1 input elements d and a filter g of `window` elements, `outputs` neighbours of their
/// convolution are
///
///     y = output * ((filter * g) .* (input * d))
///
/// which takes a multiplications; in two dimensions each matrix is applied to rows and to columns.
struct WinogradTransforms {
  SmallMatrix input;  ///< [a, a]
  SmallMatrix filter; ///< [a, window]
  SmallMatrix output; ///< [outputs, a]
};

/// True if there are points for `outputs` results of a window (2, 4 or 6 of 3 elements).
bool hasWinogradTransforms(int64_t outputs, int64_t window);
WinogradTransforms getWinogradTransforms(int64_t outputs, int64_t window);

/// Returns the same transforms with rows of `filter` of about the same norm, so that elements of a transformed filter
/// have like magnitudes at all points. Their factors are powers of two, by which rows of `input` are multiplied
/// instead.
WinogradTransforms balanceFilter(WinogradTransforms transforms);

/// Transforms with integer coefficients: `output` yields `scale` times the result, or its square in two dimensions. All
/// sums and products may wrap around at 32 bits, as long as the results times the largest power of two in that square
/// fit (fitsIntegerTransforms): the odd factors of the scale have inverses modulo 2^32.
struct IntegerTransforms : WinogradTransforms {
  int64_t scale;
};

/// True if there are integer transforms that keep u8 inputs and i8 filters within 16 bits in two dimensions (2 or 4
/// outputs of 3 elements).
bool hasIntegerTransforms(int64_t outputs, int64_t window);
IntegerTransforms getIntegerTransforms(int64_t outputs, int64_t window);

/// How a sum after the output transform is divided by the scale: it is multiplied by `inverse` modulo 2^32, then
/// shifted down arithmetically by `shift` bits.
struct ScaleInverse {
  uint32_t inverse;
  int64_t shift;
};
ScaleInverse getScaleInverse(const IntegerTransforms &transforms);

/// A convolution's filter, [window, window, channels, filters].
struct FilterShape {
  int64_t window, channels, filters;
};

/// Computes the transformed filter in f32, [panels, a * a, channels, panel], with zeros in columns beyond the last
/// filter.
void transformFilter(const WinogradTransforms &transforms, const FilterShape &shape, const float *filter, int64_t panel,
                     float *result);

/// Computes the transformed filter, [panels, a * a, (channels + 1) / 2, panel]: each element has the i16 of two
/// neighbouring channels in 32 bits, the first one lower, with zeros beyond the last channel and the last filter.
void transformFilterToI16(const IntegerTransforms &transforms, const FilterShape &shape, const int8_t *filter,
                          int64_t panel, int32_t *result);

/// Returns the pairs of channels in a filter of bf16: those of whole steps of a sum (split/Bf16Terms.h).
int64_t countBf16Pairs(int64_t channels);

/// Computes the transformed filter in f64 and rounds it to bf16, [panels, a * a, pairs, panel, 2]: the elements of two
/// neighbouring channels side by side, with zeros beyond the last channel and the last filter.
void transformFilterToBf16(const WinogradTransforms &transforms, const FilterShape &shape, const float *filter,
                           int64_t panel, uint16_t *result);

/// Computes the transformed filter in f64 and rounds it to i16, in the layout of transformFilterToI16: numbers times
/// `scales`, one for each filter. No sum of their products with as many numbers of Int16Groups exceeds i32.
/// `transforms` are balanced.
void transformFilterToScaledI16(const WinogradTransforms &transforms, const FilterShape &shape, const float *filter,
                                int64_t panel, int32_t *result, float *scales);

/// Returns the groups of the sums over all channels, in pairs.
Int16Groups getWinogradGroups(int64_t channels);

/// True if all results of u8 inputs with this filter can be recovered modulo 2^32.
bool fitsIntegerTransforms(const IntegerTransforms &transforms, const FilterShape &shape, const int8_t *filter);

/// How the transformed input and filter are stored, which products multiply.
enum class WinogradFactors {
  f32,
  i16,       ///< in pairs of channels, exact
  bf16,      ///< in pairs of channels, rounded
  scaledI16, ///< in pairs of channels, rounded, with a scale for each point of a square, and for each filter
};

/// Returns the error of an f32 convolution with this filter and factors that are not exact: the largest difference to
/// f64, relative to the largest result, for inputs distributed like activations (normal, with negative numbers replaced
/// by 0; deterministic). Tests a few of the filters.
double measureWinogradError(const WinogradTransforms &transforms, const FilterShape &shape, const float *filter,
                            WinogradFactors factors = WinogradFactors::f32);

} // namespace tenon

#endif // TENON_PASSES_PATHS_WINOGRAD_TRANSFORMS_H
