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
  /// Of an input whose type says scalars, which exporters also write for tensors of any rank: what to take where
  /// nothing else tells.
  bool areScalarsDeclared = false;
};

/// Something that may be there or not.
struct Optional {
  ImportedValue has;     ///< a boolean of rank 0
  ImportedValue content; ///< a tensor or a sequence; failed where it is never there
};

/// A tensor of strings: their bytes, one after the other, and where each ends among them.
struct Strings {
  Value bytes; ///< (total) of u8
  Value ends;  ///< of i64, in the tensor's shape
};

/// The value that stands for a tensor, a sequence, an optional.
ImportedValue toImported(Node &n, Value tensor);
ImportedValue toImported(Node &n, Sequence sequence);
ImportedValue toImported(Node &n, Optional optional);
ImportedValue toImported(Node &n, Strings strings);
ImportedValue makeConstant(Node &n, int64_t value, Type type);

/// Joins a sequence's tensors, so that `elements` and `shapes` are there: on a copy, since other uses may not
/// see where that happens. False where it fails.
bool join(GraphBuilder &b, Sequence &sequence);
/// Gives an empty sequence, whose rank nothing told, a rank.
bool setRank(Node &n, Sequence &sequence, int64_t rank);
/// Settles the rank of a sequence that is read; a fault, in which `what` happens to it, where nothing tells it.
bool needRank(Node &n, Sequence &sequence, llvm::StringRef what);
/// How many tensors there are.
AffineExpr getLength(Node &n, const Sequence &sequence);

/// The tensors that a value consists of; nothing where one cannot be made, which has been reported.
std::optional<llvm::SmallVector<Value>> toTensors(Node &n, const ImportedValue &value);
/// How many those are.
size_t countTensors(const ImportedValue &value);
/// The tensors of a value that takes the place of `like`: an empty sequence gets its rank, a tensor where an
/// optional is expected becomes one.
std::optional<llvm::SmallVector<Value>> toTensorsLike(Node &n, const ImportedValue &value, const ImportedValue &like);
/// Values like `likes`, of the tensors at the front of the list.
llvm::SmallVector<ImportedValue> fromTensorsLike(Node &n, llvm::ArrayRef<ImportedValue> likes,
                                                 llvm::ArrayRef<Value> tensors);
/// A value like `like`, of other tensors.
ImportedValue fromTensors(Node &n, const ImportedValue &like, llvm::ArrayRef<Value> tensors);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_COMPOUND_H
