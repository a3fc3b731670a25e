//===- PartProduct.cpp - products of floats in parts ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PartProduct.h"
#include "dialects/tenon/Padding.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/cost/ProductShape.h"

using namespace mlir;
using namespace tenon;

bool PartProduct::isCutWhenRead() const {
  auto type = cast<RankedTensorType>(matrix->get().getType());
  int64_t depth = type.getNumElements() / type.getDimSize(axes.columns);
  // Longer sums are done in parts, those of matrices alone.
  return matrixParts == 3 && (type.getRank() == 2 || (isa<ConvolveOp>(matrix->getOwner()) && depth <= kMaxCutDepth));
}

bool PartProduct::areRowsCutWhenRead() const {
  // Kernels cut into three parts alone. Rows stay as they are in memory: no step may reach beyond them.
  auto type = cast<RankedTensorType>(matrix->get().getType());
  bool hasThree = matrixParts == 3 || (matrixParts == 1 && rowParts == 3);
  return hasThree && type.getRank() == 2 && isa<ContractOp>(matrix->getOwner()) &&
         type.getDimSize(axes.depth) % kMaxOfStep == 0;
}

static bool isPromoted(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && getElementTypeOrSelf(cast.getInput()).isBF16();
}

std::optional<PartProduct> tenon::findPartProduct(Operation *op, int64_t numParts) {
  auto convolve = dyn_cast<ConvolveOp>(op);
  if (!isa<ContractOp, ConvolveOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op) ||
      (convolve && convolve.getGroups() != 1))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isBf16 = isPromoted(operand.get());
    Value source = isBf16 ? operand.get().getDefiningOp<CastOp>().getInput() : operand.get();
    auto weight = source.getDefiningOp<WeightOp>();
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
    if (!axes || isBf16 != (numParts == 1) || weight.getType().getDimSize(axes->columns) < kFewColumns ||
        !getBytes(weight.getValue()))
      continue;
    OpOperand &rows = op->getOpOperand(1 - operand.getOperandNumber());
    return PartProduct{&operand, &rows, weight, *axes, isBf16 ? isPromoted(rows.get()) ? 1 : 3 : numParts, numParts};
  }
  return std::nullopt;
}

/// `x`, or the f16 that it was widened from, in whatever shape.
static Value getStored(Value x) {
  Value source = x;
  while (auto reshape = source.getDefiningOp<ReshapeOp>())
    source = reshape.getInput();
  auto cast = source.getDefiningOp<CastOp>();
  return cast && getElementTypeOrSelf(cast.getInput()).isF16() ? cast.getInput() : x;
}

/// One for all products that read it; or `x` itself in steps, which the kernel cuts.
static Value toParts(RewriterBase &rewriter, Value x, int64_t numParts, bool isWhole) {
  Dims dims = getDims(x);
  int64_t depth = *getConstant(dims.back()), step = chooseStep(depth);
  dims.back() = ceilDivDims(dims.back(), getDimConstant(x.getContext(), step));
  dims.append({getDimConstant(x.getContext(), numParts), getDimConstant(x.getContext(), step)});
  Type type = getTensorType(dims, isWhole ? getElementTypeOrSelf(getStored(x)) : rewriter.getBF16Type());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  // What is a part by itself, in whole steps, lies in memory as it should.
  if (numParts == 1 && depth % step == 0)
    return ReshapeOp::create(rewriter, x.getLoc(), type, isWhole ? getStored(x) : x.getDefiningOp<CastOp>().getInput());
  for (Operation *user : x.getUsers())
    if (auto known = dyn_cast<ToPartsOp>(user); known && known.getType() == type)
      return known;
  return ToPartsOp::create(rewriter, x.getLoc(), type, x);
}

/// The elements of a weight as f32; those of bf16 in `widened`.
static const float *getElements(WeightOp weight, std::vector<float> &widened) {
  ArrayRef<char> bytes = *getBytes(weight.getValue());
  if (!weight.getType().getElementType().isBF16())
    return reinterpret_cast<const float *>(bytes.data());
  const auto *halves = reinterpret_cast<const uint16_t *>(bytes.data());
  widened.resize(bytes.size() / sizeof(uint16_t));
  for (auto [element, half] : llvm::zip(widened, ArrayRef(halves, widened.size())))
    element = llvm::bit_cast<float>(uint32_t(half) << 16);
  return widened.data();
}

