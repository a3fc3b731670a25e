//===- PackedWords.h - numbers of few bits, several in a word -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_PACKEDWORDS_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_PACKEDWORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tenon::huggingface {

/// The layout of a matrix of low-bit numbers in 32-bit little-endian words, each of which has 32 / bits neighbours.
struct PackedWords {
  int64_t rows = 0, columns = 0; ///< of numbers; words cover them in whole
  int64_t bits = 4;              ///< 4 or 8
  bool areRows = false;          ///< a word has neighbours of one column, else of one row
  /// The position in a word of each of its neighbours; empty for ascending order from the lowest bits.
  llvm::ArrayRef<uint8_t> places = {};

  int64_t perWord() const { return 32 / bits; }
};

/// Returns the numbers, one byte each, row by row of the transposed matrix (`transposes`) or of the matrix itself. If
/// `order` is not empty, row i of the matrix is the stored row order[i].
llvm::SmallVector<char> unpackWords(llvm::ArrayRef<char> words, const PackedWords &layout, bool transposes,
                                    llvm::ArrayRef<int64_t> order = {});

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_PACKEDWORDS_H
