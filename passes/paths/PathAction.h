//===- PathAction.h - a choice of a path, as a traced action --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHACTION_H
#define TENON_PASSES_PATHS_PATHACTION_H

#include "mlir/IR/Action.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Unit.h"

namespace tenon {

/// The action of giving an operation a non-default path. If a handler of the context's actions does not execute it, the
/// operation keeps the default.
class PathAction : public mlir::tracing::ActionImpl<PathAction> {
public:
  static constexpr llvm::StringLiteral tag = "tenon-path";

  PathAction(llvm::ArrayRef<mlir::IRUnit> units, llvm::StringRef path)
      : ActionImpl<PathAction>(units), path(path.str()) {}
  void print(llvm::raw_ostream &os) const override { os << "path " << path; }

private:
  std::string path;
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHACTION_H
