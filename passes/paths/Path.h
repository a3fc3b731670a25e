//===- Path.h - one way of several to compute an operation ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A path is a file of its own in this folder, and a line in Registry.cpp. Only
// `tenon-choose-paths` chooses among them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATH_H
#define TENON_PASSES_PATHS_PATH_H

#include "mlir/IR/PatternMatch.h"
#include "passes/cost/Machine.h"
#include "passes/cost/PathPolicy.h"
#include "passes/paths/winograd/Transforms.h"
#include <memory>
#include <optional>
#include <vector>

namespace tenon {

class Path {
public:
  virtual ~Path() = default;
  /// The name that users see, and under which measurements are recorded.
  virtual llvm::StringRef getName() const = 0;
  /// Estimates the cycles over all cores; none if the path cannot compute this operation.
  virtual std::optional<double> estimateCycles(mlir::Operation *op, const Machine &machine) const = 0;
  /// Returns the largest difference to exact arithmetic, relative to the largest element of the result. May read all
  /// weights of the operation.
  virtual double measureError(mlir::Operation *op) const = 0;
  /// Returns a lower bound of measureError that holds for all weights, unless the result is 0. Constant time.
  virtual double getLeastError(mlir::Operation *op) const { return 0; }
  /// True if the error bound is no worse than the default path's for all inputs outside the denormal range; such a path
  /// does not consume the error budget.
  virtual bool isAsExact() const { return false; }
  /// Rewrites an operation that the path can compute, and returns its replacement. A default implementation returns the
  /// operation unchanged.
  virtual mlir::Operation *take(mlir::Operation *op, const Machine &machine, mlir::RewriterBase &rewriter) const = 0;
};

/// Returns all paths, with the default policy. Among paths of equal cost, the first one is taken.
const std::vector<std::unique_ptr<Path>> &getPaths();

std::unique_ptr<Path> createDirectConvolution(const PathPolicy &policy);
/// `outputs` is the number of result elements along a side of a square, and `factors` how f32 are multiplied: as such,
/// or rounded.
std::unique_ptr<Path> createWinogradConvolution(int64_t outputs, WinogradFactors factors, const PathPolicy &policy);
/// The same for u8 with a filter of i8, exactly.
std::unique_ptr<Path> createWinogradInt8(int64_t outputs);

/// Matmuls of floating-point matrices: with a constant matrix in panels, or with both operands as they are stored.
std::unique_ptr<Path> createPanelProduct(const PathPolicy &policy);
std::unique_ptr<Path> createPlainProduct(const PathPolicy &policy);
/// Matmuls with a constant matrix, by seven products of halves in place of eight.
std::unique_ptr<Path> createStrassenProduct(const PathPolicy &policy);
/// Matmuls of few rows with a constant matrix, which is stored as fixed-point numbers of `bits` bits with a scale for
/// each column.
std::unique_ptr<Path> createFixedMatrix(int64_t bits, const PathPolicy &policy);
/// Matmuls of u8 with i8: by pmaddubsw if sums of two fit i16, by the instructions of the target, and in AMX tiles.
std::unique_ptr<Path> createInt8Dot2(const PathPolicy &policy);
std::unique_ptr<Path> createInt8Dot4(const PathPolicy &policy);
std::unique_ptr<Path> createAmxInt8Path(const PathPolicy &policy);
/// bf16 dot-2 in vectors; if `rounds`, f32 factors are rounded to bf16.
std::unique_ptr<Path> createBf16Dot2(bool rounds, const PathPolicy &policy);
/// Matmuls and convolutions of f32 with a constant matrix: rows or images, and the matrix, are rounded to f16, and
/// summed in blocks by f16 multiply-adds.
std::unique_ptr<Path> createF16Rounded(const PathPolicy &policy);
/// Matmuls with a matrix of 4 or 8 bits whose groups have scales; the rows are rounded to such groups.
std::unique_ptr<Path> createInt8Groups(const PathPolicy &policy);
/// Matmuls and convolutions of floats with a constant matrix: both are rounded to 16 bits in groups with a scale each.
std::unique_ptr<Path> createInt16Groups(const PathPolicy &policy);
/// Convolutions and matmuls with a constant matrix: images or rows, and filters, are rounded to int8 with a scale each.
std::unique_ptr<Path> createInt8Rounded(const PathPolicy &policy);
/// Matmuls of f32 in AMX tiles, split into `numTerms` bf16 terms; one term is for a bf16 matrix, or for f32 factors
/// that the path `rounds`.
std::unique_ptr<Path> createAmxBf16Path(int64_t numTerms, bool rounds, const PathPolicy &policy);
/// Matmuls and convolutions of floats with a constant matrix in AMX tiles, both split into `numTerms` int8 terms.
std::unique_ptr<Path> createAmxInt8Terms(int64_t numTerms, const PathPolicy &policy);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATH_H
