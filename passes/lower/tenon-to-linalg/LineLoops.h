//===- LineLoops.h - loops that write lines of tensors -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage whose iterations depend on each other works line by line: one outer
// loop over lines, which are independent, so that tiles share them; inside it
// loops and branches that carry tensors. Memory of a line's own is small, and
// of one size.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_LINELOOPS_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_LINELOOPS_H

#include "passes/lower/tenon-to-linalg/ElementEmitter.h"

namespace tenon {

/// Writes the code of one line. The first read that fails reports the error; later reads return a placeholder, and
/// `hasFailed` is true at the end.
class LineWriter {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using Body = llvm::function_ref<Values(mlir::ValueRange)>;

  LineWriter(KernelScope &scope, mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc), scope(scope) {}
  bool hasFailed() const { return failed; }

  mlir::Value index(int64_t value);
  mlir::Value extent(mlir::Value tensor, int64_t dim);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value isLess(mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value either(mlir::Value x, mlir::Value y);
  mlir::Value isNot(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);

  /// Memory of the line's own.
  mlir::Value empty(llvm::ArrayRef<int64_t> extents, mlir::Type elementType);
  /// An element of an operand, as an accumulator.
  mlir::Value read(mlir::Value operand, mlir::ValueRange at);
  /// Reads an element of an integer operand, clamped to [0, size].
  mlir::Value readCount(mlir::Value operand, mlir::ValueRange at, mlir::Value size);
  /// Reads an element of a tensor that is being written, in its storage type.
  mlir::Value get(mlir::Value tensor, mlir::ValueRange at);
  mlir::Value set(mlir::Value tensor, mlir::Value element, mlir::ValueRange at);
  mlir::Value setIndex(mlir::Value tensor, mlir::Value index, mlir::ValueRange at);
  mlir::Value getIndex(mlir::Value tensor, mlir::ValueRange at);

  /// Emits a loop over i in [from, to); the carried values become `body(i, carried...)`.
  Values repeat(mlir::Value from, mlir::Value to, mlir::ValueRange carried,
                llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// Emits a while loop: while the first result of `before` is true, its other results are passed to `body`, whose
  /// results are carried. Returns the last results of `before`.
  Values repeatWhile(mlir::ValueRange carried, Body before, Body body);
  Values branch(mlir::Value condition, llvm::function_ref<Values()> thenValues,
                llvm::function_ref<Values()> elseValues);

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  KernelScope &scope;
  bool failed = false;
};

/// Emits the loop over all lines with extents `lines`, which carries `tensors`. `body` receives the indices of a line.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildLines(mlir::OpBuilder &builder, KernelScope &scope, mlir::Location loc, llvm::ArrayRef<mlir::AffineExpr> lines,
           mlir::ValueRange tensors,
           llvm::function_ref<LineWriter::Values(LineWriter &, mlir::ValueRange, mlir::ValueRange)> body);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_LINELOOPS_H
