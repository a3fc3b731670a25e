//===- TenonToLinalg.cpp - kernels in tenon operations become chains of linalg.generic ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/lower/tenon-to-linalg/IndexChecks.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

namespace tenon {
#define GEN_PASS_DEF_TENONTOLINALG
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Returns the tensor type of a tenon value in memory: without symbols, booleans and signs.
static RankedTensorType getMemoryType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), getStorageType(tensor.getElementType()));
}

/// Returns the symbols in the order of the kernel's size arguments.
static SmallVector<unsigned> getSymbols(func::FuncOp kernel) {
  SmallVector<unsigned> ids;
  auto *dialect = kernel->getContext()->getOrLoadDialect<TenonDialect>();
  if (auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    for (auto name : names.getAsRange<StringAttr>())
      ids.push_back(dialect->internSymbol(name));
  return ids;
}

/// Replaces a kernel in value semantics by one that writes to destination arguments.
static LogicalResult lowerKernel(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  SmallVector<Type> inputs, arguments, results;
  SmallVector<DictionaryAttr> argumentAttrs;
  auto addArgument = [&](Type type, DictionaryAttr given, bool isOutput) {
    arguments.push_back(getMemoryType(type));
    NamedAttrList attrs(given);
    attrs.set(kDimsAttr, ShapeAttr::get(context, getDims(cast<RankedTensorType>(type))));
    if (isOutput) {
      attrs.set(kOutputAttr, UnitAttr::get(context));
      results.push_back(getMemoryType(type));
    }
    argumentAttrs.push_back(attrs.getDictionary(context));
  };
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
    addArgument(type, kernel.getArgAttrDict(i), false);
  unsigned firstOutput = arguments.size();
  for (Type type : kernel.getResultTypes())
    addArgument(type, {}, true);
  SmallVector<unsigned> symbols = getSymbols(kernel);
  for (size_t i = 0; i < symbols.size(); ++i) {
    arguments.push_back(IndexType::get(context));
    argumentAttrs.push_back(DictionaryAttr::get(context));
  }

  OpBuilder builder(kernel);
  auto lowered = func::FuncOp::create(builder, loc, kernel.getName(), FunctionType::get(context, arguments, results));
  for (NamedAttribute attr : kernel->getDiscardableAttrs())
    lowered->setDiscardableAttr(attr.getName(), attr.getValue());
  lowered.setVisibility(kernel.getVisibility());
  lowered.setAllArgAttrs(argumentAttrs);
  Block *body = lowered.addEntryBlock();
  builder.setInsertionPointToStart(body);

  KernelScope scope;
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments()))
    scope.bindTensor(argument, body->getArgument(i));
  for (auto [i, id] : llvm::enumerate(symbols))
    scope.bindSymbol(id, body->getArgument(arguments.size() - symbols.size() + i));
  if (failed(emitIndexChecks(builder, scope, kernel)))
    return failure();
  StageBuilder stages(builder, scope);

  Operation *terminator = kernel.getBody().front().getTerminator();
  Operation *lastStage = nullptr;
  for (Operation &op : kernel.getBody().front())
    if (isa<LoopNestOpInterface>(op))
      lastStage = &op;
  SmallVector<Value> written(results.size());
  Operation *stageBefore = nullptr;
  for (Operation &op : kernel.getBody().front()) {
    if (auto link = dyn_cast<ReshapeOp>(op);
        link && link->hasAttr(kChainTileAttr) && failed(stages.lowerLink(link, stageBefore)))
      return failure();
    if (!isa<LoopNestOpInterface>(op))
      continue;
    stageBefore = &op;
    SmallVector<Value> destinations(op.getNumResults());
    for (auto [i, returned] : llvm::enumerate(terminator->getOperands())) {
      Value output = body->getArgument(firstOutput + i);
      for (OpResult result : op.getResults()) {
        Value &destination = destinations[result.getResultNumber()];
        bool sameMemory = getMemoryType(result.getType()) == getMemoryType(returned.getType()) &&
                          getDims(result) == getDims(returned);
        // The last stage may also write its result where an epilogue overwrites it element by element.
        if (!destination && (returned == result || (&op == lastStage && results.size() == 1 && sameMemory)))
          destination = output;
      }
    }
    if (failed(stages.lower(&op, destinations)))
      return failure();
    for (auto [i, returned] : llvm::enumerate(terminator->getOperands()))
      if (returned.getDefiningOp() == &op && destinations[cast<OpResult>(returned).getResultNumber()])
        written[i] = scope.lookupTensor(returned);
  }
  for (auto [i, returned] : llvm::enumerate(terminator->getOperands())) {
    if (written[i])
      continue;
    // An elementwise epilogue after the last stage works in place on the tensor that the stage has written.
    Value destination = body->getArgument(firstOutput + i);
    if (lastStage && results.size() == 1 && lastStage->getNumResults() == 1) {
      Value tensor = scope.lookupTensor(lastStage->getResult(0));
      if (tensor && tensor.getType() == destination.getType() && getDims(lastStage->getResult(0)) == getDims(returned))
        destination = tensor;
    }
    FailureOr<Value> stored = stages.store(returned, destination);
    if (failed(stored))
      return failure();
    written[i] = *stored;
  }
  func::ReturnOp::create(builder, loc, written);
  kernel.erase();
  return success();
}

namespace {
struct TenonToLinalg : public tenon::impl::TenonToLinalgBase<TenonToLinalg> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (kernel->hasAttr(kKernelAttr) && failed(lowerKernel(kernel)))
        return signalPassFailure();
  }
};
} // namespace
