//===- Dims.h - dimensions as expressions over symbols ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_DIMS_H
#define TENON_DIALECTS_TENON_DIMS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include <optional>

namespace tenon {

/// The extents of a tensor, outermost first. Each is a constant or an expression over interned symbols
/// (TenonDialect::internSymbol), in the normal form of `simplifyDim`, so that expressions known to be equal are equal
/// pointers.
using Dims = llvm::SmallVector<mlir::AffineExpr, 4>;

/// Returns the dimensions of a tensor type. A dynamic dimension without an expression becomes `unknownDim`.
Dims getDims(mlir::RankedTensorType type);
inline Dims getDims(mlir::Value value) { return getDims(mlir::cast<mlir::RankedTensorType>(value.getType())); }
/// One dimension of a tensor value.
mlir::AffineExpr getDim(mlir::Value value, int64_t dim);

/// Returns the tensor type with these dimensions; without an encoding if all are static.
mlir::RankedTensorType getTensorType(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::Type elementType);

/// A constant dimension, a symbol by name.
mlir::AffineExpr getDimConstant(mlir::MLIRContext *context, int64_t value);
mlir::AffineExpr getDimSymbol(mlir::MLIRContext *context, llvm::StringRef name);
/// Returns an unknown extent: it equals no other, and is printed as `?`.
mlir::AffineExpr getUnknownDim(mlir::MLIRContext *context);
bool isUnknownDim(mlir::AffineExpr dim);

std::optional<int64_t> getConstant(mlir::AffineExpr dim);
/// All of them, where all are constant.
std::optional<llvm::SmallVector<int64_t>> getConstants(llvm::ArrayRef<mlir::AffineExpr> dims);

/// Normalizes an expression to a sorted polynomial of symbols, and folds constants.
mlir::AffineExpr simplifyDim(mlir::AffineExpr dim);
mlir::AffineExpr addDims(mlir::AffineExpr a, mlir::AffineExpr b);
mlir::AffineExpr subDims(mlir::AffineExpr a, mlir::AffineExpr b);
mlir::AffineExpr mulDims(mlir::AffineExpr a, mlir::AffineExpr b);
/// Floor division a / b; terms that b divides are moved out of the division.
mlir::AffineExpr divDims(mlir::AffineExpr a, mlir::AffineExpr b);
mlir::AffineExpr ceilDivDims(mlir::AffineExpr a, mlir::AffineExpr b);
mlir::AffineExpr modDims(mlir::AffineExpr a, mlir::AffineExpr b);
/// Returns the indicator of `dim > 0`: 1 if it holds, otherwise 0. It is valid for values of magnitude below half of
/// kIndicatorRange; its creator must reject other values when sizes are bound. Indicator.h describes its
/// representation.
constexpr int64_t kIndicatorRange = int64_t(1) << 31; // format: of indicators
mlir::AffineExpr getIndicator(mlir::AffineExpr dim);
/// Returns the expression of an indicator; null if `expr` is none.
mlir::AffineExpr getIndicated(mlir::AffineExpr expr);
/// Returns the maximum or minimum, by the indicator of the difference.
mlir::AffineExpr maxDims(mlir::AffineExpr a, mlir::AffineExpr b);
mlir::AffineExpr minDims(mlir::AffineExpr a, mlir::AffineExpr b);
/// The product of all, 1 for none.
mlir::AffineExpr getElementCount(mlir::MLIRContext *context, llvm::ArrayRef<mlir::AffineExpr> dims);

/// The number of elements of a tensor.
mlir::AffineExpr getElementCount(mlir::Value value);
/// Returns a * b, or INT64_MAX if both are constants and the product overflows.
mlir::AffineExpr mulSaturating(mlir::AffineExpr a, mlir::AffineExpr b);
/// Returns the number of elements of a tensor; none if an extent is dynamic.
std::optional<int64_t> getStaticElementCount(mlir::Value value);

/// Returns the numpy broadcast of two dimensions. Two different symbols count as equal: only one of them can be
/// broadcast, and which one is unknown before sizes are bound. Fails on two different constants other than 1.
mlir::FailureOr<mlir::AffineExpr> broadcastDim(mlir::AffineExpr a, mlir::AffineExpr b);
/// The numpy broadcast of several shapes.
mlir::FailureOr<Dims> broadcastDims(llvm::ArrayRef<Dims> shapes);

/// The dims as text, for messages: "2x3xN".
std::string dimsToString(llvm::ArrayRef<mlir::AffineExpr> dims);
/// Prints an expression. Symbols that are no plain word are quoted.
void printDim(llvm::raw_ostream &os, mlir::AffineExpr dim);

/// True if the types differ at most in how much is known of their dimensions.
bool areCompatible(mlir::TypeRange a, mlir::TypeRange b);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_DIMS_H
