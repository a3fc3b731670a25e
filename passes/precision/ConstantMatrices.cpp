//===- ConstantMatrices.cpp - the weights that products multiply by -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/ConstantMatrices.h"
#include "dialects/tenon/WeightBytes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-quantize-weights"

using namespace mlir;
using namespace tenon;

std::string ConstantMatrix::getName() const {
  StringAttr name = WeightOp(weight).getNameAttr();
  return name ? name.str() : "";
}

std::optional<FloatKind> tenon::getFloatKind(Type type) {
  if (type.isF16())
    return FloatKind::f16;
  if (type.isBF16())
    return FloatKind::bf16;
  if (type.isF32())
    return FloatKind::f32;
  return type.isF64() ? std::optional(FloatKind::f64) : std::nullopt;
}

std::optional<int64_t> tenon::getSummedDim(ContractOp op, unsigned operand) {
  ArrayRef<int64_t> own = operand == 0 ? op.getLhsDims() : op.getRhsDims(),
                    other = operand == 0 ? op.getRhsDims() : op.getLhsDims();
  if (own.size() != 2 || own[0] == own[1])
    return std::nullopt;
  for (int64_t dim = 0; dim < 2; ++dim) {
    bool isSummed = !llvm::is_contained(op.getResultDims(), own[dim]) && llvm::is_contained(other, own[dim]);
    bool isOwn = llvm::is_contained(op.getResultDims(), own[1 - dim]) && !llvm::is_contained(other, own[1 - dim]);
    if (isSummed && isOwn)
      return dim;
  }
  return std::nullopt;
}

/// Adds what reads `value`, the weight in another type or with its dimensions exchanged. Returns whether all of that
/// can read a matrix of other elements.
static bool collectUses(Value value, bool isTransposed, MatrixUses &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    std::optional<int64_t> axis;
    if (auto cast = dyn_cast<CastOp>(op)) {
      if (!getFloatKind(cast.getType().getElementType()) || !collectUses(cast, isTransposed, uses))
        return false;
      continue;
    }
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      bool isSwap = transpose.getPermutation()[0] == 1;
      if (!collectUses(transpose, isTransposed != isSwap, uses))
        return false;
      continue;
    }
    if (auto gather = dyn_cast<GatherOp>(op)) {
      if (use.getOperandNumber() != 0 || gather.getAxis() != 0 || isTransposed)
        return false;
      uses.lookups.push_back(gather);
      axis = 1;
    } else if (auto contract = dyn_cast<ContractOp>(op)) {
      // A product of two constants is folded.
      bool isOfOne = contract.getLhs() == contract.getRhs() ||
                     contract->getOperand(1 - use.getOperandNumber()).getDefiningOp<WeightOp>();
      axis = isOfOne ? std::nullopt : getSummedDim(contract, use.getOperandNumber());
      if (!axis)
        return false;
      axis = isTransposed ? 1 - *axis : *axis;
      uses.products.push_back({contract, use.getOperandNumber()});
    } else {
      return false;
    }
    if (uses.depthAxis && uses.depthAxis != axis)
      return false;
    uses.depthAxis = axis;
  }
  return true;
}

SmallVector<ConstantMatrix> tenon::listMatrices(ModuleOp module) {
  SmallVector<ConstantMatrix> matrices;
  module.walk([&](WeightOp weight) {
    RankedTensorType type = weight.getType();
    ConstantMatrix matrix{weight, {}};
    bool isMatrix = type.getRank() == 2 && getFloatKind(type.getElementType()) && type.getNumElements() > 0 &&
                    getBytes(weight.getValue()) && collectUses(weight, false, matrix.uses) && matrix.uses.depthAxis;
    LDBG() << (isMatrix ? "may store" : "leaves") << " the weight at " << weight.getLoc();
    if (isMatrix)
      matrices.push_back(std::move(matrix));
  });
  return matrices;
}
