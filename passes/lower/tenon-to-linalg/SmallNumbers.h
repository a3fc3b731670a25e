//===- SmallNumbers.h - numbers that are a byte in scalar code -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats of eight and four bits, and integers of four and two. Nothing computes
// on them: they are moved as they are, and are converted to and from wider
// types. In memory and in scalar code such a number is a byte, its bits at the
// low end. What writes one leaves zeros above them; what reads one ignores what
// is there.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_SMALLNUMBERS_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_SMALLNUMBERS_H

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Builders.h"

namespace tenon {

bool isSmallFloat(mlir::Type type);
bool isSmallInt(mlir::Type type);

/// Converts the byte of a small float to f32, exactly.
mlir::Value decodeSmallFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value byte, mlir::FloatType type);
/// The byte of an f32, as tenon.cast defines it.
mlir::Value encodeSmallFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::FloatType type, bool saturate,
                             Rounding rounding);

/// Converts the byte of a small integer to i8, and back; the low bits are kept.
mlir::Value decodeSmallInt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value byte, mlir::IntegerType type);
mlir::Value encodeSmallInt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::IntegerType type);

/// Rounds an f64 to f32 with rounding to odd: the result is the f64 itself, or the neighbouring f32 whose last bit is
/// set. A second rounding to fewer bits then yields the correctly rounded f64 (Boldo and Melquiond, "When double
/// rounding is odd").
mlir::Value roundToOdd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_SMALLNUMBERS_H
