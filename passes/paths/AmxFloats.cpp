//===- AmxFloats.cpp - products of f32 in tile registers -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three parts of bf16 have all bits of an f32, so that six products of parts are
// off by less than a sum of f32 is. Two have 16, and three products of these are off
// by some millionths. A matrix of bf16 is a part by itself, and so are rows. Three
// parts have half as many bytes again as the f32: most matrices are stored whole,
// and cut by the kernel. How fast that is was measured: two thirds of what the
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
/// A product that this is a way for: a matrix of f32, or of bf16 as such.
struct Product {
  OpOperand *matrix, *rows;
  WeightOp weight;
  MatrixAxes axes;
  int64_t rowParts, matrixParts;

  /// Whether kernels cut the elements of the matrix: where what they keep of it stays in the second cache.
  bool isCutWhenRead() const;
  int64_t getMatrixBytes() const { return isCutWhenRead() ? sizeof(float) : matrixParts * sizeof(uint16_t); }
  int64_t countProducts() const { return matrixParts == 1 ? rowParts : countPartProducts(matrixParts); }
};

class AmxFloats : public Path {
public:
  /// One part is for matrices of bf16 alone, the others are for those of f32.
  explicit AmxFloats(int64_t numParts)
      : numParts(numParts), name(numParts == 1 ? "bf16" : "bf16x" + std::to_string(countPartProducts(numParts))) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  bool isAsExact() const override { return numParts != 2; }
  Operation *take(Operation *op, const Machine &machine, RewriterBase &rewriter) const override;

private:
  std::optional<Product> findProduct(Operation *op) const;

  int64_t numParts;
  std::string name;
};
} // namespace

bool Product::isCutWhenRead() const {
  constexpr int64_t kMostDepth = 1536;
  auto type = cast<RankedTensorType>(matrix->get().getType());
  int64_t depth = type.getNumElements() / type.getDimSize(axes.columns);
  // Longer sums are done in parts, those of matrices alone.
  return matrixParts == 3 &&
         (type.getRank() == 2 || (isa<ConvolveOp>(matrix->getOwner()) && depth <= kMostDepth));
}

static bool isFromHalves(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && getElementTypeOrSelf(cast.getInput()).isBF16();
}

std::optional<Product> AmxFloats::findProduct(Operation *op) const {
  auto convolve = dyn_cast<ConvolveOp>(op);
  if (!isa<ContractOp, ConvolveOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op) ||
      (convolve && convolve.getGroups() != 1))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isOfHalves = isFromHalves(operand.get());
    Value source = isOfHalves ? operand.get().getDefiningOp<CastOp>().getInput() : operand.get();
    auto weight = source.getDefiningOp<WeightOp>();
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
    if (!axes || isOfHalves != (numParts == 1) || weight.getType().getDimSize(axes->columns) < kFewColumns || !getBytes(weight.getValue()))
      continue;
    OpOperand &rows = op->getOpOperand(1 - operand.getOperandNumber());
    return Product{&operand, &rows, weight, *axes, isOfHalves ? isFromHalves(rows.get()) ? 1 : 3 : numParts, numParts};
  }
  return std::nullopt;
}

