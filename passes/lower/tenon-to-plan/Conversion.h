//===- Conversion.h - main as instructions -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_PLAN_CONVERSION_H
#define TENON_PASSES_LOWER_TENON_TO_PLAN_CONVERSION_H

#include "dialects/plan/Plan.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/lower/tenon-to-plan/SizeBuilder.h"
#include "passes/shape/FunctionFacts.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace tenon {

/// Turns one public function into a program.
class Conversion {
public:
  Conversion(mlir::func::FuncOp main, mlir::ModuleOp module);
  mlir::LogicalResult run();

private:
  // In TenonToPlan.cpp: the program, and the parts that every program has.
  void createProgram();
  mlir::DictionaryAttr describe(mlir::Type type, mlir::DictionaryAttr attrs, llvm::StringRef fallback);
  void collectSymbols(llvm::SetVector<unsigned> &symbols);
  mlir::LogicalResult checkSymbols();
  void convertRequirements();
  bool isSizedBefore(mlir::Value output, mlir::Value source);
  void createOutputs(mlir::func::ReturnOp terminator);
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertOp(mlir::Operation &op);
  void convertLaunch(LaunchOp launch);
  void convertCall(CallOp call);
  void convertHostCall(HostCallOp call);
  mlir::SmallVector<mlir::Value> createResults(mlir::ValueRange results);
  void convertRunSeed(RunSeedOp seed);
  bool isKnownEarly(llvm::ArrayRef<mlir::AffineExpr> dims);
  void convertReturn(mlir::func::ReturnOp terminator);
  mlir::Value createAlloc(mlir::Value value);
  mlir::StringAttr getName(mlir::Location loc);
  mlir::Value getBytes(mlir::Value value);
  mlir::Value getBytesBound(mlir::Value value);
  void createCopy(mlir::Value source, mlir::Value target, mlir::Value bytes, mlir::Location loc);

  // ConvertViews.cpp: what shares memory.
  mlir::Value createPart(mlir::Value buffer, mlir::Value offset, mlir::Value size, mlir::Location loc);
  mlir::SmallVector<mlir::Value> createParts(ConcatOp concat);
  void placeParts(mlir::Block &block);
  void convertConcat(ConcatOp concat);
  void convertSlice(SliceOp slice);

  // ConvertState.cpp: states.
  void createStates();
  mlir::Value getNextRows(StateOp state);
  mlir::Value createRows(mlir::FlatSymbolRefAttr state, mlir::AffineExpr begin, mlir::Value value, mlir::Location loc);
  bool canWriteEarly(StateUpdateOp update, mlir::Operation *launch);
  void placeUpdates(mlir::Block &block);
  void convertStateUpdate(StateUpdateOp update);
  bool isOverwritten(StateReadOp read);
  void convertStateRead(StateReadOp read);

  // In ConvertControl.cpp: data-dependent sizes, branches and loops.
  void convertBind(BindOp bind);
  void checkBound(BindOp bind, int64_t position, mlir::AffineExpr symbol);
  void convertRequire(RequireOp require);
  mlir::LogicalResult convertAppend(AppendOp append);
  mlir::LogicalResult convertIf(IfOp op);
  mlir::LogicalResult convertLoop(LoopOp op);
  void placeYields(LoopOp op, llvm::ArrayRef<mlir::Value> targets);
  mlir::LogicalResult convertBranch(IfOp op, mlir::Block &block, mlir::Block &into);
  void move(mlir::ValueRange values, mlir::ValueRange targets);
  void setSymbols(std::optional<mlir::ArrayAttr> symbols, mlir::TypeRange types, mlir::ValueRange values,
                  mlir::Location loc);

  mlir::AffineExpr saveInSymbol(mlir::AffineExpr expr, mlir::Location loc);

  mlir::func::FuncOp main;
  mlir::ModuleOp module;
  mlir::OpBuilder b;       ///< where instructions go
  mlir::OpBuilder atStart; ///< where arithmetic goes: before all of them
  SizeBuilder sizes;
  Facts facts; ///< of main's symbols
  plan::ProgramOp program;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<unsigned, int64_t> symbolNumbers; ///< of the dialect's symbols, in the program
  int64_t numInputSymbols = 0;                     ///< they come before those that instructions bind
  llvm::DenseMap<mlir::Operation *, mlir::SmallVector<mlir::Value>> partsOf; ///< of concats
  llvm::SmallVector<mlir::Value> outputs;
  llvm::StringMap<mlir::Value> states;                           ///< their whole memory, by name
  llvm::DenseMap<mlir::Operation *, mlir::Value> updatesInPlace; ///< where launches write the rows of updates
};

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_PLAN_CONVERSION_H
