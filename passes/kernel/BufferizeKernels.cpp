//===- BufferizeKernels.cpp - make the tensors of kernels buffers ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_BUFFERIZEKERNELS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// The buffer behind a value, through casts.
static Value getBuffer(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

/// Removes the results of a kernel: they are in the destination arguments already, or are copied there.
static void dropResults(func::FuncOp kernel) {
  auto terminator = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  OpBuilder builder(terminator);
  unsigned next = 0;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (!kernel.getArgAttr(i, kOutputAttr))
      continue;
    assert(next < terminator.getNumOperands() && "each destination is for one result");
    Value result = terminator.getOperand(next++);
    if (getBuffer(result) != kernel.getArgument(i))
      memref::CopyOp::create(builder, kernel.getLoc(), result, kernel.getArgument(i));
  }
  assert(next == terminator.getNumOperands() && "each result has a destination");
  func::ReturnOp::create(builder, kernel.getLoc());
  terminator.erase();
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), kernel.getArgumentTypes(), {}));
}

/// Writes results over the inputs that they replace.
static void overwriteInputs(func::FuncOp kernel) {
  SmallVector<Value> outputs;
  for (BlockArgument argument : kernel.getArguments())
    if (kernel.getArgAttr(argument.getArgNumber(), kOutputAttr))
      outputs.push_back(argument);
  for (BlockArgument argument : kernel.getArguments())
    if (auto result = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kReusedAttr)) {
      assert(static_cast<size_t>(result.getInt()) < outputs.size() &&
             "an input is overwritten with a result that there is");
      outputs[result.getInt()].replaceAllUsesWith(argument);
    }
}

namespace {
struct BufferizeKernels : public tenon::impl::BufferizeKernelsBase<BufferizeKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    // An identity layout on results would force copies into newly allocated memory.
    options.inferFunctionResultLayout = true;
    auto isKernel = [](func::FuncOp function) { return function->hasAttr(kKernelAttr); };
    // The analysis queries each operation a number of times that grows with the square of a kernel's size. The compiler
    // makes a module for each kernel, which needs no filter.
    if (!llvm::all_of(module.getOps<func::FuncOp>(), isKernel))
      options.opFilter.denyOperation([=](Operation *op) {
        auto function = isa<func::FuncOp>(op) ? cast<func::FuncOp>(op) : op->getParentOfType<func::FuncOp>();
        return function && !isKernel(function);
      });
    for (auto kernel : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
        if (kernel->hasAttr(kKernelAttr) && isa<RankedTensorType>(kernel.getArgument(i).getType()))
          kernel.setArgAttr(i, "bufferization.writable",
                            BoolAttr::get(&getContext(), bool(kernel.getArgAttr(i, kOutputAttr))));
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(module, options, state)))
      return signalPassFailure();
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      dropResults(kernel);
      overwriteInputs(kernel);
      if (failed(simplify(kernel)))
        return signalPassFailure();
    }
  }

private:
  /// Folds copies of a buffer to itself and static sizes; the remaining copies become loops, so that no kernel calls a
  /// function for them.
  LogicalResult simplify(func::FuncOp kernel) {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(kernel);
    eliminateCommonSubExpressions(rewriter, dominance, kernel);
    RewritePatternSet patterns(&getContext());
    memref::CopyOp::getCanonicalizationPatterns(patterns, &getContext());
    memref::CastOp::getCanonicalizationPatterns(patterns, &getContext());
    memref::SubViewOp::getCanonicalizationPatterns(patterns, &getContext());
    memref::AllocOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
      return failure();
    kernel.walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    });
    return success();
  }
};
} // namespace
