//===- AmxInt8Terms.cpp - products of f32 as int8 terms in AMX tiles ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of AMX tiles of int8 has twice the products of one of bf16. Two terms of int8
// hold 16 bits of a number, as two of bf16 do, and three hold 24; so int8x3 takes half the
// instructions of bf16x3, and int8x6 of bf16x6. The price is a scale: terms are digits of
// fixed-point numbers, so each row of a matmul, each image and each filter is off by a
// part of its largest element, and what is far below that is less exact. Scales of rows
// are computed in each run.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/TenonBuilder.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/LargestMagnitude.h"
#include "passes/paths/Path.h"
#include "passes/paths/SplitProduct.h"
#include "passes/paths/split/Int8Terms.h"
#include "passes/precision/ConstantMatrices.h"
#include <atomic>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;

namespace {
/// A convolution of images, or a matmul of rows, with a constant matrix of floats.
struct Int8TermProduct {
  OpOperand *rows, *matrix;
  WeightOp weight; ///< the matrix as it is stored, in floats of any width
  MatrixAxes axes;
  int64_t firstSummed; ///< the dimension of the rows from which on elements share a scale

  int64_t getDepth() const { return getType().getNumElements() / getType().getDimSize(axes.columns); }
  RankedTensorType getType() const { return WeightOp(weight).getType(); }
};

class AmxInt8TermsPath : public Path {
public:
  AmxInt8TermsPath(int64_t numTerms, const PathPolicy &policy)
      : numTerms(numTerms), policy(policy), name("int8x" + std::to_string(countTermProducts(numTerms))) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *op) const override;
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override;

private:
  std::optional<Int8TermProduct> findProduct(Operation *op) const;
  Value packWeight(RewriterBase &rewriter, const Int8TermProduct &product, std::vector<float> &scales) const;
  Value splitRows(RewriterBase &rewriter, Value x) const;

  int64_t numTerms;
  PathPolicy policy;
  std::string name;
};
} // namespace

std::optional<Int8TermProduct> AmxInt8TermsPath::findProduct(Operation *op) const {
  auto convolve = dyn_cast<ConvolveOp>(op);
  auto contract = dyn_cast<ContractOp>(op);
  if ((!convolve && !contract) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op) ||
      (convolve && convolve.getGroups() != 1))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    // A lookup may read the floats, too: they are stored beside the terms then, as for products of bf16.
    WeightOp weight = findFloatWeight(operand, [](Operation *) { return true; });
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
    if (!axes || weight.getType().getNumElements() == 0 || weight.getType().getDimSize(axes->columns) < kFewColumns)
      continue;
    OpOperand &rows = op->getOpOperand(1 - operand.getOperandNumber());
    if (contract && (weight.getType().getRank() != 2 || !keepsRows(contract, rows)))
      continue;
    int64_t last = cast<RankedTensorType>(rows.get().getType()).getRank() - 1;
    Int8TermProduct product{&rows, &operand, weight, *axes, convolve ? 1 : last};
    if (fitInt8Sums(product.getDepth(), numTerms))
      return product;
  }
  return std::nullopt;
}

