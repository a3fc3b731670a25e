//===- InferShapes.cpp - carry what is known of extents from operands to results ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_INFERSHAPES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Merges the extents of `type` with inferred ones: a constant is preferred to an expression, and an expression to an
/// unknown extent.
static RankedTensorType refine(RankedTensorType type, RankedTensorType inferred) {
  Dims dims = getDims(type);
  for (auto [dim, other] : llvm::zip(dims, getDims(inferred)))
    if ((getConstant(other) && !getConstant(dim)) || (isUnknownDim(dim) && !isUnknownDim(other)))
      dim = other;
  return getTensorType(dims, type.getElementType());
}

/// Infers the types of the results of `op` from its operands.
static LogicalResult inferResults(Operation *op, int64_t &numRefined) {
  auto inference = dyn_cast<InferTypeOpInterface>(op);
  if (!inference)
    return success();
  SmallVector<Type> types;
  if (failed(inference.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(),
                                        op->getPropertiesStorage(), op->getRegions(), types)))
    return failure();
  for (auto [result, inferred] : llvm::zip(op->getResults(), types)) {
    auto type = cast<RankedTensorType>(result.getType()), known = cast<RankedTensorType>(inferred);
    if (failed(verifyCompatibleShape(type, known)))
      return op->emitError("results in ")
             << dimsToString(getDims(type)) << ", but its operands give " << dimsToString(getDims(known));
    RankedTensorType refined = refine(type, known);
    if (refined == type)
      continue;
    result.setType(refined);
    ++numRefined;
  }
  return success();
}

namespace {
struct InferShapes : public tenon::impl::InferShapesBase<InferShapes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    int64_t refined = 0;
    WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      return failed(inferResults(op, refined)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    numRefined += refined;
    // The result types may be more precise than the function's signature.
    if (function.isExternal())
      return;
    SmallVector<Type> results(function.getBody().front().getTerminator()->getOperandTypes());
    function.setFunctionType(FunctionType::get(&getContext(), function.getArgumentTypes(), results));
  }
};
} // namespace
