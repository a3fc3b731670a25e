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

/// One dimension of an input as the model declares it: the name of a symbol, or else a number.
struct DeclaredDim {
  std::string symbol;
  int64_t number = 0;
};

/// The dimensions of a model's inputs, from what the model declares and what the options say. All inputs are
/// declared first, since an option for one may give a value to a symbol of another.
class InputShapes {
public:
  /// All of them have to outlive it.
  InputShapes(const ImportOptions &options, Report &report, mlir::MLIRContext *context)
      : options(options), report(report), context(context) {}

  void declare(llvm::StringRef input, llvm::ArrayRef<DeclaredDim> dims);
  /// An input whose shape the options have to give.
  void declareWithoutShape(llvm::StringRef input);

  /// The dimensions of a declared input; nothing where they cannot be had, which has been reported.
  std::optional<Dims> getDims(llvm::StringRef input);
  /// Notes a symbol that is no input's; false where there is one of that name.
  bool addSymbol(llvm::StringRef name) { return symbols.try_emplace(name, true).second; }
  /// Reports options that name no input or symbol there is. After all dimensions were asked for.
  void checkOptions();
  /// The ranges that the options give, as attributes of the module.
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
