//===- Shuffles.h - transposes and permutations of vector registers -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TRANSPOSES_SHUFFLES_H
#define TENON_PASSES_KERNEL_TRANSPOSES_SHUFFLES_H

#include "mlir/IR/Builders.h"

namespace tenon {

/// The number of bits within which a shuffle of two vectors takes one instruction on all targets, for all element
/// widths.
inline constexpr int64_t kLaneBits = 128; // format: of AVX and NEON

/// A unit of vectors side by side.
struct VectorUnit {
  int64_t vector, unit;
};

/// Shuffles vectors of units of `wordsPerUnit` words each. Words are integers.
class Shuffles {
public:
  Shuffles(mlir::OpBuilder &builder, mlir::Location loc, int64_t wordsPerUnit)
      : b(builder), loc(loc), wordsPerUnit(wordsPerUnit) {}

  /// Transposes a square block. If vectors have more units than there are rows, they are divided into square parts,
  /// each of which is transposed separately.
  llvm::SmallVector<mlir::Value> transpose(llvm::ArrayRef<mlir::Value> rows);

  /// Concatenates vectors that are `count` apart in the list; the result has `count` vectors.
  llvm::SmallVector<mlir::Value> concatenate(llvm::ArrayRef<mlir::Value> vectors, int64_t count);

  /// The `count` units from `first` on.
  mlir::Value slice(mlir::Value vector, int64_t first, int64_t count);

  /// Returns the vector of `units` units whose sources in `vectors` are given by `getSource`.
  mlir::Value gather(llvm::ArrayRef<mlir::Value> vectors, int64_t units,
                     llvm::function_ref<VectorUnit(int64_t)> getSource);

private:
  int64_t getWordBits(mlir::Value vector) const;
  int64_t countWords(mlir::Value vector) const;
  mlir::Value shuffle(mlir::Value x, mlir::Value y, llvm::ArrayRef<int64_t> words);
  mlir::Value mergeNarrow(llvm::ArrayRef<mlir::Value> vectors, llvm::ArrayRef<VectorUnit> sources);
  mlir::Value mergeWide(llvm::ArrayRef<mlir::Value> vectors, llvm::ArrayRef<VectorUnit> sources);
  llvm::SmallVector<mlir::Value> transposeInParts(llvm::ArrayRef<mlir::Value> rows);
  llvm::SmallVector<mlir::Value> transposeLanes(llvm::ArrayRef<mlir::Value> rows);

  mlir::OpBuilder &b;
  mlir::Location loc;
  int64_t wordsPerUnit;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TRANSPOSES_SHUFFLES_H
