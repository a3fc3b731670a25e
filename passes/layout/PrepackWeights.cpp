//===- PrepackWeights.cpp - weights in the order that kernels read them ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Panels of the packed operand of a matrix product, as in Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication" (2008).
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/Passes.h"
#include "passes/layout/PanelPacking.h"

namespace tenon {
#define GEN_PASS_DEF_PREPACKWEIGHTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Fewer columns than these are not worth a panel.
static constexpr int64_t kFewColumns = 4;

/// The dimension of a contraction's weight that runs along the last dimension of the result, where the weight has
/// nothing else but dimensions that are summed over.
static std::optional<int64_t> getColumnDim(ContractOp op, OpOperand &weight) {
  bool isLhs = weight.getOperandNumber() == 0;
  ArrayRef<int64_t> own = isLhs ? op.getLhsDims() : op.getRhsDims(), other = isLhs ? op.getRhsDims() : op.getLhsDims();
  if (op.getResultDims().empty() || llvm::is_contained(other, op.getResultDims().back()))
    return std::nullopt;
  const int64_t *column = llvm::find(own, op.getResultDims().back());
  if (column == own.end() || own.size() < 2)
    return std::nullopt;
  for (int64_t index : own)
    if (index != *column && (llvm::is_contained(op.getResultDims(), index) || !llvm::is_contained(other, index)))
      return std::nullopt;
  return column - own.begin();
}

/// The dimension of a weight that `use` wants in panels.
static std::optional<int64_t> getPackedDim(OpOperand &use) {
  if (auto contract = dyn_cast<ContractOp>(use.getOwner()))
    return getColumnDim(contract, use);
  auto convolve = dyn_cast<ConvolveOp>(use.getOwner());
  if (convolve && convolve.getChannelsLast() && convolve.getGroups() == 1 && use.getOperandNumber() == 1)
    return convolve.getFilterDim();
  return std::nullopt;
}

namespace {
struct PrepackWeights : public tenon::impl::PrepackWeightsBase<PrepackWeights> {
  void runOnOperation() override {
    SmallVector<WeightOp> weights;
    getOperation().walk([&](WeightOp weight) { weights.push_back(weight); });
    for (WeightOp weight : weights) {
      std::optional<int64_t> packed;
      for (OpOperand &use : llvm::make_early_inc_range(weight->getUses()))
        if (std::optional<int64_t> axis = getPackedDim(use); axis && replace(use, weight, *axis))
          packed = axis;
      // An embedding that is the output's matrix, too, is stored once: a lookup finds its elements in the panels.
      for (OpOperand &use : llvm::make_early_inc_range(weight->getUses()))
        if (packed && isa<GatherOp>(use.getOwner()) && use.getOperandNumber() == 0)
          replace(use, weight, *packed);
    }
    for (WeightOp weight : weights)
      if (weight->use_empty())
        weight.erase();
  }

private:
  /// Whether the weight can be packed along `axis`.
  bool replace(OpOperand &use, WeightOp weight, int64_t axis) {
    RankedTensorType type = weight.getType();
    if (!(type.getElementType().isF32() || type.getElementType().isF64()))
      return false;
    // A part of a panel pays where its elements would not be neighbours otherwise.
    if (type.getDimSize(axis) < (axis + 1 == type.getRank() ? kPanelColumns : kFewColumns))
      return false;
    WeightOp packed = getPacked(weight, axis);
    if (!packed)
      return false;
    OpBuilder b(use.getOwner());
    use.set(UnpackOp::create(b, use.getOwner()->getLoc(), type, packed, axis));
    return true;
  }

  /// One for all uses that want the same.
  WeightOp getPacked(WeightOp weight, int64_t axis) {
    WeightOp &known = packedOf[{weight, axis}];
    std::optional<ArrayRef<char>> bytes = getBytes(weight.getValue());
    if (known || !bytes)
      return known;
    RankedTensorType type = weight.getType();
    ArrayRef<int64_t> shape = type.getShape();
    PanelPacking packing{1, shape[axis], 1, kPanelColumns, llvm::divideCeil(type.getElementTypeBitWidth(), 8)};
    SmallVector<int64_t> panels{packing.getNumPanels()};
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (i != axis) {
        (i < axis ? packing.outer : packing.inner) *= shape[i];
        panels.push_back(shape[i]);
      }
    panels.push_back(kPanelColumns);
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(packing.getPackedBytes(), 64, /*dataIsMutable=*/true);
    std::memset(blob.getMutableData().data(), 0, blob.getMutableData().size());
    packPanels(packing, bytes->data(), blob.getMutableData().data());
    auto packedType = RankedTensorType::get(panels, type.getElementType());
    OpBuilder b(weight);
    known = WeightOp::create(b, weight.getLoc(), DenseResourceElementsAttr::get(packedType, "packed", std::move(blob)));
    known.setNameAttr(weight.getNameAttr());
    return known;
  }

  llvm::DenseMap<std::pair<Operation *, int64_t>, WeightOp> packedOf;
};
} // namespace
