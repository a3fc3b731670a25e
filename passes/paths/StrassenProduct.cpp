//===- StrassenProduct.cpp - a matmul by seven products of halves ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// strassen/Strassen.h has the algorithm. Rows are scaled by powers of two, cut in halves
// and added; one stack of seven products with constant matrices follows, and sums of
// these. All of these are operations of the dialect, which are fused with what is around.
// An odd number of rows gets a row of zeros.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/TenonBuilder.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/Path.h"
#include "passes/paths/PowerScales.h"
#include "passes/paths/strassen/Strassen.h"
#include <cassert>

using namespace mlir;
using namespace tenon;

namespace {
/// A matmul of a known number of rows with a constant matrix.
struct HalvedProduct {
  OpOperand *rows;
  WeightOp weight;
  StrassenMatrix matrix;
  int64_t numRows;
};

struct StrassenProduct : public Path {
  explicit StrassenProduct(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "strassen"; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  /// Sums of sums: one more rounding of each.
  double getLeastError(Operation *) const override { return 2 * kSumError; }
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override;

private:
  PathPolicy policy;
};

/// Emits the operations at a builder's insertion point. Halves of rows are those with even and with odd numbers: pairs
/// of neighbours are a row of four blocks, so that each step is one kernel that reads and writes whole rows.
class Halves {
public:
  Halves(RewriterBase &b, Location loc) : b(b), loc(loc), build(b, loc) {}

  /// Returns the products, and [rows, columns].
  std::pair<ContractOp, Value> multiply(Value rows, const HalvedProduct &product);

private:
  /// The blocks of pairs of rows, in their order [pairs, row of the pair, half]; and a scale of each row [pairs, 2].
  struct Pairs {
    Value blocks, scales, reciprocals;
  };

  Dims dims(ArrayRef<int64_t> extents) const {
    return llvm::map_to_vector(extents, [&](int64_t extent) { return getDimConstant(b.getContext(), extent); });
  }
  Value slice(Value value, int64_t first, int64_t extent);
  Value addSigned(Value sum, Value value, int sign);
  Value padRows(Value rows);
  Pairs pairRows(Value rows);
  Value sumBlocks(const Pairs &pairs);
  Value sumProducts(Value products, Value scales);
  Value makeMatrices(const HalvedProduct &product);

