//===- NamedValues.h - values of a model that nodes make ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_NAMEDVALUES_H
#define TENON_COMPILER_DRIVER_NAMEDVALUES_H

#include "compiler/driver/Compile.h"
#include "llvm/Support/Error.h"

namespace tenon {

/// A value of an imported model: the result of an operation outside of loops and branches.
struct NamedValue {
  std::string name; ///< the node's, for the last of its operations; "node:0", "node:1" for those before
  std::string node;
  std::string operation;          ///< "rms_norm"
  std::vector<std::string> reads; ///< names of values
};

/// Returns the values of a module in order. Operations without a node have their operation's name. Outputs of the model
/// are left out, and values with the name of one.
std::vector<NamedValue> listNamedValues(mlir::ModuleOp imported);
/// Adds a value as the last output of a function.
mlir::LogicalResult addOutput(mlir::func::FuncOp function, mlir::Value value, llvm::StringRef name);
/// Adds values as outputs after those of the model. Fails if there is no value of a name.
llvm::Error markValues(mlir::ModuleOp imported, llvm::ArrayRef<std::string> names, const std::string &input);

/// Imports a model and passes its values to `use`. Failures are printed as lines to `errors`.
CompileStatus useNamedValues(const CompileOptions &options, llvm::raw_ostream &errors,
                             llvm::function_ref<llvm::Error(llvm::ArrayRef<NamedValue>)> use);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_NAMEDVALUES_H
