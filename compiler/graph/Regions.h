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

/// The body of a branch or a loop while its operations are made. It hangs in an operation of its own at the insertion
/// point, so that values from around it dominate what is made: operations can be verified before it is known what the
/// final one, which takes the body over, results in.
class BodyBuilder {
public:
  /// Operations are made in the body from now on.
  BodyBuilder(mlir::OpBuilder &builder, mlir::Location loc);
  ~BodyBuilder();
  BodyBuilder(const BodyBuilder &) = delete;
  BodyBuilder &operator=(const BodyBuilder &) = delete;

  mlir::Block &getBlock() { return parent->getRegion(0).front(); }
  /// Ends the body with what it yields, and goes back to where operations were made before.
  void finish(llvm::ArrayRef<mlir::Value> yielded);
  /// Moves the finished body to the operation that it is made for.
  void moveTo(mlir::Region &region) { region.takeBody(parent->getRegion(0)); }
  /// Leaves a body that failed in the module, which is of no use any more, so that values of it can still be asked for
  /// their types.
  void abandon() { isAbandoned = true; }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Operation *parent;
  std::optional<mlir::OpBuilder::InsertionGuard> guard;
  bool isAbandoned = false;
};

using RegionResults = std::optional<llvm::SmallVector<mlir::Value>>;

/// Makes a branch of two finished bodies. `symbols` names the extents of its results that it binds. Nothing where the
/// operation is wrong, which has been reported.
RegionResults createIf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, mlir::TypeRange results,
                       llvm::ArrayRef<std::string> symbols, BodyBuilder &thenBody, BodyBuilder &elseBody);

/// Makes a loop of a finished body, which yields whether to go on and then the carried values. `trips` is how often it
/// runs at most, or null. Nothing where the operation is wrong, which has been reported.
RegionResults createLoop(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, mlir::AffineExpr trips,
                         llvm::ArrayRef<mlir::Value> inits, llvm::ArrayRef<std::string> symbols, BodyBuilder &body);

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_REGIONS_H
