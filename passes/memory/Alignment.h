//===- Alignment.h - what offsets of activations are multiples of ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_ALIGNMENT_H
#define TENON_PASSES_MEMORY_ALIGNMENT_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tenon {

/// The alignment of activations in bytes: whole blocks for large ones. For small ones, whole blocks would waste a
/// notable part of the arena, and kernels only rely on the alignment of an element, which the size is a multiple of.
class Alignment {
public:
  /// Returns the alignment for a size that is a multiple of `divisor`, a power of two up to a block's bytes.
  static int64_t get(int64_t size, int64_t divisor);

  /// Returns the largest power of two, up to a block's bytes, that divides the value of index arithmetic for all values
  /// of the symbols.
  int64_t getDivisor(mlir::Value value);
  int64_t get(int64_t size, mlir::Value sizeValue) { return get(size, getDivisor(sizeValue)); }

  /// Emits `value` rounded up to the alignment of activations of `size`.
  mlir::Value roundUp(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value size);

private:
  llvm::DenseMap<mlir::Value, int64_t> divisors;
};

} // namespace tenon

#endif // TENON_PASSES_MEMORY_ALIGNMENT_H
