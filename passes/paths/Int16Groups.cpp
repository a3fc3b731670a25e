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
// instruction that have none for bf16.
//
//===----------------------------------------------------------------------===//

#include "passes/paths/int16/Int16Groups.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Threading.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/IntegerGroups.h"
#include "passes/paths/Path.h"
#include "passes/precision/ConstantMatrices.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;

namespace {
struct GroupProduct {
  OpOperand *rows, *matrix;
  WeightOp weight; ///< the matrix as it is stored, in floats of any width
  MatrixAxes axes;
  Int16Groups groups;
};

struct QuantizedMatrix {
  MatrixIntegers integers;
  QuantizationError error;
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

static std::optional<GroupProduct> findProduct(Operation *op) {
  if (!isa<ContractOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    // A lookup may read the floats, too: they are so large beside what other paths need that both fit.
    WeightOp weight = findFloatWeight(operand, [](Operation *) { return true; });
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(operand) : std::nullopt;
    RankedTensorType type = axes ? weight.getType() : RankedTensorType();
    std::optional<Int16Groups> groups = type ? Int16Groups::choose(type.getDimSize(axes->depth)) : std::nullopt;
    if (groups && type.getRank() == 2 && type.getDimSize(axes->columns) >= kFewColumns)
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
         perCycle = machine.getMultiplyAdds(sizeof(int32_t)) / instructions;
  double cycles = std::max(shape.getProducts() / perCycle / policy.int16Share,
                           machine.getReadCycles(shape.getWeights() * sizeof(int16_t)));
  return cycles + machine.launchCycles + shape.rows * shape.depth * shape.repetitions * policy.int8RoundCycles;
}

static QuantizedMatrix quantize(const GroupProduct &product) {
  constexpr size_t kAlignment = 64; // format: of weights
  WeightOp weight = product.weight;
  RankedTensorType type = weight.getType();
  auto [axis, depthAxis] = product.axes;
  RankedTensorType ofScales = getScalesType(type, depthAxis, product.groups.getSize());
  auto allocate = [&](int64_t elements, size_t bytes) {
    return HeapAsmResourceBlob::allocate(elements * bytes, kAlignment, /*dataIsMutable=*/true);
  };
  QuantizedMatrix made{{type.clone(IntegerType::get(type.getContext(), 16)),
                        allocate(type.getNumElements(), sizeof(int16_t)),
                        allocate(ofScales.getNumElements(), sizeof(float))},
                       {}};
  SmallVector<int64_t> strides = computeStrides(type.getShape()), scaleStrides = computeStrides(ofScales.getShape());
  FloatMatrix matrix{getBytes(weight.getValue())->data(),
                     *getFloatKind(type.getElementType()),
                     type.getDimSize(axis),
                     type.getDimSize(depthAxis),
                     strides[axis],
                     strides[depthAxis]};
  Int16Storage storage{reinterpret_cast<int16_t *>(made.integers.numbers.getMutableData().data()),
                       strides[axis],
                       strides[depthAxis],
                       reinterpret_cast<float *>(made.integers.scales.getMutableData().data()),
                       scaleStrides[axis],
                       scaleStrides[depthAxis]};
  std::vector<QuantizationError> errors(llvm::divideCeil(matrix.rows, kRowsOfBlock));
  parallelFor(type.getContext(), 0, errors.size(), [&](size_t block) {
    int64_t begin = static_cast<int64_t>(block) * kRowsOfBlock, end = std::min(begin + kRowsOfBlock, matrix.rows);
    errors[block] = quantizeColumns(matrix, begin, end, product.groups, storage);
  });
  for (const QuantizationError &error : errors)
    made.error.add(error);
  return made;
}

double Int16GroupsPath::measureError(Operation *op) const {
  GroupProduct product = *findProduct(op);
  QuantizationError error = quantize(product).error;
  if (!error.isFinite)
    return std::numeric_limits<double>::infinity();
  return kSumError + std::hypot(product.groups.getRowError(), error.getRelative());
}

double Int16GroupsPath::getLeastError(Operation *op) const { return kSumError + findProduct(op)->groups.getRowError(); }

Operation *Int16GroupsPath::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  GroupProduct product = *findProduct(op);
  RowIntegers integers{rewriter.getI16Type(), static_cast<double>(product.groups.getLargestOfRow()), /*zero=*/0};
  Value rows = roundToGroups(rewriter, product.rows->get(), product.groups.getSize(), integers);
  rewriter.setInsertionPoint(op);
  Value matrix =
      createGroups(rewriter, product.weight, quantize(product).integers, product.axes.depth, product.groups.getSize());
  setFactors(rewriter, *product.rows, rows, *product.matrix, matrix);
  return op;
}

std::unique_ptr<Path> tenon::createInt16Groups(const PathPolicy &policy) {
  return std::make_unique<Int16GroupsPath>(policy);
}
