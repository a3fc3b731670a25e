//===- Regions.h - makes the bodies of branches and loops -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_REGIONS_H
#define TENON_COMPILER_GRAPH_REGIONS_H

#include "dialects/tenon/Dims.h"
#include "mlir/IR/Builders.h"
#include <optional>
#include <string>

namespace tenon {

/// The body of a branch or loop under construction. It is attached to a temporary operation at the insertion point, so
/// that outer values dominate its operations: these can be verified before the result types of the final operation,
/// which takes over the body, are known.
class BodyBuilder {
public:
  /// Operations are made in the body from now on.
  BodyBuilder(mlir::OpBuilder &builder, mlir::Location loc);
  ~BodyBuilder();
  BodyBuilder(const BodyBuilder &) = delete;
  BodyBuilder &operator=(const BodyBuilder &) = delete;

  mlir::Block &getBlock() { return parent->getRegion(0).front(); }
  /// Terminates the body with the yielded values, and restores the insertion point.
  void finish(llvm::ArrayRef<mlir::Value> yielded);
  /// Moves the finished body to its operation.
  void moveTo(mlir::Region &region) { region.takeBody(parent->getRegion(0)); }
  /// Leaves a failed body in the module, which is unusable, so that types of its values can still be queried.
  void abandon() { isAbandoned = true; }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Operation *parent;
  std::optional<mlir::OpBuilder::InsertionGuard> guard;
  bool isAbandoned = false;
};

using RegionResults = std::optional<llvm::SmallVector<mlir::Value>>;

/// Creates a branch from two finished bodies. `symbols` names the extents of its results that it binds. None if the
/// operation is invalid, which is reported.
RegionResults createIf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, mlir::TypeRange results,
                       llvm::ArrayRef<std::string> symbols, BodyBuilder &thenBody, BodyBuilder &elseBody);

/// Creates a loop from a finished body, which yields the condition and then the carried values. `trips` is the maximal
/// trip count, or null. None if the operation is invalid, which is reported.
RegionResults createLoop(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, mlir::AffineExpr trips,
                         llvm::ArrayRef<mlir::Value> inits, llvm::ArrayRef<std::string> symbols, BodyBuilder &body);

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_REGIONS_H
