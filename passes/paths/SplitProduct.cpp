//===- SplitProduct.cpp - products of floats split into bf16 terms -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/SplitProduct.h"
#include "dialects/tenon/Padding.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Threading.h"
#include "passes/paths/FloatWeight.h"
#include <cassert>
#include <cmath>

using namespace mlir;
using namespace tenon;

bool SplitProduct::isSplitWhenRead() const {
  auto type = cast<RankedTensorType>(matrix->get().getType());
  int64_t depth = type.getNumElements() / type.getDimSize(axes.columns);
  // Longer sums need K-blocking, which is only implemented for matmuls.
  return matrixTerms == kAllTerms &&
         (type.getRank() == 2 || (isa<ConvolveOp>(matrix->getOwner()) && depth <= kMaxSplitDepth));
}

bool SplitProduct::areRowsSplitWhenRead() const {
  // Kernels can only split into three terms. Rows are not padded in memory, so steps must divide them.
  auto type = cast<RankedTensorType>(matrix->get().getType());
  bool hasThree = matrixTerms == kAllTerms || (matrixTerms == 1 && rowTerms == kAllTerms);
  return hasThree && type.getRank() == 2 && isa<ContractOp>(matrix->getOwner()) &&
         type.getDimSize(axes.depth) % kMaxOfStep == 0;
}

static bool isPromoted(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && getElementTypeOrSelf(cast.getInput()).isBF16();
}

std::optional<SplitProduct> tenon::findSplitProduct(Operation *op, TermSplit split) {
  auto convolve = dyn_cast<ConvolveOp>(op);
  if (!isa<ContractOp, ConvolveOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op) ||
      (convolve && convolve.getGroups() != 1))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isBf16 = isPromoted(operand.get());
    Value source = isBf16 ? operand.get().getDefiningOp<CastOp>().getInput() : operand.get();
    auto weight = source.getDefiningOp<WeightOp>();
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
    if (!axes || weight.getType().getDimSize(axes->columns) < kFewColumns || !getBytes(weight.getValue()))
      continue;
    OpOperand &rows = op->getOpOperand(1 - operand.getOperandNumber());
    bool areBothBf16 = isBf16 && isPromoted(rows.get());
    // Factors that are bf16 already need no rounding.
    if (split.rounds ? areBothBf16 || !(isBf16 || weight.getType().getElementType().isF32())
                     : isBf16 != (split.matrixTerms == 1))
      continue;
    int64_t rowTerms = split.rounds || areBothBf16 ? 1 : isBf16 ? SplitProduct::kAllTerms : split.matrixTerms;
    return SplitProduct{&operand, &rows, weight, *axes, rowTerms, split.matrixTerms};
  }
  return std::nullopt;
}

/// Returns the f16 operand if `x` is promoted from it, perhaps through reshapes; otherwise `x`.
static Value getStored(Value x) {
  Value source = x;
  while (auto reshape = source.getDefiningOp<ReshapeOp>())
    source = reshape.getInput();
  auto cast = source.getDefiningOp<CastOp>();
  return cast && getElementTypeOrSelf(cast.getInput()).isF16() ? cast.getInput() : x;
}

/// Returns what rounds `x` to bf16 already, moved to where all that reads `x` can read it; null if nothing does.
static CastOp findRounding(RewriterBase &rewriter, Value x) {
  for (Operation *user : x.getUsers())
    if (auto known = dyn_cast<CastOp>(user); known && known.getType().getElementType().isBF16()) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointAfterValue(x);
      if (rewriter.getInsertionPoint() != known->getIterator())
        rewriter.moveOpBefore(known, rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
      return known;
    }
  return nullptr;
}

/// Returns the elements of `x` as bf16, perhaps in another shape: the operand that `x` is promoted from, or a rounding
/// that all matmuls share. It rounds before reshapes, so that the kernel that computes the elements can do it.
static Value roundRows(RewriterBase &rewriter, Value x) {
  while (!isPromoted(x) && x.getDefiningOp<ReshapeOp>())
    x = x.getDefiningOp<ReshapeOp>().getInput();
  if (isPromoted(x))
    return x.getDefiningOp<CastOp>().getInput();
  if (CastOp known = findRounding(rewriter, x))
    return known;
  auto type = cast<RankedTensorType>(x.getType()).clone(rewriter.getBF16Type());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  return CastOp::create(rewriter, x.getLoc(), type, x);
}

