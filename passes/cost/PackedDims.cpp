//===- PackedDims.cpp - which weights are read in panels ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/PackedDims.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/ReducedPrecision.h"
#include "passes/Kernel.h"
#include "passes/cost/Groups.h"
#include "passes/cost/Machine.h"

using namespace mlir;
using namespace tenon;

/// Returns the dimension of a contraction's weight that runs along the last dimension of the result, if all other
/// dimensions of the weight are summed over, or, where it `mayBeBatched`, are dimensions of both operands.
static std::optional<int64_t> getColumnDim(ContractOp op, OpOperand &weight, bool mayBeBatched = false) {
  assert(weight.getOwner() == op && "the weight is an operand of the product");
  bool isLhs = weight.getOperandNumber() == 0;
  ArrayRef<int64_t> own = isLhs ? op.getLhsDims() : op.getRhsDims(), other = isLhs ? op.getRhsDims() : op.getLhsDims();
  if (op.getResultDims().empty() || llvm::is_contained(other, op.getResultDims().back()))
    return std::nullopt;
  const int64_t *column = llvm::find(own, op.getResultDims().back());
  if (column == own.end() || own.size() < 2)
    return std::nullopt;
  for (int64_t index : own)
    if (index != *column &&
        (!llvm::is_contained(other, index) || (!mayBeBatched && llvm::is_contained(op.getResultDims(), index))))
      return std::nullopt;
  return column - own.begin();
}

/// Returns the dimension of a contraction's weight that matches the other operand's last dimension and has the same
/// extent: int8 dot-4 groups run along it.
static std::optional<int64_t> getK4Dim(ContractOp op, OpOperand &weight) {
  assert(weight.getOwner() == op && "the weight is an operand of the product");
  bool isLhs = weight.getOperandNumber() == 0;
  ArrayRef<int64_t> own = isLhs ? op.getLhsDims() : op.getRhsDims(), other = isLhs ? op.getRhsDims() : op.getLhsDims();
  const int64_t *k4 = other.empty() ? own.end() : llvm::find(own, other.back());
  Value input = isLhs ? op.getRhs() : op.getLhs();
  if (k4 == own.end() || getDims(input).back() != getDims(weight.get())[k4 - own.begin()])
    return std::nullopt;
  return k4 - own.begin();
}

/// True if a contraction multiplies u8 with the i8 elements of `weight` and sums in i32.
static bool isInt8Matmul(OpOperand &weight) {
  assert(weight.getOperandNumber() < 2 && "a product has two operands");
  Operation *op = weight.getOwner();
  return getElementTypeOrSelf(weight.get()).isSignlessInteger(8) &&
         getElementTypeOrSelf(op->getResult(0)).isInteger(32) &&
         getElementTypeOrSelf(op->getOperand(1 - weight.getOperandNumber())).isUnsignedInteger(8);
}

/// True for a product whose kernel converts a matrix of fewer bits: contractions, and convolutions that multiply f16,
/// or i16 in groups.
static bool convertsMatrix(Operation *op) {
  auto path = op->getAttrOfType<StringAttr>(kPathAttr);
  return isa<ContractOp>(op) ||
         (isa<ConvolveOp>(op) && path && (path == kRoundedF16Path || path == kRoundedInt16GroupsPath));
}

/// If an f16, bf16 or quantized operand is converted to the matrix of a floating-point product, returns that operand of
/// the product; otherwise null.
static OpOperand *getWidenedUse(OpOperand &use) {
  Operation *op = use.getOwner();
  bool promotesToF32 = isa<CastOp>(op) && isReducedPrecision(use.get().getType());
  if ((!promotesToF32 && !isa<DequantizeOp>(op)) || !op->hasOneUse() || !convertsMatrix(*op->user_begin()))
    return nullptr;
  Type type = getElementTypeOrSelf(op->getResult(0));
  return type.isF32() || type.isF64() ? &*op->use_begin() : nullptr;
}

namespace {
/// The dimension of a matrix along the columns of the result, and the one that matches the other operand's last
/// dimension.
struct MatrixDims {
  std::optional<int64_t> axis, depthAxis;
};
} // namespace

static MatrixDims getMatrixDims(OpOperand &use) {
  if (auto contract = dyn_cast<ContractOp>(use.getOwner()))
    return {getColumnDim(contract, use), getK4Dim(contract, use)};
  auto convolve = dyn_cast<ConvolveOp>(use.getOwner());
  if (convolve && convolve.getChannelsLast() && convolve.getGroups() == 1 && use.getOperandNumber() == 1)
    return {convolve.getFilterDim(), convolve.getFilterChannelDim()};
  return {};
}

