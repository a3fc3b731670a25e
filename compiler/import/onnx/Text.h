//===- Text.h - tensors of strings ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strings are bytes, end to end, and where each ends (Compound.h). What moves strings gathers ranges of
// bytes: each byte of the result finds its string by a search among the ends.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_TEXT_H
#define TENON_COMPILER_IMPORT_ONNX_TEXT_H

#include "compiler/import/onnx/Compound.h"

namespace tenon::onnx_import {

using Texts = llvm::SmallVector<std::string>;

/// Strings that are known when compiling.
Strings makeStrings(GraphBuilder &b, llvm::ArrayRef<std::string> texts, IntsRef shape);

/// An operand of strings; a fault where it is none.
std::optional<Strings> stringsInput(Node &n, size_t i);
mlir::LogicalResult setStrings(Node &n, size_t i, const Strings &strings);

/// How many strings there are.
AffineExpr countStrings(GraphBuilder &b, const Strings &strings);
/// Returns the end, the start and the length of each string, as lists.
Value listEnds(GraphBuilder &b, const Strings &strings);
Value listLengths(GraphBuilder &b, const Strings &strings);

/// The concatenation of ranges: for each element, the range that it belongs to, and its position in it.
struct Spread {
  Value ends, part, place;
};
Spread spread(Node &n, Value lengths);

/// Returns strings of this shape with given starts and lengths in `bytes`.
Strings gatherRanges(Node &n, Value bytes, Value begins, Value lengths, llvm::ArrayRef<AffineExpr> shape);
/// The strings with these numbers, in their shape.
Strings takeStrings(Node &n, const Strings &table, Value numbers);
/// Concatenates two lists; the strings of the second one are numbered after those of the first.
Strings joinStrings(Node &n, const Strings &first, const Strings &second);

/// Returns for each string its number among `keys`, which are sorted and distinct, or -1.
Value findStrings(Node &n, const Strings &strings, llvm::ArrayRef<std::string> keys);
/// Converts letters to upper or lower case by the table in `compiler/unicode/case_mapping.h`.
Strings changeCase(Node &n, const Strings &strings, bool upper);
std::string changeCase(llvm::StringRef text, bool upper);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_TEXT_H
