//===- CalibratedQuantizer.h - a matrix quantized for the inputs that it gets ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPTQ (Frantar and others, https://arxiv.org/abs/2210.17323): numbers are chosen so that products with the vectors of
// a calibration are off by little, not the elements themselves. With H = sum x x^T of these vectors, a row w that
// becomes q costs (w - q) H (w - q)^T. Elements are rounded one after the other, those with the largest diagonal of H
// first, and the error of each is made up for by those that follow, through the Cholesky factor of the inverse of H.
// Scales of groups are those of GroupQuantizer.h with errors weighted by the diagonal, and known before that.
//
// What that leaves is a quadratic function of the numbers and of the scales. Coordinate descent lessens it: each scale
// becomes the best one for its numbers, then each number the best one for all others (as QuantEase does, Behdin and
// others, https://arxiv.org/abs/2309.01885), in turn.
//
// Where matrices before this one are quantized already, its inputs x are not the y that the model has. Then products
// are to be w y, as with the model's own weights, and not w x: numbers are chosen for the row w C H^-1 with C = sum y
// x^T, of which the products with x are closest to that (GPTAQ, Li and others, https://arxiv.org/abs/2504.02692).
//
// The algorithm stands apart from the IR. Rows are independent of each other, and sums have one order.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_CALIBRATEDQUANTIZER_H
#define TENON_PASSES_PRECISION_CALIBRATEDQUANTIZER_H

#include "passes/precision/GroupQuantizer.h"
#include <memory>

namespace tenon {

/// Quantizes matrices that sum with the same vectors.
class CalibratedQuantizer {
public:
  /// Rows that are quantized together: the factor is read once for all of them.
  static constexpr int64_t kRowsOfBlock = 64; // limit: of memory, so many rows in f32 for each thread

  /// `moments` is the sum of x x^T, [depth, depth], and `cross` that of y x^T; empty where y is x. `identity` is added
  /// to the moments, in units of the mean of their diagonal: for matrices of which rows are looked up, too, so that
  /// elements have to be close themselves. Null where moments say nothing: all are 0, or some are not finite.
  static std::unique_ptr<CalibratedQuantizer> create(llvm::ArrayRef<double> moments, int64_t depth,
                                                     llvm::ArrayRef<double> cross = {}, double identity = 0);
  ~CalibratedQuantizer();

  /// Quantizes rows of `depth` finite elements. `codes` get those of each row's groups, `numbers` the stored bytes.
  /// Returns what products are off by.
  QuantizationError quantize(llvm::ArrayRef<float> elements, const GroupFormat &format,
                             llvm::MutableArrayRef<GroupCode> codes, llvm::MutableArrayRef<char> numbers) const;

  struct Hessian;

private:
  explicit CalibratedQuantizer(std::unique_ptr<Hessian> hessian);

  std::unique_ptr<Hessian> hessian;
};

} // namespace tenon

#endif // TENON_PASSES_PRECISION_CALIBRATEDQUANTIZER_H