/// Returns how the input of a dequantized matrix is packed.
static std::optional<PackedDims> getWidenedDims(OpOperand &use, OpOperand &matrix) {
  auto [axis, depthAxis] = getMatrixDims(matrix);
  RankedTensorType type = cast<RankedTensorType>(use.get().getType());
  if (!axis || type.getDimSize(*axis) == 1)
    return std::nullopt;
  Type element = type.getElementType();
  bool isSmall = element.isUnsignedInteger(4) || element.isInteger(8) || element.isSignlessInteger(16);
  bool areWords = use.getOperandNumber() == 0 && isSmall;
  if (areWords && type.getRank() == 2)
    return PackedDims{*axis, {}, 1 - *axis};
  return areWords && isa<ConvolveOp>(matrix.getOwner()) ? PackedDims{*axis, {}, depthAxis} : PackedDims{*axis};
}

/// True if a partly filled panel pays off: without packing, its elements would not be contiguous, or the conversion
/// would enlarge them in memory.
static bool hasEnoughColumns(OpOperand &use, PackedDims dims) {
  auto type = cast<RankedTensorType>(use.get().getType());
  assert(dims.axis >= 0 && dims.axis < type.getRank() && "panels are along a dimension of the weight");
  bool areNeighbours = dims.axis + 1 == type.getRank() && !dims.k4Axis && !getWidenedUse(use) &&
                       dims.columns == getMachine(use.getOwner()).panelColumns;
  return type.getDimSize(dims.axis) >= (areNeighbours ? kPanelColumns : kFewColumns);
}

/// True if all dimensions but `axis` and `depthAxis` are adjacent.
static bool areOthersTogether(OpOperand &use, int64_t axis, int64_t depthAxis) {
  assert(axis != depthAxis && "columns and depth are two dimensions");
  int64_t rank = cast<RankedTensorType>(use.get().getType()).getRank(), first = std::min(axis, depthAxis),
          last = std::max(axis, depthAxis);
  return (first == 0) + (last + 1 == rank) + (first + 1 == last) >= 2;
}

std::optional<MatrixAxes> tenon::getMatrixAxes(OpOperand &use) {
  auto [axis, depthAxis] = getMatrixDims(use);
  if (!axis || !depthAxis || !areOthersTogether(use, *axis, *depthAxis))
    return std::nullopt;
  return MatrixAxes{*axis, *depthAxis};
}

/// Returns the packing that a use requests, regardless of the number of columns.
static std::optional<PackedDims> findPackedDims(OpOperand &use) {
  if (OpOperand *matrix = getWidenedUse(use))
    return getWidenedDims(use, *matrix);
  if (auto convolve = dyn_cast<ConvolveOp>(use.getOwner());
      convolve && use.getOperandNumber() == 1 && getGroupPanel(convolve))
    return PackedDims{static_cast<int64_t>(convolve.getFilterDim()), {}, {}, getGroupPanel(convolve)};
  auto [axis, k4Axis] = getMatrixDims(use);
  Type type = getElementTypeOrSelf(use.get());
  bool isOfFloats = type.isF32() || type.isF64();
  if (auto contract = dyn_cast<ContractOp>(use.getOwner()); contract && isOfFloats)
    axis = getColumnDim(contract, use, /*mayBeBatched=*/true);
  if (!axis)
    return std::nullopt;
  if (isOfFloats)
    return PackedDims{*axis, {}, {}, getMachine(use.getOwner()).panelColumns};
  int64_t rank = cast<RankedTensorType>(use.get().getType()).getRank(), last = rank - (*axis + 1 == rank ? 2 : 1);
  bool isCollapsible = *axis == 0 || *axis + 2 >= rank; // of the dimensions that are neither
  if (!isInt8Matmul(use) || k4Axis != last || !isCollapsible)
    return std::nullopt;
  return PackedDims{*axis, k4Axis};
}

std::optional<PackedDims> tenon::getPackedDims(OpOperand &use) {
  std::optional<PackedDims> dims = findPackedDims(use);
  return dims && hasEnoughColumns(use, *dims) ? dims : std::nullopt;
}

std::optional<PackedDims> tenon::getEmbeddingDims(WeightOp weight) {
  RankedTensorType type = weight.getType();
  auto gathersRows = [&](OpOperand &use) {
    auto gather = dyn_cast<GatherOp>(use.getOwner());
    return gather && use.getOperandNumber() == 0 && gather.getAxis() == 0;
  };
  bool isEmbedding =
      type.getRank() == 2 && type.getElementType().isUnsignedInteger(4) && llvm::all_of(weight->getUses(), gathersRows);
  return isEmbedding ? std::optional(PackedDims{0, {}, 1, 1}) : std::nullopt;
}
