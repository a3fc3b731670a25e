//===- CalibrationGraph.h - a model that measures what its products sum with ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_CALIBRATIONGRAPH_H
#define TENON_PASSES_PRECISION_CALIBRATIONGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/precision/ConstantMatrices.h"

namespace tenon {

/// Products of a module with a constant matrix, and the same ones of another module.
struct CalibratedProducts {
  llvm::ArrayRef<ConstantFactor> current;
  llvm::ArrayRef<ConstantFactor> original; ///< as many
};

/// A graph whose outputs are moments: f32 matrices of [depth, depth].
struct CalibrationGraph {
  /// Outputs that belong to one matrix, which add up: one for each product.
  struct Outputs {
    llvm::SmallVector<unsigned> own;   ///< of x x^T
    llvm::SmallVector<unsigned> cross; ///< of y x^T, where y is x in the original module; empty where that is the same
  };
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Outputs> outputs; ///< for each matrix; none where its products are out of reach
};

/// A copy of `current` that computes moments of the vectors that products sum with, and nothing else. Where `original`
/// is not null, it computes that module beside it, for the same inputs. Products in branches are measured alone, and
/// count where the branch is taken; those in loops, and of other functions than main, are out of reach.
CalibrationGraph buildCalibrationGraph(mlir::ModuleOp current, mlir::ModuleOp original,
                                       llvm::ArrayRef<CalibratedProducts> matrices);

/// For each matrix how many matrices of `isChosen` come before it on the longest path that leads there from the inputs:
/// those of equal depth do not depend on each other. Lookups are first, and take their products along.
std::vector<unsigned> findDepths(mlir::ModuleOp module, llvm::ArrayRef<ConstantMatrix> matrices,
                                 llvm::ArrayRef<bool> isChosen);

} // namespace tenon

#endif // TENON_PASSES_PRECISION_CALIBRATIONGRAPH_H
