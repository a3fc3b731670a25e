//===- StrassenProduct.cpp - a matmul by seven products of halves ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// strassen/Strassen.h has the algorithm. The matrix stays in panels, as other paths read
// it: the kernel sums its halves, and those of the rows (contract/StrassenFma.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/TenonBuilder.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/TilePolicy.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/Path.h"
#include "passes/paths/strassen/Strassen.h"

using namespace mlir;
using namespace tenon;

namespace {
/// A matmul of a known number of rows with a constant matrix.
struct HalvedProduct {
  OpOperand *rows, *weight;
  StrassenMatrix matrix;
  int64_t numRows;
};

struct StrassenProduct : public Path {
  explicit StrassenProduct(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return kStrassenPath; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  /// Sums of sums: one more rounding of each.
  double getLeastError(Operation *) const override { return 2 * kSumError; }
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override;

private:
  PathPolicy policy;
};
} // namespace

/// Matches a matmul of f32 with a constant matrix in panels.
static std::optional<HalvedProduct> findHalves(Operation *op) {
  auto contract = dyn_cast<ContractOp>(op);
  if (!contract || !getElementTypeOrSelf(contract.getResult()).isF32() || !isProductOfFloats(op))
    return std::nullopt;
  OpOperand *panels = findPanels(op);
  std::optional<MatrixAxes> axes = panels ? getMatrixAxes(*panels) : std::nullopt;
  auto weight = axes ? panels->get().getDefiningOp<WeightOp>() : WeightOp();
  if (!weight || weight.getType().getRank() != 2 || !getBytes(weight.getValue()))
    return std::nullopt;
  OpOperand &rows = op->getOpOperand(1 - panels->getOperandNumber());
  auto type = cast<RankedTensorType>(rows.get().getType());
  if (!keepsRows(contract, rows) || !type.hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> strides = computeStrides(weight.getType().getShape());
  StrassenMatrix matrix{weight.getType().getDimSize(axes->depth),
                        strides[axes->depth],
                        weight.getType().getDimSize(axes->columns),
                        strides[axes->columns],
                        getPackedDims(*panels)->columns,
                        reinterpret_cast<const float *>(getBytes(weight.getValue())->data())};
  int64_t numRows = computeProduct(type.getShape().drop_back());
  if (numRows < 2 || matrix.depth == 0 || matrix.depth % 2 != 0 || matrix.columns <= matrix.panel)
    return std::nullopt;
  return HalvedProduct{&rows, panels, matrix, numRows};
}

/// Returns how many threads sum the same rows, each for its panels, averaged over 1, 2, 4 and 8 threads. Tiles are
/// those of choosePanelTile (passes/cost/ContractionTiles.h).
static double countThreadsOfRows(int64_t numRows, int64_t pairsOfPanels) {
  const TilePolicy tiles;
  int64_t rows = numRows;
  auto countRowTiles = [&] { return int64_t(llvm::divideCeil(numRows, rows)); };
  while (countRowTiles() * pairsOfPanels < tiles.fewTiles && rows >= 2 * tiles.fewHalvedRows)
    rows = int64_t(llvm::divideCeil(rows, 2));
  int64_t sum = 0;
  for (int64_t threads : {1, 2, 4, 8})
    sum += std::min(int64_t(llvm::divideCeil(threads, countRowTiles())), pairsOfPanels);
  return double(sum) / 4; // math: numbers of threads
}

std::optional<double> StrassenProduct::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<HalvedProduct> product = findHalves(op);
  if (!product || product->numRows < policy.leastStrassenRows)
    return std::nullopt;
  const StrassenMatrix &matrix = product->matrix;
  double lanes = double(machine.vectorBytes) / sizeof(float);
  double pairs = double(llvm::divideCeil(product->numRows, 2)), depth = double(matrix.depth) / 2;
  // A panel without another one is multiplied as it is.
  auto panels = int64_t(llvm::divideCeil(matrix.columns, matrix.panel));
  int64_t alone = panels % 2 * matrix.panel, halved = (panels - panels % 2) * matrix.panel / 2;
  auto columns = static_cast<double>(halved);
  double products = pairs * depth * columns * kStrassenProducts + double(product->numRows * matrix.depth * alone);
  double threads = countThreadsOfRows(product->numRows, panels / 2);
  double sums = (threads * pairs * depth * policy.strassenRowProducts + depth * columns * policy.strassenPanelProducts +
                 pairs * columns * policy.strassenResultProducts) /
                lanes / double(machine.multiplyAdds);
  double perfect = products / machine.getMultiplyAdds(sizeof(float));
  // Where even cheap sums would cost more than they save, a measurement has nothing to decide.
  if (perfect / policy.strassenShare.share + policy.leastStrassenSums * sums >
      estimateFloats(op, machine, policy.panelShare.share))
    return std::nullopt;
  return std::max(perfect / policy.strassenShare.get(machine) + sums,
                  machine.getReadCycles(double(matrix.depth * matrix.columns) * sizeof(float)));
}

double StrassenProduct::measureError(Operation *op) const {
  return std::max(measureStrassenError(findHalves(op)->matrix), getLeastError(op));
}

/// All rows are those of one dimension, so that any two neighbours are a pair.
Operation *StrassenProduct::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  HalvedProduct product = *findHalves(op);
  auto contract = cast<ContractOp>(op);
  if (contract.getType().getRank() == 2)
    return op;
  MLIRContext *context = rewriter.getContext();
  auto dims = [&](int64_t columns) {
    return Dims{getDimConstant(context, product.numRows), getDimConstant(context, columns)};
  };
  rewriter.setInsertionPoint(op);
  TenonBuilder build(rewriter, op->getLoc());
  Value rows = build.reshape(product.rows->get(), dims(product.matrix.depth));
  int64_t depth = getMatrixAxes(*product.weight)->depth;
  SmallVector<int64_t> ofMatrix(2, 1);
  ofMatrix[depth] = 2;
  bool isLhs = product.rows->getOperandNumber() == 0;
  SmallVector<int64_t> ofRows{0, 2};
  auto flat = ContractOp::create(rewriter, op->getLoc(), isLhs ? rows : product.weight->get(),
                                 isLhs ? product.weight->get() : rows, isLhs ? ofRows : ofMatrix,
                                 isLhs ? ofMatrix : ofRows, SmallVector<int64_t>{0, 1}, TypeAttr());
  rewriter.replaceOp(op, build.reshape(flat, getDims(op->getResult(0))));
  return flat;
}

std::unique_ptr<Path> tenon::createStrassenProduct(const PathPolicy &policy) {
  return std::make_unique<StrassenProduct>(policy);
}
