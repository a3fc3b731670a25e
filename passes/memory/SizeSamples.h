//===- SizeSamples.h - sizes of buffers at a few values of the symbols ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_SIZESAMPLES_H
#define TENON_PASSES_MEMORY_SIZESAMPLES_H

#include "dialects/plan/Plan.h"
#include <optional>
#include <vector>

namespace tenon {

/// Evaluates the index arithmetic of a program for several assignments of its symbols within their ranges: all small,
/// all large, one small and the others large.
class SizeSamples {
public:
  explicit SizeSamples(plan::ProgramOp program);
  /// Returns the sample alone in which each symbol has its largest value; one without an upper bound is huge.
  static SizeSamples getLargest(plan::ProgramOp program);

  size_t count() const { return samples.size(); }
  /// Returns the value at a sample; none on overflow or division by zero.
  std::optional<int64_t> evaluate(mlir::Value value, size_t sample);

private:
  SizeSamples() = default;

  std::optional<int64_t> compute(mlir::Value value, size_t sample);

  std::vector<std::vector<int64_t>> samples; ///< the values of all symbols
  llvm::DenseMap<std::pair<mlir::Value, size_t>, std::optional<int64_t>> known;
};

} // namespace tenon

#endif // TENON_PASSES_MEMORY_SIZESAMPLES_H
