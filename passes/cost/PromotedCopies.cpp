//===- PromotedCopies.cpp - operands that kernels convert to f32 as they copy them ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/PromotedCopies.h"
#include "dialects/tenon/ReducedPrecision.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

static WeightOp findWeight(Value value) {
  Operation *definition = value.getDefiningOp();
  if (isa_and_nonnull<CastOp, UnpackOp>(definition))
    return findWeight(definition->getOperand(0));
  return dyn_cast_or_null<WeightOp>(definition);
}

/// True if the kernel of a matmul with a weight can copy a tile of LHS rows and promote them to f32 as it copies: the
/// only sum runs along a row, and the row's length fits the policy.
static bool copiesRows(ContractOp op, const CopyPolicy &policy) {
  ArrayRef<int64_t> lhs = op.getLhsDims(), rhs = op.getRhsDims(), result = op.getResultDims();
  if (lhs.size() < 2 || rhs.size() != 2 || result.size() != lhs.size() || !findWeight(op.getRhs()))
    return false;
  int64_t sum = lhs.back(), column = result.back();
  bool isProduct =
      rhs[0] == sum && rhs[1] == column && lhs.drop_back() == result.drop_back() && !llvm::is_contained(lhs, column);
  Dims dims = getDims(op.getLhs());
  std::optional<int64_t> depth = getConstant(dims.back());
  int64_t numRowDims = llvm::count_if(ArrayRef(dims).drop_back(), [](AffineExpr dim) { return getConstant(dim) != 1; });
  return isProduct && numRowDims == 1 && depth && *depth > 0 && *depth % policy.rowMultiple == 0 &&
         *depth <= policy.maxDepth;
}

/// True if scratch has room for the windows of some neighbouring pixels. Elements that are not copied are promoted
/// again for each product, which takes three times as long as the products.
static bool hasSmallWindows(ConvolveOp op, const CopyPolicy &policy) {
  ArrayRef<int64_t> shape = op.getFilter().getType().getShape();
  int64_t bytes = sizeof(float), numDims = op.getStrides().size();
  assert(static_cast<int64_t>(shape.size()) == numDims + 2 && "a filter has channels, filters and its window");
  auto multiply = [&](uint64_t count) {
    bytes = std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(bytes, count), policy.maxWindowBytes + 1);
  };
  multiply(shape[op.getFilterChannelDim()]);
  for (int64_t i = 0; i < numDims; ++i) {
    int64_t taps = shape[op.getFirstWindowDim() + i], pixels = i + 1 == numDims ? policy.pixels : 1;
    // What windows of one tap skip is not copied.
    int64_t stride = taps == 1 ? 1 : op.getStrides()[i];
    multiply((taps - 1) * op.getDilations()[i] + 1 + (pixels - 1) * stride);
  }
  return bytes <= policy.maxWindowBytes;
}

/// True if the kernel of a convolution uses register blocks: channels are last, and vectors run along the filters of a
/// weight, or along the channels of a depthwise convolution. Depthwise kernels promote vectors as they load them.
static bool copiesImage(ConvolveOp op, const CopyPolicy &policy) {
  WeightOp weight = findWeight(op.getFilter());
  if (!op.getChannelsLast() || !weight || isa<SplatElementsAttr>(weight.getValue()) ||
      !op.getType().getElementType().isF32())
    return false;
  ArrayRef<int64_t> shape = op.getFilter().getType().getShape();
  bool isDepthwise =
      shape[op.getFilterChannelDim()] == 1 && shape[op.getFilterDim()] == static_cast<int64_t>(op.getGroups());
  bool isProduct = op.getGroups() == 1 || op.getFilter().getDefiningOp<UnpackOp>();
  return isDepthwise || (isProduct && hasSmallWindows(op, policy));
}

static bool readsCopiedRows(OpOperand &use, const CopyPolicy &policy) {
  auto contract = dyn_cast<ContractOp>(use.getOwner());
  return contract && use.getOperandNumber() == 0 && copiesRows(contract, policy);
}

static bool readsCopiedImage(OpOperand &use, const CopyPolicy &policy) {
  auto convolve = dyn_cast<ConvolveOp>(use.getOwner());
  return convolve && use.getOperandNumber() == 0 && copiesImage(convolve, policy);
}

bool tenon::areCopiedImages(Value value, const CopyPolicy &policy) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) { return readsCopiedImage(use, policy); });
}

bool tenon::isCopied(OpOperand &use, const CopyPolicy &policy) {
  return readsCopiedRows(use, policy) || readsCopiedImage(use, policy);
}

bool tenon::areCopied(Value value, const CopyPolicy &policy) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) { return isCopied(use, policy); });
}

bool tenon::isWidenedWhenRead(CastOp cast, const CopyPolicy &policy) {
  return isWidened(cast) && !cast->use_empty() && areCopied(cast, policy);
}
