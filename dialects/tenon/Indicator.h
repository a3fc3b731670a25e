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

/// 1 where the sum is positive, else 0, as a factor: see getIndicator in Dims.h. It is written as a division of what is
/// not negative, (sum * 2 + 2^31 - 1) floordiv 2^31, which kernels with unsigned indices of 32 bits compute, too; what
/// is divided is odd, so that no simplification takes a multiple of the divisor out of it.
Polynomial makeIndicator(Polynomial sum, mlir::MLIRContext *context);
/// The sum, up to a positive factor, where a factor is such; else nothing.
std::optional<Polynomial> getIndicatedSum(mlir::AffineExpr factor);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_INDICATOR_H
