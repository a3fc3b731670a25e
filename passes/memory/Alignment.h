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

/// What offsets of activations are multiples of, in bytes: whole blocks for large ones. In small ones those
/// would be a part of the arena that counts, and the size of an element, which is all that kernels rely on,
/// divides the activation's.
class Alignment {
public:
  /// Of a size, of which a power of two up to a block's bytes is known to divide it.
  static int64_t get(int64_t size, int64_t divisor);

  /// The largest power of two, up to a block's bytes, that divides the value of index arithmetic whatever the
  /// symbols are.
  int64_t getDivisor(mlir::Value value);
  int64_t get(int64_t size, mlir::Value sizeValue) { return get(size, getDivisor(sizeValue)); }

  /// Arithmetic for `value` rounded up to the alignment of activations of `size`.
  mlir::Value roundUp(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value size);

private:
  llvm::DenseMap<mlir::Value, int64_t> divisors;
};

} // namespace tenon

#endif // TENON_PASSES_MEMORY_ALIGNMENT_H
