//===- ConstantMatrices.h - the weights that products multiply by ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_CONSTANTMATRICES_H
#define TENON_PASSES_PRECISION_CONSTANTMATRICES_H

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/precision/GroupQuantizer.h"
#include <optional>

namespace tenon {

/// Where a product reads a constant matrix.
struct ConstantFactor {
  ContractOp product;
  unsigned operand; ///< the matrix

  mlir::Value getOther() const { return product->getOperand(1 - operand); }
};

/// How everything that reads a weight of two dimensions does.
struct MatrixUses {
  /// The dimension that products sum over, or whose elements a lookup takes together; nothing where two uses differ.
  std::optional<int64_t> depthAxis;
  llvm::SmallVector<GatherOp> lookups; ///< of rows
  llvm::SmallVector<ConstantFactor> products;
};

struct ConstantMatrix {
  WeightOp weight;
  MatrixUses uses;

  /// Empty where the model has none.
  std::string getName() const;
};

/// The type of elements that are floats, if they are.
std::optional<FloatKind> getFloatKind(mlir::Type type);

/// The index that a product sums over for `operand`, a matrix whose other dimension runs along the result alone.
std::optional<int64_t> getSummedDim(ContractOp op, unsigned operand);

/// The constant matrices of floats that products and lookups alone read, in the order of the module.
llvm::SmallVector<ConstantMatrix> listMatrices(mlir::ModuleOp module);

} // namespace tenon

#endif // TENON_PASSES_PRECISION_CONSTANTMATRICES_H