/// Returns the terms of `x`, by one operation that all matmuls share; or, if `isWhole`, `x` itself in steps, which the
/// kernel splits.
static Value splitTerms(RewriterBase &rewriter, Value x, int64_t numTerms, bool isWhole) {
  assert(getConstant(getDims(x).back()) && "rows are as long as the matrix of a weight, which is static");
  Dims dims = getDims(x);
  int64_t depth = *getConstant(dims.back()), step = chooseStep(depth);
  dims.back() = ceilDivDims(dims.back(), getDimConstant(x.getContext(), step));
  dims.append({getDimConstant(x.getContext(), numTerms), getDimConstant(x.getContext(), step)});
  Type type = getTensorType(dims, isWhole ? getElementTypeOrSelf(getStored(x)) : rewriter.getBF16Type());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  // One term in whole steps has the layout of `x`.
  if (numTerms == 1 && depth % step == 0) {
    Value rows = isWhole ? getStored(x) : roundRows(rewriter, x);
    rewriter.setInsertionPointAfterValue(rows);
    return ReshapeOp::create(rewriter, x.getLoc(), type, rows);
  }
  for (Operation *user : x.getUsers())
    if (auto known = dyn_cast<SplitTermsOp>(user); known && known.getType() == type)
      return known;
  return SplitTermsOp::create(rewriter, x.getLoc(), type, x);
}

/// Returns the elements of a weight as f32; bf16 elements are converted into `widened`.
static const float *getElements(WeightOp weight, std::vector<float> &widened) {
  assert(getBytes(weight.getValue()) && "findSplitProduct leaves out weights whose bytes are unknown");
  ArrayRef<char> bytes = *getBytes(weight.getValue());
  if (!weight.getType().getElementType().isBF16())
    return reinterpret_cast<const float *>(bytes.data());
  const auto *bf16s = reinterpret_cast<const uint16_t *>(bytes.data());
  widened.resize(bytes.size() / sizeof(uint16_t));
  for (auto [element, bf16] : llvm::zip(widened, ArrayRef(bf16s, widened.size())))
    element = llvm::bit_cast<float>(uint32_t(bf16) << 16);
  return widened.data();
}

std::optional<AmxSums> tenon::countAmxSums(const ProductShape &shape, int64_t neighbours) {
  constexpr double kRows = 16; // format: rows of an AMX tile
  if (shape.depth < 1 || shape.neighbours < 2)
    return std::nullopt;
  double lines = shape.rows / shape.neighbours, ofLine = std::ceil(shape.neighbours / kRows);
  auto step = static_cast<double>(chooseStep(static_cast<int64_t>(shape.depth), neighbours));
  return AmxSums{lines * ofLine * std::ceil(shape.columns / kTermColumns),
                 shape.repetitions * std::ceil(shape.depth / step)};
}

TermPacking tenon::getTermPacking(RankedTensorType matrix, const MatrixAxes &axes, int64_t numTerms,
                                  int64_t neighbours) {
  ArrayRef<int64_t> shape = matrix.getShape();
  SmallVector<int64_t> strides = computeStrides(shape);
  auto [axis, depthAxis] = axes;
  TermPacking packing{1,
                      0,
                      shape[depthAxis],
                      strides[depthAxis],
                      shape[axis],
                      strides[axis],
                      chooseStep(shape[depthAxis], neighbours),
                      numTerms,
                      neighbours};
  for (int64_t i = 0; i < matrix.getRank(); ++i)
    if (i != axis && i != depthAxis) {
      assert((packing.outer == 1 || packing.outerStride == shape[i] * strides[i]) &&
             "outer dimensions follow each other in memory, so that one stride moves along all of them");
      packing.outer *= shape[i];
      packing.outerStride = strides[i];
    }
  return packing;
}

SmallVector<int64_t> tenon::getPanelShape(RankedTensorType matrix, const MatrixAxes &axes, const TermPacking &packing) {
  SmallVector<int64_t> shape{packing.getNumPanels()};
  for (int64_t i = 0; i < matrix.getRank(); ++i)
    if (i != axes.columns && i != axes.depth)
      shape.push_back(matrix.getDimSize(i));
  int64_t neighbours = packing.neighbours;
  shape.append({packing.getNumSteps(), packing.numTerms, packing.step / neighbours, neighbours * kTermColumns});
  return shape;
}

void tenon::forPanels(MLIRContext *context, const TermPacking &packing,
                      llvm::function_ref<void(const TermPacking &part, int64_t firstColumn)> body) {
  constexpr int64_t kColumnsOfPart = 4 * kTermColumns; // limit: whole cache lines of rows, and work for each thread
  parallelFor(context, 0, llvm::divideCeil(packing.columns, kColumnsOfPart), [&](size_t number) {
    int64_t first = static_cast<int64_t>(number) * kColumnsOfPart;
    TermPacking part = packing;
    part.columns = std::min(kColumnsOfPart, packing.columns - first);
    body(part, first);
  });
}

