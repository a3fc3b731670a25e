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

/// How a matrix of numbers of few bits lies in words of 32, little endian, of which each has 32 / bits neighbours.
struct PackedWords {
  int64_t rows = 0, columns = 0; ///< of numbers; words cover them in whole
  int64_t bits = 4;              ///< 4 or 8
  bool areRows = false;          ///< a word has neighbours of one column, else of one row
  /// The place in a word of each of its neighbours; empty where they come in order, the first lowest.
  llvm::ArrayRef<uint8_t> places = {};

  int64_t perWord() const { return 32 / bits; }
};

/// The numbers, a byte each, row by row of the transposed matrix (`transposes`) or of the matrix itself. Where `order`
/// is not empty, number i of the matrix's rows, which are as many, is the stored one order[i].
llvm::SmallVector<char> unpackWords(llvm::ArrayRef<char> words, const PackedWords &layout, bool transposes,
                                    llvm::ArrayRef<int64_t> order = {});

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_PACKEDWORDS_H