  RewriterBase &b;
  Location loc;
  TenonBuilder build;
};
} // namespace

static int64_t getExtent(Value value, unsigned dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

/// Matches a matmul of f32 with a constant matrix that nothing else reads. A program for other rows would need the
/// matrix as it is, too.
static std::optional<HalvedProduct> findHalves(Operation *op) {
  auto contract = dyn_cast<ContractOp>(op);
  auto function = op->getParentOfType<func::FuncOp>();
  if (!contract || !getElementTypeOrSelf(contract.getResult()).isF32() || !isProductOfFloats(op) ||
      (function && function->hasAttr(kSharesWeightsAttr)))
    return std::nullopt;
  for (OpOperand &matrix : op->getOpOperands()) {
    auto weight = matrix.get().getDefiningOp<WeightOp>();
    std::optional<MatrixAxes> axes = weight ? getMatrixAxes(matrix) : std::nullopt;
    if (!axes || !weight->hasOneUse() || weight.getType().getRank() != 2 || !getBytes(weight.getValue()))
      continue;
    OpOperand &rows = op->getOpOperand(1 - matrix.getOperandNumber());
    auto type = cast<RankedTensorType>(rows.get().getType());
    if (!keepsRows(contract, rows) || !type.hasStaticShape())
      continue;
    SmallVector<int64_t> strides = computeStrides(weight.getType().getShape());
    StrassenMatrix halved{weight.getType().getDimSize(axes->depth), strides[axes->depth],
                          weight.getType().getDimSize(axes->columns), strides[axes->columns],
                          reinterpret_cast<const float *>(getBytes(weight.getValue())->data())};
    int64_t numRows = computeProduct(type.getShape().drop_back());
    if (numRows > 1 && halved.depth > 0 && halved.columns > 0 && halved.depth % 2 == 0 && halved.columns % 2 == 0)
      return HalvedProduct{&rows, weight, halved, numRows};
  }
  return std::nullopt;
}

std::optional<double> StrassenProduct::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<HalvedProduct> product = findHalves(op);
  if (!product)
    return std::nullopt;
  double rows = llvm::divideCeil(product->numRows, 2), depth = double(product->matrix.depth) / 2,
         columns = double(llvm::alignTo(product->matrix.columns / 2, machine.panelColumns));
  double sums = rows * (depth + columns) * kStrassenProducts, weights = depth * columns * kStrassenProducts;
  double products = rows * depth * columns * kStrassenProducts / machine.getMultiplyAdds(sizeof(float));
  constexpr double kLaunches = 5; // math: magnitudes, sums, products, their sums, and what follows
  double launches = kLaunches * machine.launchCycles;
  // Where even cheap sums would cost more than they save, a measurement has nothing to decide.
  if (products / policy.panelShare / kStrassenProducts < sums * policy.leastStrassenElementCycles + launches)
    return std::nullopt;
  return std::max(products / policy.panelShare, machine.getReadCycles(weights * sizeof(float))) +
         sums * policy.strassenElementCycles + launches;
}

double StrassenProduct::measureError(Operation *op) const {
  return std::max(measureStrassenError(findHalves(op)->matrix), getLeastError(op));
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// Columns from `first` on.
Value Halves::slice(Value value, int64_t first, int64_t extent) {
  Type type = getTensorType(dims({getExtent(value, 0), extent}), getElementTypeOrSelf(value));
  return SliceOp::create(b, loc, type, value, ShapeAttr::get(b.getContext(), dims({0, first})),
                         SmallVector<int64_t>(2, 1));
}

/// Adds a value to a sum, or subtracts it. The first one, of a null sum, is positive.
Value Halves::addSigned(Value sum, Value value, int sign) {
  if (!sum) {
    assert(sign > 0 && "sums begin with what is added");
    return value;
  }
  return sign > 0 ? AddOp::create(b, loc, sum, value).getResult() : SubOp::create(b, loc, sum, value).getResult();
}

Halves::Pairs Halves::pairRows(Value rows) {
  int64_t pairs = getExtent(rows, 0) / 2, depth = getExtent(rows, 1);
  Value magnitudes = AbsOp::create(b, loc, rows.getType(), rows);
  Value largest = ReduceOp::create(b, loc, ReduceKind::max, magnitudes, {1}, /*keepdims=*/false);
  PowerScales scales = emitPowerScales(b, loc, build.reshape(largest, dims({pairs, 2})));
  return {build.reshape(rows, dims({pairs, 2 * depth})), scales.powers, scales.reciprocals};
}

/// Returns [pairs, product, depth / 2].
Value Halves::sumBlocks(const Pairs &pairs) {
  int64_t count = getExtent(pairs.blocks, 0), depth = getExtent(pairs.blocks, 1) / 4;
  Value blocks[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      blocks[i][j] =
          MulOp::create(b, loc, slice(pairs.blocks, (2 * i + j) * depth, depth), slice(pairs.reciprocals, i, 1));
  SmallVector<Value> sums;
  for (const auto &signs : kLeftBlocks) {
    Value sum;
    // What is added comes first.
    for (int sign : {1, -1})
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          if (signs[i][j] == sign)
            sum = addSigned(sum, blocks[i][j], sign);
    sums.push_back(sum);
  }
  return build.reshape(ConcatOp::create(b, loc, sums, /*axis=*/1), dims({count, kStrassenProducts, depth}));
}

/// [pairs, product, columns / 2] -> [2 * pairs, columns]
Value Halves::sumProducts(Value products, Value scales) {
  int64_t pairs = getExtent(products, 0), columns = getExtent(products, 2);
  Value lines = build.reshape(products, dims({pairs, kStrassenProducts * columns}));
  SmallVector<Value> blocks;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      Value sum;
      for (int sign : {1, -1})
        for (int p = 0; p < kStrassenProducts; ++p)
          if (kResultBlocks[i][j][p] == sign)
            sum = addSigned(sum, slice(lines, p * columns, columns), sign);
      blocks.push_back(sum);
    }
  // What follows elementwise is a kernel with the scales, as it would be one with the product, so that times of both
  // paths have it (tenon.served_region).
  Value rows = build.reshape(ConcatOp::create(b, loc, blocks, /*axis=*/1), dims({2 * pairs, 2 * columns}));
  return MulOp::create(b, loc, rows, build.reshape(scales, dims({2 * pairs, 1})));
}

/// Adds a row of zeros where their number is odd.
Value Halves::padRows(Value rows) {
  int64_t count = getExtent(rows, 0), depth = getExtent(rows, 1);
  if (count % 2 == 0)
    return rows;
  return PadOp::create(b, loc, getTensorType(dims({count + 1, depth}), b.getF32Type()), PadMode::constant, rows,
                       build.scalar(b.getF32Type(), 0), ShapeAttr::get(b.getContext(), dims({0, 0})),
                       SmallVector<int64_t>(2, 0));
}

Value Halves::makeMatrices(const HalvedProduct &product) {
  constexpr size_t kAlignment = 64; // format: of weights
  auto type =
      RankedTensorType::get({kStrassenProducts, product.matrix.depth / 2, product.matrix.columns / 2}, b.getF32Type());
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(type.getNumElements() * sizeof(float), kAlignment, /*dataIsMutable=*/true);
  sumRightBlocks(product.matrix, reinterpret_cast<float *>(blob.getMutableData().data()));
  WeightOp source = product.weight;
  auto made = WeightOp::create(b, source.getLoc(), createElements(type, "strassen", std::move(blob)));
  made.setNameAttr(deriveName(source.getNameAttr(), "strassen"));
  return made;
}

std::pair<ContractOp, Value> Halves::multiply(Value rows, const HalvedProduct &product) {
  Pairs pairs = pairRows(padRows(rows));
  auto products = ContractOp::create(b, loc, sumBlocks(pairs), makeMatrices(product), SmallVector<int64_t>{0, 1, 3},
                                     SmallVector<int64_t>{1, 3, 2}, SmallVector<int64_t>{0, 1, 2}, TypeAttr());
  Value result = sumProducts(products, pairs.scales);
  if (getExtent(result, 0) != product.numRows)
    result = SliceOp::create(b, loc, getTensorType(dims({product.numRows, getExtent(result, 1)}), b.getF32Type()),
                             result, ShapeAttr::get(b.getContext(), dims({0, 0})), SmallVector<int64_t>(2, 1));
  return {products, result};
}

Operation *StrassenProduct::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  HalvedProduct product = *findHalves(op);
  rewriter.setInsertionPoint(op);
  TenonBuilder build(rewriter, op->getLoc());
  MLIRContext *context = rewriter.getContext();
  Value rows = build.reshape(product.rows->get(),
                             {getDimConstant(context, product.numRows), getDimConstant(context, product.matrix.depth)});
  auto [products, result] = Halves(rewriter, op->getLoc()).multiply(rows, product);
  rewriter.replaceOp(op, build.reshape(result, getDims(op->getResult(0))));
  if (product.weight->use_empty())
    rewriter.eraseOp(product.weight);
  return products;
}

std::unique_ptr<Path> tenon::createStrassenProduct(const PathPolicy &policy) {
  return std::make_unique<StrassenProduct>(policy);
}
