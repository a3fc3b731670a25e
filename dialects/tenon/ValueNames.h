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

/// The name of a model's node or weight as that of a value: `/layer1/conv1/Conv` is `layer1.conv1.Conv`. Of long names
/// the last components are kept, which tell nodes apart. Empty where nothing of the name is left.
std::string toValueName(llvm::StringRef name);

/// Calls `use` with the name of each node in a location, in order. What is inside of a node's own location, where it
/// belongs in the model, is left out.
void forEachNode(mlir::Location loc, llvm::function_ref<void(mlir::StringAttr)> use);

/// The names that forEachNode gives, each once.
llvm::SetVector<llvm::StringRef> listNodes(mlir::Location loc);

/// Names values in printed IR after nodes and weights, so that the IR after two passes can be compared line by line.
/// A weight has its own name; another result is called as the last node of its operation's location, which is the one
/// whose result the operation computes, where several were fused. The dialects' fallback for all operations
/// (Dialect::getRegisteredInterfaceForOp).
class ValueNames : public mlir::OpAsmOpInterface::FallbackModel<ValueNames> {
public:
  static bool classof(const mlir::Operation *) { return true; }
  void getAsmResultNames(mlir::Operation *op, mlir::OpAsmSetValueNameFn setName) const;
  void getAsmBlockArgumentNames(mlir::Operation *op, mlir::Region &region, mlir::OpAsmSetValueNameFn setName) const;
  void getAsmBlockNames(mlir::Operation *, mlir::OpAsmSetBlockNameFn) const {}
  static llvm::StringRef getDefaultDialect() { return ""; }

  /// The interface if `interface` is that of names; else null.
  static void *lookup(mlir::TypeID interface);
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_VALUENAMES_H