std::optional<double> AmxFloats::estimateCycles(Operation *op, const Machine &machine) const {
  // Of a tile register; cycles for a product, for what happens to the sums of a tile, for an element that
  // becomes parts, for one of the matrix while products run, and until a kernel of its own for the rows' runs; and what
  // is reached of it all. A tile of some rows reads all of the matrix.
  constexpr double kRows = 16, kProduct = 16, kSums = 64, kSplit = 1, kCut = 0.2, kLaunch = 20000, kShare = 0.65, kRowsOfTile = 512;
  std::optional<Product> product = machine.amxBf16 ? findProduct(op) : std::nullopt;
  if (!product || cast<RankedTensorType>(op->getResult(0).getType()).getRank() < 2)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  if (shape.depth < 1)
    return std::nullopt;
  double tiles = shape.rows / shape.neighbours * std::ceil(shape.neighbours / kRows) *
                 std::ceil(shape.columns / kPartColumns);
  double steps = shape.repetitions * std::ceil(shape.depth / chooseStep(shape.depth));
  double cycles = tiles * (steps * product->countProducts() * kProduct / kShare + kSums);
  if (product->isCutWhenRead())
    cycles += shape.getWeights() * std::ceil(shape.rows / kRowsOfTile) * kCut;
  cycles = std::max(cycles, machine.getReadCycles(shape.getWeights() * product->getMatrixBytes()));
  double elements = shape.rows * shape.depth * (isa<ConvolveOp>(op) ? 1 : shape.repetitions);
  if (auto convolve = dyn_cast<ConvolveOp>(op)) {
    elements *= computeProduct(convolve.getStrides());
    if (hasPadding(convolve))
      cycles += elements * sizeof(float) / machine.farBytes;
  }
  return cycles + elements * kSplit + kLaunch;
}

double AmxFloats::measureError(Operation *) const {
  // Of sums of products of two parts each, with any numbers: half of what rounding leaves of each factor.
  constexpr double kOfTwoParts = 6e-6;
  return numParts == 2 ? kOfTwoParts : kSumError;
}

/// One for all products that read it.
static Value toParts(RewriterBase &rewriter, Value x, int64_t numParts) {
  Dims dims = getDims(x);
  int64_t depth = *getConstant(dims.back()), step = chooseStep(depth);
  dims.back() = ceilDivDims(dims.back(), getDimConstant(x.getContext(), step));
  dims.append({getDimConstant(x.getContext(), numParts), getDimConstant(x.getContext(), step)});
  Type type = getTensorType(dims, rewriter.getBF16Type());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  // What is a part by itself, in whole steps, lies in memory as it should.
  if (numParts == 1 && depth % step == 0)
    return ReshapeOp::create(rewriter, x.getLoc(), type, x.getDefiningOp<CastOp>().getInput());
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

static Value packWeight(RewriterBase &rewriter, const Product &product) {
  WeightOp weight = product.weight;
  ArrayRef<int64_t> shape = weight.getType().getShape();
  SmallVector<int64_t> strides = computeStrides(shape);
  auto [axis, depthAxis] = product.axes;
  PartPacking packing{1, 0, shape[depthAxis], strides[depthAxis], shape[axis], strides[axis], chooseStep(shape[depthAxis]),
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
  auto parts = WeightOp::create(rewriter, weight.getLoc(), DenseResourceElementsAttr::get(type, "parts", std::move(blob)));
  parts.setNameAttr(weight.getNameAttr());
  return UnpackPartsOp::create(rewriter, weight.getLoc(), product.matrix->get().getType(), parts, axis, depthAxis);
}

/// product(x, w) -> product(from_parts(to_parts(x)), unpack_parts(w))
Operation *AmxFloats::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && hasPadding(convolve))
    padWithZeros(rewriter, convolve);
  Product product = *findProduct(op);
  Value x = product.rows->get(), parts = toParts(rewriter, x, product.rowParts), packed = packWeight(rewriter, product);
  Operation *matrix = product.matrix->get().getDefiningOp();
  rewriter.modifyOpInPlace(op, [&] {
    product.rows->set(FromPartsOp::create(rewriter, op->getLoc(), x.getType(), parts));
    product.matrix->set(packed);
  });
  auto eraseUnused = [&](Operation *source) {
    if (isa_and_nonnull<WeightOp, CastOp>(source) && source->use_empty())
      rewriter.eraseOp(source);
  };
  eraseUnused(x.getDefiningOp());
  if (matrix != product.weight)
    eraseUnused(matrix);
  eraseUnused(product.weight);
  return op;
}

std::unique_ptr<Path> tenon::createAmxFloats(int64_t numParts) {
  return std::make_unique<AmxFloats>(numParts);
}
