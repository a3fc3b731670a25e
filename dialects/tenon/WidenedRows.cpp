//===- WidenedRows.cpp - halves that kernels of products widen ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/WidenedRows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

bool tenon::isReducedPrecision(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

bool tenon::isWidened(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && isReducedPrecision(cast.getInput().getType()) && cast.getType().getElementType().isF32();
}

static WeightOp findWeight(Value value) {
  Operation *definition = value.getDefiningOp();
  if (isa_and_nonnull<CastOp, UnpackOp>(definition))
    return findWeight(definition->getOperand(0));
  return dyn_cast_or_null<WeightOp>(definition);
}

/// Whether the kernel of a product with a weight can copy the rows of its left operand, a tile's at a time,
/// and widen them as it does: the only sum runs along a row, whose length is a known multiple of a line of
/// memory, and not too long for what tiles copy.
static bool copiesRows(ContractOp op) {
  // All tiles of 56 rows have room for their copies (passes/kernel/Contraction.h).
  constexpr int64_t kLine = 16, kMaxSteps = 4096;
  ArrayRef<int64_t> lhs = op.getLhsDims(), rhs = op.getRhsDims(), result = op.getResultDims();
  if (lhs.size() < 2 || rhs.size() != 2 || result.size() != lhs.size() || !findWeight(op.getRhs()))
    return false;
  int64_t sum = lhs.back(), column = result.back();
  bool isProduct =
      rhs[0] == sum && rhs[1] == column && lhs.drop_back() == result.drop_back() && !llvm::is_contained(lhs, column);
  Dims dims = getDims(op.getLhs());
  std::optional<int64_t> depth = getConstant(dims.back());
  int64_t numRowDims = llvm::count_if(ArrayRef(dims).drop_back(), [](AffineExpr dim) { return getConstant(dim) != 1; });
  return isProduct && numRowDims == 1 && depth && *depth > 0 && *depth % kLine == 0 && *depth <= kMaxSteps;
}

/// Whether a thread has room for what the windows of some neighbouring pixels see: elements that are not copied are
/// widened for each product, which takes three times as long as the products do.
static bool hasSmallWindows(ConvolveOp op) {
  // So many bytes have room (passes/kernel/Contraction.h), of which each group sees a part.
  constexpr int64_t kMaxBytes = 1 << 18, kPixels = 16;
  ArrayRef<int64_t> shape = op.getFilter().getType().getShape();
  int64_t bytes = sizeof(float), numDims = op.getStrides().size();
  auto multiply = [&](uint64_t count) {
    bytes = std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(bytes, count), kMaxBytes + 1);
  };
  multiply(shape[op.getFilterChannelDim()]);
  for (int64_t i = 0; i < numDims; ++i) {
    int64_t taps = shape[op.getFirstWindowDim() + i], pixels = i + 1 == numDims ? kPixels : 1;
    // What windows of one tap skip is not copied.
    int64_t stride = taps == 1 ? 1 : op.getStrides()[i];
    multiply((taps - 1) * op.getDilations()[i] + 1 + (pixels - 1) * stride);
  }
  return bytes <= kMaxBytes;
}

/// Whether registers are blocked for the kernel of a convolution: channels are last, and vectors run along the filters
/// of a weight, or along the channels where each has a filter. These widen vectors as they load them.
static bool copiesImage(ConvolveOp op) {
  WeightOp weight = findWeight(op.getFilter());
  if (!op.getChannelsLast() || !weight || isa<SplatElementsAttr>(weight.getValue()) ||
      !op.getType().getElementType().isF32())
    return false;
  ArrayRef<int64_t> shape = op.getFilter().getType().getShape();
  bool isDepthwise =
      shape[op.getFilterChannelDim()] == 1 && shape[op.getFilterDim()] == static_cast<int64_t>(op.getGroups());
  bool isProduct = op.getGroups() == 1 || op.getFilter().getDefiningOp<UnpackOp>();
  return isDepthwise || (isProduct && hasSmallWindows(op));
}

static bool readsCopiedRows(OpOperand &use) {
  auto contract = dyn_cast<ContractOp>(use.getOwner());
  return contract && use.getOperandNumber() == 0 && copiesRows(contract);
}

static bool readsCopiedImage(OpOperand &use) {
  auto convolve = dyn_cast<ConvolveOp>(use.getOwner());
  return convolve && use.getOperandNumber() == 0 && copiesImage(convolve);
}

bool tenon::areCopiedImages(Value value) { return llvm::all_of(value.getUses(), readsCopiedImage); }

bool tenon::isCopied(OpOperand &use) { return readsCopiedRows(use) || readsCopiedImage(use); }

bool tenon::areCopied(Value value) { return llvm::all_of(value.getUses(), isCopied); }

bool tenon::isWidenedWhenRead(CastOp cast) { return isWidened(cast) && !cast->use_empty() && areCopied(cast); }
