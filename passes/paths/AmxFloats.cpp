//===- AmxFloats.cpp - products of f32 in tile registers -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three parts of bf16 have all bits of an f32, so that six products of parts are
// off by less than a sum of f32 is. Two have 16, and three products of these are off
// by some millionths. How fast that is was measured: two thirds of what the
// instructions alone could do.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/layout/PackedDims.h"
#include "passes/layout/Padding.h"
#include "passes/paths/Path.h"
#include "passes/paths/ProductShape.h"
#include "passes/paths/parts/FloatParts.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
class AmxFloats : public Path {
public:
  explicit AmxFloats(int64_t numParts)
      : numParts(numParts), name("bf16x" + std::to_string(countPartProducts(numParts))) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  bool isAsExact() const override { return numParts == 3; }
  Operation *take(Operation *op, const Machine &machine, RewriterBase &rewriter) const override;

private:
  Value toParts(RewriterBase &rewriter, Value x) const;
  Value packWeight(RewriterBase &rewriter, OpOperand &use) const;

  int64_t numParts;
  std::string name;
};
} // namespace

/// The matrix of a product that this is a way for; null where there is none.
static OpOperand *findMatrix(Operation *op) {
  if (!isa<ContractOp, ConvolveOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() ||
      !isProductOfFloats(op))
    return nullptr;
  OpOperand *matrix = findPanels(op);
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && convolve.getGroups() != 1)
    return nullptr;
  return matrix && getDepthAxis(*matrix) && getBytes(matrix->get().getDefiningOp<WeightOp>().getValue())
             ? matrix
             : nullptr;
}

std::optional<double> AmxFloats::estimateCycles(Operation *op, const Machine &machine) const {
  // Of a tile register; cycles for a product, for what happens to the sums of a tile, for an element that
  // becomes parts, and until a kernel of its own for that runs; and what is reached of it all.
  constexpr double kRows = 16, kProduct = 16, kSums = 64, kSplit = 1, kLaunch = 6000, kShare = 0.65;
  OpOperand *matrix = machine.amxBf16 ? findMatrix(op) : nullptr;
  if (!matrix || cast<RankedTensorType>(op->getResult(0).getType()).getRank() < 2)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  if (shape.depth < 1)
    return std::nullopt;
  double tiles = shape.rows / shape.neighbours * std::ceil(shape.neighbours / kRows) *
                 std::ceil(shape.columns / kPartColumns);
  double steps = shape.repetitions * std::ceil(shape.depth / chooseStep(shape.depth));
  double cycles = tiles * (steps * countPartProducts(numParts) * kProduct / kShare + kSums);
  double elements = shape.rows * shape.depth * (isa<ConvolveOp>(op) ? 1 : shape.repetitions);
  if (auto convolve = dyn_cast<ConvolveOp>(op)) {
    elements *= computeProduct(convolve.getStrides());
    if (hasPadding(convolve))
      cycles += elements * sizeof(float) / machine.farBytes;
  }
  cycles += elements * kSplit + kLaunch;
  return std::max(cycles, machine.getReadCycles(shape.getWeights() * numParts * sizeof(uint16_t)));
}

double AmxFloats::measureError(Operation *) const {
  // Of sums of products of two parts each, with any numbers: half of what rounding leaves of each factor.
  constexpr double kOfTwoParts = 6e-6;
  return numParts < 3 ? kOfTwoParts : kSumError;
}

/// One for all products that read it.
Value AmxFloats::toParts(RewriterBase &rewriter, Value x) const {
  Dims dims = getDims(x);
  int64_t step = chooseStep(*getConstant(dims.back()));
  dims.back() = ceilDivDims(dims.back(), getDimConstant(x.getContext(), step));
  dims.append({getDimConstant(x.getContext(), numParts), getDimConstant(x.getContext(), step)});
  Type type = getTensorType(dims, rewriter.getBF16Type());
  for (Operation *user : x.getUsers())
    if (auto known = dyn_cast<ToPartsOp>(user); known && known.getType() == type)
      return known;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  return ToPartsOp::create(rewriter, x.getLoc(), type, x);
}

Value AmxFloats::packWeight(RewriterBase &rewriter, OpOperand &use) const {
  auto weight = use.get().getDefiningOp<WeightOp>();
  ArrayRef<int64_t> shape = weight.getType().getShape();
  SmallVector<int64_t> strides = computeStrides(shape);
  int64_t axis = getPackedDims(use)->axis, depthAxis = *getDepthAxis(use);
  PartPacking packing{1,
                      0,
                      shape[depthAxis],
                      strides[depthAxis],
                      shape[axis],
                      strides[axis],
                      chooseStep(shape[depthAxis]),
                      numParts};
  SmallVector<int64_t> packed{packing.getNumPanels()};
  for (int64_t i = 0; i < weight.getType().getRank(); ++i)
    if (i != axis && i != depthAxis) {
      packing.outer *= shape[i];
      packing.outerStride = strides[i];
      packed.push_back(shape[i]);
    }
  packed.append({packing.getNumSteps(), numParts, packing.step / 2, 2 * kPartColumns});
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(packing.countElements() * sizeof(uint16_t), 64, /*dataIsMutable=*/true);
  llvm::fill(blob.getMutableData(), 0);
  packParts(packing, reinterpret_cast<const float *>(getBytes(weight.getValue())->data()),
            reinterpret_cast<uint16_t *>(blob.getMutableData().data()));
  auto type = RankedTensorType::get(packed, rewriter.getBF16Type());
  auto parts = WeightOp::create(rewriter, weight.getLoc(),
                                DenseResourceElementsAttr::get(type, "parts", std::move(blob)));
  parts.setNameAttr(weight.getNameAttr());
  return UnpackPartsOp::create(rewriter, weight.getLoc(), weight.getType(), parts, axis, depthAxis);
}

/// product(x, w) -> product(from_parts(to_parts(x)), unpack_parts(w))
Operation *AmxFloats::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && hasPadding(convolve))
    padWithZeros(rewriter, convolve);
  OpOperand &matrix = *findMatrix(op), &rows = op->getOpOperand(1 - matrix.getOperandNumber());
  auto weight = matrix.get().getDefiningOp<WeightOp>();
  Value parts = toParts(rewriter, rows.get()), packed = packWeight(rewriter, matrix);
  rewriter.modifyOpInPlace(op, [&] {
    rows.set(FromPartsOp::create(rewriter, op->getLoc(), rows.get().getType(), parts));
    matrix.set(packed);
  });
  if (weight->use_empty())
    rewriter.eraseOp(weight);
  return op;
}

std::unique_ptr<Path> tenon::createAmxFloats(int64_t numParts) {
  return std::make_unique<AmxFloats>(numParts);
}
