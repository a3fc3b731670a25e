//===- Compound.h - sequences and optionals as tensors --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect knows tensors alone. A sequence is two of them: the elements of all
// its tensors, one after the other, and their shapes, one row each. An optional is
// a boolean and what it holds; a tensor of strings is their bytes and where each ends. Where a sequence is made of a
// fixed number of tensors they are kept as they are, and joined when something asks for the two.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_COMPOUND_H
#define TENON_COMPILER_IMPORT_ONNX_COMPOUND_H

#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

/// A sequence of tensors of one element type and one rank.
struct Sequence {
  Type type;                                       ///< of an element
  int64_t rank = -1;                               ///< -1 while nothing tells: it is empty, or an input
  std::optional<llvm::SmallVector<Value>> tensors; ///< its tensors, where their number is fixed
  Value elements;                                  ///< (total); null while only the tensors are there
  Value shapes;                                    ///< (length, rank) of i64; null likewise
  /// For an input whose type is declared as scalars, which exporters also write for tensors of any rank: it is used if
  /// nothing else determines the rank.
  bool areScalarsDeclared = false;
};

/// Something that may be there or not.
struct Optional {
  ImportedValue has;     ///< a boolean of rank 0
  ImportedValue content; ///< a tensor or a sequence; failed where it is never there
};

/// A tensor of strings: their concatenated bytes, and the end of each string.
struct Strings {
  Value bytes; ///< (total) of u8
  Value ends;  ///< of i64, in the tensor's shape
};

/// Returns the value for a tensor, a sequence or an optional.
ImportedValue toImported(Node &n, Value tensor);
ImportedValue toImported(Node &n, Sequence sequence);
ImportedValue toImported(Node &n, Optional optional);
ImportedValue toImported(Node &n, Strings strings);
ImportedValue makeConstant(Node &n, int64_t value, Type type);

/// Concatenates a sequence's tensors, so that `elements` and `shapes` exist. Must be called on a copy, since other uses
/// may not see the operations. Returns false after an error.
bool join(GraphBuilder &b, Sequence &sequence);
/// Sets the rank of an empty sequence whose rank is unknown.
bool setRank(Node &n, Sequence &sequence, int64_t rank);
/// Determines the rank of a sequence that is read; reports an error with the action `what` if nothing determines it.
bool needRank(Node &n, Sequence &sequence, llvm::StringRef what);
/// How many tensors there are.
AffineExpr getLength(Node &n, const Sequence &sequence);

/// Returns the tensors that a value consists of; none after a reported error.
std::optional<llvm::SmallVector<Value>> toTensors(Node &n, const ImportedValue &value);
/// How many those are.
size_t countTensors(const ImportedValue &value);
/// Returns the tensors of a value that replaces `like`: an empty sequence gets its rank, and a tensor becomes an
/// optional if one is expected.
std::optional<llvm::SmallVector<Value>> toTensorsLike(Node &n, const ImportedValue &value, const ImportedValue &like);
/// Creates values like `likes` from the first tensors of the list.
llvm::SmallVector<ImportedValue> fromTensorsLike(Node &n, llvm::ArrayRef<ImportedValue> likes,
                                                 llvm::ArrayRef<Value> tensors);
/// A value like `like`, of other tensors.
ImportedValue fromTensors(Node &n, const ImportedValue &like, llvm::ArrayRef<Value> tensors);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_COMPOUND_H
