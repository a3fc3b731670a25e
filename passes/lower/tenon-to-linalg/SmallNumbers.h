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

/// The f32 that a small float's byte stands for. Exact.
mlir::Value decodeSmallFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value byte, mlir::FloatType type);
/// The byte of an f32, as tenon.cast defines it.
mlir::Value encodeSmallFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::FloatType type, bool saturate,
                             Rounding rounding);

/// The i8 that a small integer's byte stands for, and back: the low bits are kept.
mlir::Value decodeSmallInt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value byte, mlir::IntegerType type);
mlir::Value encodeSmallInt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::IntegerType type);

/// An f64 as one of the two nearest f32: itself, or else the one whose last bit is set. Rounded once more, to
/// fewer bits, it gives what the f64 would have given (Boldo and Melquiond, "When double rounding is odd").
mlir::Value roundToOdd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_SMALLNUMBERS_H
