//===- ValueNames.h - the names of values in printed IR --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_VALUENAMES_H
#define TENON_DIALECTS_TENON_VALUENAMES_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SetVector.h"

namespace tenon {

/// Converts the name of a model's node or weight to that of a value: `/layer1/conv1/Conv` becomes `layer1.conv1.Conv`.
/// Long names are truncated to their last components, which distinguish nodes. Empty if nothing of the name remains.
std::string toValueName(llvm::StringRef name);

/// Calls `use` with the name of each node in a location, in order. Locations nested in that of a node, which name its
/// module, are skipped.
void forEachNode(mlir::Location loc, llvm::function_ref<void(mlir::StringAttr)> use);

/// The names that forEachNode gives, each once.
llvm::SetVector<llvm::StringRef> listNodes(mlir::Location loc);

/// Names values in printed IR after nodes and weights, so that the IR after two passes can be compared line by line. A
/// weight has its own name; another result is named after the last node of its operation's location, whose result the
/// operation computes if several were fused. The dialects' fallback for all operations
/// (Dialect::getRegisteredInterfaceForOp).
class ValueNames : public mlir::OpAsmOpInterface::FallbackModel<ValueNames> {
public:
  static bool classof(const mlir::Operation *) { return true; }
  void getAsmResultNames(mlir::Operation *op, mlir::OpAsmSetValueNameFn setName) const;
  void getAsmBlockArgumentNames(mlir::Operation *op, mlir::Region &region, mlir::OpAsmSetValueNameFn setName) const;
  void getAsmBlockNames(mlir::Operation *, mlir::OpAsmSetBlockNameFn) const {}
  static llvm::StringRef getDefaultDialect() { return ""; }

  /// Returns the interface if `interface` is that of names; otherwise null.
  static void *lookup(mlir::TypeID interface);
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_VALUENAMES_H
