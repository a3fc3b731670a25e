//===- F16Blocks.h - sums of products of f16 in short blocks --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocked summation in two precisions, as by Blanchard, Higham, Lopez, Mary and Pranesh,
// "Mixed Precision Block Fused Multiply-Add: Error Analysis and Application to GPU Tensor
// Cores" (2020), and Castaldo, Whaley and Chronopoulos, "Reducing Floating-Point Error in
// Dot Product Using the Superblock Family of Algorithms" (2008): a chain of f16
// multiply-adds is added to the f16 sum of a block, and that to a sum in f32. The error
// of a sum grows with the length of a chain and the number of chains, not with the depth.
//
// Factors are scaled by powers of two such that no sum of a block can overflow: rows at
// run time, the matrix at compile time. Results are scaled back in f32.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_F16_F16BLOCKS_H
#define TENON_PASSES_PATHS_F16_F16BLOCKS_H

#include <cstdint>
#include <optional>

namespace tenon {

/// Products that one chain of multiply-adds sums, and those of a block of chains. Errors are measured for the blocks
/// that kernels have.
inline constexpr int64_t kF16ChainProducts = 8, kF16BlockProducts = 32; // format: of sums in f16

/// The root mean square of the relative error of rounding to f16, a number with 11 bits, for mantissas distributed by
/// Benford's law (see kBf16RoundingError).
inline constexpr double kF16RoundingError = 0.00048828125 * 0.425; // math: 2^-11, and the root of 3 / (8 ln 2) / 3

/// Returns the exponent e for which a matrix whose largest magnitude is `largest` is scaled by 2^e before it is rounded
/// to f16: scaled elements are below 2^8, so that the sum of a block with scaled elements of rows, all below 4, is
/// below 2^15 but for rounding, and f16 holds it. None if `largest` is not finite or so far from 1 that the product of
/// scales could leave the range of f32. 0 for a matrix of zeros.
std::optional<int> chooseF16Exponent(float largest);

/// Returns the root mean square of the error of summing `depth` > 0 products of f16 in blocks, relative to that of the
/// sum, for independent products of random signs: partial sums grow with the root of the number of products, and each
/// is rounded.
double getF16SumError(int64_t depth);

} // namespace tenon

#endif // TENON_PASSES_PATHS_F16_F16BLOCKS_H
