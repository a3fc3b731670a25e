//===- KernelStages.cpp - the loop nests of a kernel on tensors ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/KernelStages.h"
#include "passes/kernel/Contraction.h"

using namespace mlir;
using namespace tenon;

linalg::LinalgOp tenon::getStage(Operation *op) {
  return isa_and_nonnull<linalg::GenericOp, kernel::ContractOp>(op) ? cast<linalg::LinalgOp>(op) : linalg::LinalgOp();
}

linalg::LinalgOp tenon::getStage(Value result) { return getStage(result.getDefiningOp()); }

Operation *tenon::getStageBefore(linalg::LinalgOp op) {
  auto isStage = [](Operation *producer) {
    return getStage(producer) || isa_and_nonnull<kernel::WinogradOp>(producer);
  };
  if (op.getNumDpsInits() != 1)
    return nullptr;
  if (Operation *producer = op.getDpsInits()[0].getDefiningOp(); isStage(producer))
    return producer;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand *input : op.getDpsInputOperands())
    if (Operation *producer = input->get().getDefiningOp();
        isStage(producer) && op.getMatchingIndexingMap(input) == map)
      return producer;
  return nullptr;
}

kernel::ContractOp tenon::findContractionOp(linalg::LinalgOp root) {
  for (linalg::LinalgOp op = root; op; op = getStage(getStageBefore(op)))
    if (auto contract = dyn_cast<kernel::ContractOp>(op.getOperation()); contract && readContraction(contract))
      return contract;
  return {};
}

kernel::WinogradOp tenon::findWinograd(Operation *root) {
  while (linalg::LinalgOp op = getStage(root))
    root = getStageBefore(op);
  return dyn_cast_or_null<kernel::WinogradOp>(root);
}

bool tenon::reducesNothing(linalg::LinalgOp op) {
  return llvm::is_contained(op.getStaticLoopRanges(), 0) || llvm::any_of(op->getOperands(), [](Value operand) {
           linalg::LinalgOp producer = getStage(operand);
           return producer && reducesNothing(producer);
         });
}

int64_t tenon::getReductionSize(linalg::LinalgOp op, const TilePolicy &policy) {
  int64_t size = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [range, iterator] : llvm::zip(ranges, op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      size *= ShapedType::isDynamic(range) ? policy.dynamicReduced : std::max<int64_t>(range, 1);
  for (Value operand : op->getOperands())
    if (linalg::LinalgOp producer = getStage(operand))
      size = std::max(size, getReductionSize(producer, policy));
  return size;
}