static Value packWeight(RewriterBase &rewriter, const PartProduct &product) {
  WeightOp weight = product.weight;
  ArrayRef<int64_t> shape = weight.getType().getShape();
  SmallVector<int64_t> strides = computeStrides(shape);
  auto [axis, depthAxis] = product.axes;
  PartPacking packing{1,
                      0,
                      shape[depthAxis],
                      strides[depthAxis],
                      shape[axis],
                      strides[axis],
                      chooseStep(shape[depthAxis]),
                      product.isCutWhenRead() ? 1 : product.matrixParts};
  SmallVector<int64_t> packed{packing.getNumPanels()};
  for (int64_t i = 0; i < weight.getType().getRank(); ++i)
    if (i != axis && i != depthAxis) {
      packing.outer *= shape[i];
      packing.outerStride = strides[i];
      packed.push_back(shape[i]);
    }
  packed.append({packing.getNumSteps(), packing.numParts, packing.step / 2, 2 * kPartColumns});
  Type elementType = product.isCutWhenRead() ? Type(rewriter.getF32Type()) : rewriter.getBF16Type();
  int64_t bytes = packing.countElements() * elementType.getIntOrFloatBitWidth() / 8;
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(bytes, 64, /*dataIsMutable=*/true);
  llvm::fill(blob.getMutableData(), 0);
  char *target = blob.getMutableData().data();
  std::vector<float> widened;
  const float *elements = getElements(weight, widened);
  if (product.isCutWhenRead())
    packWhole(packing, elements, reinterpret_cast<float *>(target));
  else
    packParts(packing, elements, reinterpret_cast<uint16_t *>(target));
  auto type = RankedTensorType::get(packed, elementType);
  auto parts =
      WeightOp::create(rewriter, weight.getLoc(), DenseResourceElementsAttr::get(type, "parts", std::move(blob)));
  parts.setNameAttr(weight.getNameAttr());
  return UnpackPartsOp::create(rewriter, weight.getLoc(), product.matrix->get().getType(), parts, axis, depthAxis);
}

bool tenon::skipsPixels(ConvolveOp op) {
  ArrayRef<int64_t> filter = op.getFilter().getType().getShape();
  bool isOfOne = llvm::all_of(filter.slice(op.getFirstWindowDim(), op.getStrides().size()),
                              [](int64_t extent) { return extent == 1; });
  return isOfOne && llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; });
}

/// convolve(x) of single pixels some apart -> convolve(slice(x)): no others become parts.
static void takeSteps(RewriterBase &rewriter, ConvolveOp op) {
  Value x = op.getInput();
  Dims dims = getDims(x), result = getDims(op.getResult());
  SmallVector<int64_t> steps(dims.size(), 1), ones(op.getStrides().size(), 1);
  for (auto [i, stride] : llvm::enumerate(op.getStrides())) {
    int64_t dim = op.getFirstSpatialDim() + i;
    dims[dim] = result[dim];
    steps[dim] = stride;
  }
  auto zeros = ShapeAttr::get(op.getContext(), Dims(dims.size(), getDimConstant(op.getContext(), 0)));
  rewriter.setInsertionPoint(op);
  Value taken = SliceOp::create(rewriter, op.getLoc(), getTensorType(dims, getElementTypeOrSelf(x)), x, zeros, steps);
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(taken);
    op.setStrides(ones);
  });
}

Operation *tenon::takePartProduct(Operation *op, int64_t numParts, RewriterBase &rewriter) {
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && hasPadding(convolve))
    padWithZeros(rewriter, convolve);
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && skipsPixels(convolve))
    takeSteps(rewriter, convolve);
  PartProduct product = *findPartProduct(op, numParts);
  bool isWhole = product.areRowsCutWhenRead();
  Value x = product.rows->get(), parts = toParts(rewriter, x, isWhole ? 1 : product.rowParts, isWhole);
  Value packed = packWeight(rewriter, product);
  Operation *matrix = product.matrix->get().getDefiningOp();
  rewriter.modifyOpInPlace(op, [&] {
    product.rows->set(FromPartsOp::create(rewriter, op->getLoc(), x.getType(), parts));
    product.matrix->set(packed);
  });
  auto eraseUnused = [&](Operation *source) {
    while (isa_and_nonnull<WeightOp, CastOp, ReshapeOp>(source) && source->use_empty()) {
      Operation *before = source->getNumOperands() ? source->getOperand(0).getDefiningOp() : nullptr;
      rewriter.eraseOp(source);
      source = before;
    }
  };
  eraseUnused(x.getDefiningOp());
  eraseUnused(matrix);
  return op;
}
