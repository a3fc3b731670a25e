//===- TenonBuilder.h - creates common operations of the dialect ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_TENONBUILDER_H
#define TENON_DIALECTS_TENON_TENONBUILDER_H

#include "dialects/tenon/Dims.h"

namespace mlir {
class OpBuilder;
}

namespace tenon {

/// Creates operations at a builder's insertion point with a single location. Result types are inferred. If the
/// operation would have no effect, the operand is returned, and nothing is created.
class TenonBuilder {
public:
  TenonBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// Creates a constant of rank 0. Integers wrap around at their width.
  mlir::Value scalar(mlir::Type elementType, double value);
  mlir::Value cast(mlir::Value value, mlir::Type elementType);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> dims);
  /// Dimension i of the result is dimension `permutation[i]` of the value.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_TENONBUILDER_H
