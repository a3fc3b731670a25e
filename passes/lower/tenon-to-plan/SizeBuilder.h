//===- SizeBuilder.h - sizes as arithmetic at the start of a program ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_PLAN_SIZEBUILDER_H
#define TENON_PASSES_LOWER_TENON_TO_PLAN_SIZEBUILDER_H

#include "dialects/tenon/Dims.h"
#include "mlir/IR/Builders.h"

namespace tenon {

/// Emits index arithmetic on symbols, each expression once. It is inserted at `at`, before every instruction, so that
/// branches share it.
class SizeBuilder {
public:
  SizeBuilder(mlir::OpBuilder &at, mlir::Location loc) : b(at), loc(loc) {}

  void bind(unsigned symbol, mlir::Value value) { symbols[symbol] = value; }
  bool knows(unsigned symbol) const { return symbols.contains(symbol); }
  /// Whether every symbol of the expression has a value.
  bool knows(mlir::AffineExpr dim) const;
  mlir::Value build(mlir::AffineExpr dim);
  /// The bytes of a tensor.
  mlir::Value buildBytes(mlir::RankedTensorType type);

private:
  mlir::Value buildNew(mlir::AffineExpr dim);

  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::DenseMap<unsigned, mlir::Value> symbols;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> built;
};

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_PLAN_SIZEBUILDER_H