std::optional<double> AmxInt8TermsPath::estimateCycles(Operation *op, const Machine &machine) const {
  if (!machine.amxInt8 || !findProduct(op))
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  std::optional<AmxSums> sums = countAmxSums(shape, kInt8Neighbours);
  if (!sums)
    return std::nullopt;
  // Each product loads the terms that it multiplies: sums of different powers are done one after the other.
  int64_t products = countTermProducts(numTerms);
  auto terms = static_cast<double>(numTerms);
  double step = policy.getAmxStepCycles(products, products, products);
  double cycles = sums->tiles * (sums->steps * step + terms * policy.amxInt8TermSumCycles);
  cycles = std::max(cycles, machine.getReadCycles(shape.getWeights() * terms));
  // Two kernels find the scales, in the case of images, and one splits.
  double launches = isa<ConvolveOp>(op) ? 3 : 2;
  return cycles + policy.amxBeginCycles + launches * machine.launchCycles +
         countRoundedElements(op, shape) *
             getRoundingCycles(op, policy.amxMagnitudeCycles + terms * policy.amxInt8SplitCycles, policy);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Of n normal numbers the largest is about sqrt(2 ln(n)) times their root mean square; a ReLU makes that the root of 2
/// times as much.
static double getCrest(const Int8TermProduct &product) {
  double count = std::max(estimateElements(*product.rows, product.firstSummed), 2.0);
  return std::sqrt(2 * std::log(count)) * std::sqrt(2.0);
}

/// Returns the elements of a weight as f32; those of other types are converted into `widened`.
static const float *getFloats(WeightOp weight, std::vector<float> &widened) {
  const char *bytes = getBytes(weight.getValue())->data();
  FloatKind kind = *getFloatKind(weight.getType().getElementType());
  if (kind == FloatKind::f32)
    return reinterpret_cast<const float *>(bytes);
  size_t elementBytes = FloatMatrix{bytes, kind, 0, 0, 0, 0}.getElementBytes();
  widened.resize(weight.getType().getNumElements());
  for (auto [i, element] : llvm::enumerate(widened))
    element = toFloat(kind, bytes + i * elementBytes);
  return widened.data();
}

static Int8Columns measureColumns(MLIRContext *context, const TermPacking &packing, const float *elements) {
  Int8Columns columns{std::vector<float>(packing.columns), std::vector<double>(packing.columns)};
  std::atomic<bool> isFinite = true;
  forPanels(context, packing, [&](const TermPacking &part, int64_t first) {
    Int8Columns own = measureColumns(part, elements + first * packing.columnStride);
    llvm::copy(own.scales, columns.scales.begin() + first);
    llvm::copy(own.squares, columns.squares.begin() + first);
    if (!own.isFinite)
      isFinite = false;
  });
  columns.isFinite = isFinite;
  return columns;
}

double AmxInt8TermsPath::measureError(Operation *op) const {
  Int8TermProduct product = *findProduct(op);
  std::vector<float> widened;
  TermPacking packing = getTermPacking(product.getType(), product.axes, numTerms, kInt8Neighbours);
  Int8Columns columns = measureColumns(op->getContext(), packing, getFloats(product.weight, widened));
  return kSumError + getInt8TermError(columns, product.getDepth(), numTerms, getCrest(product));
}

double AmxInt8TermsPath::getLeastError(Operation *op) const {
  return kSumError + getInt8RowError(numTerms, getCrest(*findProduct(op)));
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// Returns the matrix as what its terms stand for: elements by the scales of their columns.
Value AmxInt8TermsPath::packWeight(RewriterBase &rewriter, const Int8TermProduct &product,
                                   std::vector<float> &scales) const {
  constexpr size_t kAlignment = 64; // format: of weights
  WeightOp weight = product.weight;
  RankedTensorType matrix = weight.getType();
  TermPacking packing = getTermPacking(matrix, product.axes, numTerms, kInt8Neighbours);
  std::vector<float> widened;
  const float *elements = getFloats(weight, widened);
  Int8Columns columns = measureColumns(weight.getContext(), packing, elements);
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(packing.countElements(), kAlignment, /*dataIsMutable=*/true);
  llvm::fill(blob.getMutableData(), 0);
  auto *target = reinterpret_cast<int8_t *>(blob.getMutableData().data());
  forPanels(weight.getContext(), packing, [&](const TermPacking &part, int64_t first) {
    packInt8Terms(part, columns.scales.data() + first, elements + first * packing.columnStride,
                  target + first / kTermColumns * packing.countPanelElements());
  });
  auto type = RankedTensorType::get(getPanelShape(matrix, product.axes, packing), rewriter.getI8Type());
  auto terms = WeightOp::create(rewriter, weight.getLoc(), createElements(type, "int8", std::move(blob)));
  terms.setNameAttr(deriveName(weight.getNameAttr(), "int8"));
  scales = std::move(columns.scales);
  return UnpackTermsOp::create(rewriter, weight.getLoc(), matrix.clone(rewriter.getF32Type()), terms,
                               product.axes.columns, product.axes.depth);
}

/// Returns rows as what their terms stand for. Products with the same rows have the same operations, which CSE merges.
Value AmxInt8TermsPath::splitRows(RewriterBase &rewriter, Value x) const {
  Dims dims = getDims(x);
  assert(getConstant(dims.back()) && "rows are as long as the matrix of a weight, which is static");
  int64_t step = chooseStep(*getConstant(dims.back()), kInt8Neighbours);
  MLIRContext *context = x.getContext();
  dims.back() = ceilDivDims(dims.back(), getDimConstant(context, step));
  dims.append({getDimConstant(context, numTerms), getDimConstant(context, step)});
  auto terms = SplitTermsOp::create(rewriter, x.getLoc(), getTensorType(dims, rewriter.getI8Type()), x);
  return MergeTermsOp::create(rewriter, x.getLoc(), x.getType(), terms);
}

/// product(x, w) -> product(terms(x / s), terms(w / t)) * (s * t). One NaN makes NaN of all that has its scale, an
/// infinity makes infinities or NaN of it.
Operation *AmxInt8TermsPath::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  auto convolve = dyn_cast<ConvolveOp>(op);
  Value whole = findProduct(op)->rows->get();
  if (convolve && hasPadding(convolve))
    padWithZeros(rewriter, convolve);
  if (convolve && skipsPixels(convolve))
    takeSteps(rewriter, convolve);
  Int8TermProduct product = *findProduct(op);
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  TenonBuilder build(rewriter, loc);
  auto number = [&](double value) { return build.scalar(rewriter.getF32Type(), value); };
  auto max = [&](Value a, Value b) { return MaxOp::create(rewriter, loc, a, b).getResult(); };
  constexpr double kTiny = 1e-30; // limit: of magnitudes, so that no scale is zero or denormal
  Dims ofScale = getDims(whole);
  std::fill(ofScale.begin() + product.firstSummed, ofScale.end(), getDimConstant(rewriter.getContext(), 1));
  Value most = emitLargestMagnitude(rewriter, loc, convolve ? skipTransposes(whole) : whole, product.firstSummed);
  // A view: what follows is computed where it is read, or once if that is cheaper.
  Value magnitude = build.reshape(max(most, number(kTiny)), ofScale);
  // The reciprocal of infinity would be 0: times a tiny number infinities keep their sign.
  Value reciprocal = max(DivOp::create(rewriter, loc, number(kLargestInt8), magnitude),
                         number(kLargestInt8 / std::numeric_limits<float>::max()));
  Value x = product.rows->get(), rows = splitRows(rewriter, MulOp::create(rewriter, loc, x, reciprocal));
  std::vector<float> scales;
  Value matrix = packWeight(rewriter, product, scales);
  Operation *floats = product.matrix->get().getDefiningOp();
  rewriter.modifyOpInPlace(op, [&] {
    product.rows->set(rows);
    product.matrix->set(matrix);
  });
  rewriter.setInsertionPointAfter(op);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(scales.data()), scales.size() * sizeof(float));
  auto type = RankedTensorType::get({static_cast<int64_t>(scales.size())}, rewriter.getF32Type());
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, /*align=*/64, /*dataIsMutable=*/true);
  auto ofColumns = WeightOp::create(rewriter, loc, createElements(type, "scales", std::move(blob)));
  ofColumns.setNameAttr(deriveName(product.weight.getNameAttr(), "scales"));
  Value ofRows = MulOp::create(rewriter, loc, magnitude, number(1 / kLargestInt8));
  Value scale = MulOp::create(rewriter, loc, ofRows, ofColumns);
  auto scaled = MulOp::create(rewriter, loc, op->getResult(0).getType(), op->getResult(0), scale);
  rewriter.replaceAllUsesExcept(op->getResult(0), scaled.getResult(), scaled);
  eraseUnread(rewriter, floats);
  return op;
}

std::unique_ptr<Path> tenon::createAmxInt8Terms(int64_t numTerms, const PathPolicy &policy) {
  return std::make_unique<AmxInt8TermsPath>(numTerms, policy);
}