static Value packWeight(RewriterBase &rewriter, const SplitProduct &product) {
  WeightOp weight = product.weight;
  constexpr int64_t kPair = 2; // format: bf16 in 32 bits
  TermPacking packing =
      getTermPacking(weight.getType(), product.axes, product.isSplitWhenRead() ? 1 : product.matrixTerms, kPair);
  Type elementType = product.isSplitWhenRead() ? Type(rewriter.getF32Type()) : rewriter.getBF16Type();
  int64_t bytes = packing.countElements() * elementType.getIntOrFloatBitWidth() / 8;
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(bytes, 64, /*dataIsMutable=*/true);
  llvm::fill(blob.getMutableData(), 0);
  char *target = blob.getMutableData().data();
  std::vector<float> widened;
  const float *elements = getElements(weight, widened);
  forPanels(weight.getContext(), packing, [&](const TermPacking &part, int64_t column) {
    const float *from = elements + column * packing.columnStride;
    int64_t place = column / kTermColumns * packing.countPanelElements();
    if (product.isSplitWhenRead())
      packWhole(part, from, reinterpret_cast<float *>(target) + place);
    else
      packTerms(part, from, reinterpret_cast<uint16_t *>(target) + place);
  });
  auto type = RankedTensorType::get(getPanelShape(weight.getType(), product.axes, packing), elementType);
  auto terms = WeightOp::create(rewriter, weight.getLoc(), createElements(type, "terms", std::move(blob)));
  terms.setNameAttr(deriveName(weight.getNameAttr(), "split"));
  return UnpackTermsOp::create(rewriter, weight.getLoc(), product.matrix->get().getType(), terms, product.axes.columns,
                               product.axes.depth);
}

double tenon::measureRoundingError(const SplitProduct &product) {
  WeightOp weight = product.weight;
  ArrayRef<int64_t> shape = weight.getType().getShape();
  SmallVector<int64_t> strides = computeStrides(shape);
  std::vector<float> widened;
  const float *elements = getElements(weight, widened);
  int64_t numColumns = shape[product.axes.columns], stride = strides[product.axes.columns];
  std::vector<double> squares(numColumns), errors(numColumns);
  for (int64_t i = 0, count = weight.getType().getNumElements(); i < count; ++i) {
    double x = elements[i], error = x - roundToBf16(elements[i]);
    squares[i / stride % numColumns] += x * x;
    errors[i / stride % numColumns] += error * error;
  }
  double largest = *llvm::max_element(squares), worst = 0;
  if (!std::isfinite(largest))
    return std::numeric_limits<double>::infinity();
  for (auto [square, error] : llvm::zip_equal(squares, errors))
    worst = std::max(worst, error + square * kBf16RoundingError * kBf16RoundingError);
  return kSumError + (largest > 0 ? std::sqrt(worst / largest) : 0);
}

double tenon::getLeastRoundingError() { return kSumError + kBf16RoundingError; }

bool tenon::skipsPixels(ConvolveOp op) {
  ArrayRef<int64_t> filter = op.getFilter().getType().getShape();
  bool isOfOne = llvm::all_of(filter.slice(op.getFirstWindowDim(), op.getStrides().size()),
                              [](int64_t extent) { return extent == 1; });
  return isOfOne && llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; });
}

void tenon::takeSteps(RewriterBase &rewriter, ConvolveOp op) {
  if (hasPadding(op))
    padWithZeros(rewriter, op);
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

/// Lookups in a tied embedding also read the rounded elements, so that the weight is stored once.
static void replaceLookups(RewriterBase &rewriter, WeightOp weight, Value packed) {
  auto isLookup = [](OpOperand &use) { return isa<GatherOp>(use.getOwner()) && use.getOperandNumber() == 0; };
  if (llvm::none_of(weight->getUses(), isLookup) || packed.getType() != weight.getType())
    return;
  Operation *unpack = packed.getDefiningOp(), *terms = unpack->getOperand(0).getDefiningOp();
  rewriter.moveOpAfter(terms, weight);
  // Products read theirs in panels, as a whole.
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfter(terms);
  Value own = rewriter.clone(*unpack)->getResult(0);
  rewriter.replaceUsesWithIf(weight.getResult(), own, isLookup);
}

Operation *tenon::rewriteSplitProduct(Operation *op, TermSplit split, RewriterBase &rewriter) {
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && hasPadding(convolve))
    padWithZeros(rewriter, convolve);
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && skipsPixels(convolve))
    takeSteps(rewriter, convolve);
  std::optional<SplitProduct> found = findSplitProduct(op, split);
  assert(found && "a product that is padded, or reads each pixel that it takes, can still be split");
  SplitProduct product = *found;
  bool isWhole = product.areRowsSplitWhenRead();
  Value x = product.rows->get(), terms = splitTerms(rewriter, x, isWhole ? 1 : product.rowTerms, isWhole);
  Value packed = packWeight(rewriter, product);
  if (split.rounds)
    replaceLookups(rewriter, product.weight, packed);
  Operation *matrix = product.matrix->get().getDefiningOp();
  rewriter.modifyOpInPlace(op, [&] {
    product.rows->set(MergeTermsOp::create(rewriter, op->getLoc(), x.getType(), terms));
    product.matrix->set(packed);
  });
  eraseUnread(rewriter, x.getDefiningOp());
  eraseUnread(rewriter, matrix);
  return op;
}
