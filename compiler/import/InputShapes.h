//===- InputShapes.h - the dimensions of a model's inputs -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_INPUTSHAPES_H
#define TENON_COMPILER_IMPORT_INPUTSHAPES_H

#include "compiler/import/ImportModel.h"
#include "dialects/tenon/Dims.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace tenon {

class Report;

/// A dimension of an input in the model's declaration: the name of a symbol, or a number.
struct DeclaredDim {
  std::string symbol;
  int64_t number = 0;
};

/// The dimensions of a model's inputs, from the model's declarations and the options. All inputs are declared first,
/// because an option for one may bind a symbol of another.
class InputShapes {
public:
  /// All of them have to outlive it.
  InputShapes(const ImportOptions &options, Report &report, mlir::MLIRContext *context)
      : options(options), report(report), context(context) {}

  void declare(llvm::StringRef input, llvm::ArrayRef<DeclaredDim> dims);
  /// An input whose shape the options have to give.
  void declareWithoutShape(llvm::StringRef input);

  /// Returns the dimensions of a declared input; none after a reported error.
  std::optional<Dims> getDims(llvm::StringRef input);
  /// Adds a symbol that no input has; returns false if there is one of that name.
  bool addSymbol(llvm::StringRef name) { return symbols.try_emplace(name, true).second; }
  /// Reports options that name an unknown input or symbol. Must be called after all getDims calls.
  void checkOptions();
  /// Attaches the ranges of the options to the module.
  void setRanges(mlir::ModuleOp module);

private:
  const ImportOptions::Shape *findShape(llvm::StringRef name) const;
  mlir::AffineExpr getSymbol(llvm::StringRef name);
  mlir::AffineExpr parseDim(llvm::StringRef text);
  void reportNoSymbol(llvm::StringRef symbol, llvm::StringRef option);

  const ImportOptions &options;
  Report &report;
  mlir::MLIRContext *context;
  llvm::MapVector<mlir::StringAttr, std::optional<std::vector<DeclaredDim>>> inputs;
  llvm::StringMap<mlir::AffineExpr> overrides; ///< what the options put in place of a symbol
  llvm::StringMap<bool> symbols;
};

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_INPUTSHAPES_H
