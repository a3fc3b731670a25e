//===- Indicator.h - whether a sum is positive, as a factor ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_INDICATOR_H
#define TENON_DIALECTS_TENON_INDICATOR_H

#include "dialects/tenon/Polynomial.h"
#include <optional>

namespace tenon {

/// 1 if the sum is positive, otherwise 0, as a factor: see getIndicator in Dims.h. It is represented as a division of a
/// non-negative number, (sum * 2 + 2^31 - 1) floordiv 2^31, which kernels with unsigned 32-bit indices can compute,
/// too; the dividend is odd, so that no simplification moves a multiple of the divisor out of it.
Polynomial makeIndicator(Polynomial sum, mlir::MLIRContext *context);
/// Returns the sum of an indicator, up to a positive factor; none if `factor` is no indicator.
std::optional<Polynomial> getIndicatedSum(mlir::AffineExpr factor);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_INDICATOR_H
