//===- Int16Groups.cpp - products of floats rounded to 16 bits in groups --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vpdpwssd (AVX512-VNNI, AVX-VNNI) sums two products of i16 in each lane, as many as
// vdpbf16ps does of bf16. Numbers of 12 to 15 bits with a scale for each group of
// neighbours are some twenty times as exact as the 8 bits of bf16, at the price of a
// rounding kernel and of scaling the sum of each group; and processors have the
// instruction that have none for bf16. Convolutions have groups of the channels of each
// pixel.
//
//===----------------------------------------------------------------------===//

#include "passes/paths/int16/Int16Groups.h"
#include "dialects/tenon/Padding.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Threading.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/IntegerGroups.h"
#include "passes/paths/Numbers.h"
#include "passes/paths/Path.h"
#include "passes/paths/SplitProduct.h"
#include <vector>

using namespace mlir;
using namespace tenon;

namespace {
struct GroupProduct {
  OpOperand *rows, *matrix;
  WeightOp weight; ///< the matrix as it is stored, in floats of any width
  MatrixAxes axes;
  Int16Groups groups;
};

struct Int16GroupsPath : public Path {
  explicit Int16GroupsPath(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return kRoundedInt16GroupsPath; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *op) const override;
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override;

private:
  PathPolicy policy;
};
} // namespace

/// Matches a contraction with a matrix, or a convolution with channels last and one group, whose filter is [window...,
/// channels, filters].
static std::optional<GroupProduct> findProduct(Operation *op) {
  if (!isa<ContractOp, ConvolveOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    // A lookup may read the floats, too: they are stored beside the numbers then, as for products of bf16.
    WeightOp weight = findFloatWeight(operand, [](Operation *) { return true; });
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
    RankedTensorType type = axes ? weight.getType() : RankedTensorType();
    std::optional<Int16Groups> groups = type ? Int16Groups::choose(type.getDimSize(axes->depth)) : std::nullopt;
    if (!groups || type.getDimSize(axes->columns) < kFewColumns)
      continue;
    bool isMatrix = isa<ContractOp>(op) && type.getRank() == 2;
    bool isFilter = isa<ConvolveOp>(op) && type.getNumElements() > 0 && axes->depth + 2 == type.getRank() &&
                    axes->columns + 1 == type.getRank();
    if (isMatrix || isFilter)
      return GroupProduct{&op->getOpOperand(1 - operand.getOperandNumber()), &operand, weight, *axes, *groups};
  }
  return std::nullopt;
}

std::optional<double> Int16GroupsPath::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<GroupProduct> product = machine.int8Dot == Int8Dot::vnni ? findProduct(op) : std::nullopt;
  if (!product)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  // Each instruction sums two products of a lane; then the sum of a group is scaled.
  double instructions = 0.5 + policy.int16GroupInstructions / static_cast<double>(product->groups.getSize()),
         perCycle = machine.getMultiplyAdds(sizeof(int32_t)) / instructions,
         share = (isa<ConvolveOp>(op) ? policy.int16WindowShare : policy.int16Share).get(machine);
  double cycles =
      std::max(shape.getProducts() / perCycle / share, machine.getReadCycles(shape.getWeights() * sizeof(int16_t)));
  // A kernel finds the scales, another one rounds.
  return cycles + 2 * machine.launchCycles +
         countRoundedElements(op, shape) * getRoundingCycles(op, policy.int8RoundCycles, policy);
}

static QuantizedMatrix quantize(const GroupProduct &product) {
  WeightOp weight = product.weight;
  RankedTensorType type = weight.getType();
  auto [columns, depth] = product.axes;
  QuantizedMatrix made(type, /*bits=*/16, depth, product.groups.getSize());
  FloatMatrix matrix = getFloatMatrix(weight, product.axes);
  SmallVector<int64_t> scaleStrides = computeStrides(made.scalesType.getShape());
  Int16Storage storage{
      reinterpret_cast<int16_t *>(made.numbers.getMutableData().data()), matrix.rowStride,      matrix.stride,
      reinterpret_cast<float *>(made.scales.getMutableData().data()),    scaleStrides[columns], scaleStrides[depth]};
  // A filter has a matrix for each element of the window.
  int64_t elements = matrix.rows * matrix.depth, matrices = type.getNumElements() / elements,
          blocks = llvm::divideCeilSigned(matrix.rows, kRowsOfBlock);
  std::vector<QuantizationError> errors(matrices * blocks);
  parallelFor(type.getContext(), 0, errors.size(), [&](size_t part) {
    int64_t place = static_cast<int64_t>(part) / blocks, begin = static_cast<int64_t>(part) % blocks * kRowsOfBlock;
    FloatMatrix source = matrix;
    source.data += place * elements * static_cast<int64_t>(matrix.getElementBytes());
    Int16Storage target = storage;
    target.numbers += place * elements;
    target.scales += place * (elements / product.groups.getSize());
    errors[part] = quantizeColumns(source, begin, std::min(begin + kRowsOfBlock, matrix.rows), product.groups, target);
  });
  for (const QuantizationError &error : errors)
    made.error.add(error);
  return made;
}

double Int16GroupsPath::measureError(Operation *op) const {
  GroupProduct product = *findProduct(op);
  return getRoundingError(product.groups.getRowError(), quantize(product).error);
}

double Int16GroupsPath::getLeastError(Operation *op) const { return kSumError + findProduct(op)->groups.getRowError(); }

/// Returns the rows of a product, or its images with their border.
static Value getRows(RewriterBase &rewriter, const GroupProduct &product) {
  auto convolve = dyn_cast<ConvolveOp>(product.rows->getOwner());
  Value rows = product.rows->get();
  if (!convolve || !hasPadding(convolve))
    return rows;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(rows);
  return padInput(rewriter, convolve, rows, createNumber(rewriter, rows.getLoc(), rewriter.getF32Type(), 0));
}

Operation *Int16GroupsPath::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && skipsPixels(convolve))
    takeSteps(rewriter, convolve);
  GroupProduct product = *findProduct(op);
  RowIntegers integers{rewriter.getI16Type(), static_cast<double>(product.groups.getLargestOfRow()), /*zero=*/0};
  Value rows = roundToGroups(rewriter, getRows(rewriter, product), product.groups.getSize(), integers);
  rewriter.setInsertionPoint(op);
  Value matrix = createGroups(rewriter, product.weight, quantize(product));
  setFactors(rewriter, *product.rows, rows, *product.matrix, matrix);
  if (auto convolve = dyn_cast<ConvolveOp>(op))
    rewriter.modifyOpInPlace(op, [&] {
      SmallVector<int64_t> none(convolve.getLow().size(), 0);
      convolve.setLow(none);
      convolve.setHigh(none);
    });
  return op;
}

std::unique_ptr<Path> tenon::createInt16Groups(const PathPolicy &policy) {
  return std::make_unique<Int16GroupsPath>(policy);
}
