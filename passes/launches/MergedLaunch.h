//===- MergedLaunch.h - a launch of a merged kernel -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LAUNCHES_MERGEDLAUNCH_H
#define TENON_PASSES_LAUNCHES_MERGEDLAUNCH_H

#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Between the names of the nodes that a launch computes.
inline constexpr llvm::StringLiteral kNameSeparator = " + ";

/// Returns the number of the argument that has input or output `number` of a kernel's launches.
unsigned findArgument(mlir::func::FuncOp kernel, unsigned number, bool isOutput);

/// Replaces launches by one, whose kernel is merged of theirs.
class MergedLaunch {
public:
  explicit MergedLaunch(mlir::SymbolTable &symbols) : symbols(symbols) {}

  /// Adds a launch behind the others. Of several parts, the one that takes most cycles names the merged kernel. What
  /// parts that are `whole` write is in slots, if there are other parts.
  void add(plan::LaunchOp launch, mlir::func::FuncOp kernel, kernel::PartMode mode, double cycles);

  /// Creates the launch in the place of the last one, and erases the launches. Kernels that are merged of the same
  /// parts are one.
  plan::LaunchOp create();

private:
  struct Part {
    plan::LaunchOp launch;
    mlir::func::FuncOp kernel;
    kernel::PartMode mode;
    double cycles;
  };

  /// Returns the part that takes most cycles.
  Part &getLead();
  void numberBuffers();
  mlir::SmallVector<int64_t> getNumbers(plan::LaunchOp launch) const;
  kernel::MergedOp getKernel();
  mlir::Value sumTiles(mlir::OpBuilder &b, mlir::Location loc);
  void addFigures(plan::LaunchOp merged);

  mlir::SymbolTable &symbols;
  mlir::SmallVector<Part> parts;
  mlir::SetVector<mlir::Value> inputs, outputs, slots, sizes;
};

} // namespace tenon

#endif // TENON_PASSES_LAUNCHES_MERGEDLAUNCH_H
