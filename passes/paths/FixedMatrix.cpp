//===- FixedMatrix.cpp - products of few rows with a smaller matrix --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// If each element of a matrix is multiplied only once or a few times, the kernel is bound by the bandwidth of reading
// the matrix. A column of f32 that is stored as integers of 20 bits times a scale has an error of at most 2^-20 of its
// largest element, and the relative error of its sums of products is far smaller, because these errors are random: it
// is below that of f32 sums with 24 bits. The kernel dequantizes the integers in registers
// (kernel/contract/DequantizeOnLoad.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/FixedNumbers.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/RegisterBlock.h"
#include "passes/paths/Path.h"
#include <cassert>
#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
struct FixedMatrix : public Path {
  FixedMatrix(int64_t bits, const PathPolicy &policy)
      : format(bits), policy(policy), name((kFixedPath + Twine(bits)).str()) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  /// layout/PrepackWeights.cpp packs the matrix in this format.
  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }

private:
  FixedNumbers format;
  PathPolicy policy;
  std::string name;
};
} // namespace

/// Returns the constant matrix of a matmul that nothing else reads in f32. A program for more rows would need it in
/// f32.
static OpOperand *findMatrix(Operation *op) {
  if (auto function = op->getParentOfType<func::FuncOp>(); function && function->hasAttr(kSharesWeightsAttr))
    return nullptr;
  OpOperand *operand = isa<ContractOp>(op) && getElementTypeOrSelf(op->getResult(0)).isF32() && isProductOfFloats(op)
                           ? findPanels(op)
                           : nullptr;
  auto weight = operand ? operand->get().getDefiningOp<WeightOp>() : WeightOp();
  if (!weight || weight.getType().getRank() != 2 || !getBytes(weight.getValue()))
    return nullptr;
  bool isAlone = llvm::all_of(weight->getUses(), [&](OpOperand &use) {
    return &use == operand || (isa<GatherOp>(use.getOwner()) && use.getOperandNumber() == 0);
  });
  return isAlone ? operand : nullptr;
}

/// True if more bytes are read between two uses of the operation's matrix than the last-level cache holds: all weights
/// of the model, or of the loop around it.
static bool comesFromMemory(Operation *op, const Machine &machine) {
  LoopOp loop;
  for (auto outer = op->getParentOfType<LoopOp>(); outer; outer = outer->getParentOfType<LoopOp>())
    loop = outer;
  if (!loop)
    return machine.weightBytes > machine.llcBytes;
  llvm::SmallPtrSet<Operation *, 32> weights;
  int64_t bytes = 0;
  loop.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto weight = operand.getDefiningOp<WeightOp>(); weight && weights.insert(weight).second)
        if (std::optional<ArrayRef<char>> data = getBytes(weight.getValue()))
          bytes += static_cast<int64_t>(data->size());
    return bytes > machine.llcBytes ? WalkResult::interrupt() : WalkResult::advance();
  });
  return bytes > machine.llcBytes;
}

std::optional<double> FixedMatrix::estimateCycles(Operation *op, const Machine &machine) const {
  // This test comes first, because most operations are not matmuls, and some have no result.
  OpOperand *matrix = findMatrix(op);
  auto result = matrix ? cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  if (!matrix || !result.hasStaticShape())
    return std::nullopt;
  int64_t axis = getPackedDims(*matrix)->axis;
  auto type = cast<RankedTensorType>(matrix->get().getType());
  assert(type.getRank() == 2 && axis < 2 && "the other dimension of a matrix is the one that is summed");
  int64_t rows = result.getNumElements() / type.getDimSize(axis), depth = type.getDimSize(1 - axis);
  double bytes = static_cast<double>(type.getNumElements()) * sizeof(float),
         stored = bytes * static_cast<double>(format.bits) / 32;
  if (rows > kMaxDequantizedRows || depth == 0 || depth % format.group != 0)
    return std::nullopt;
  // The last-level cache delivers f32 as fast as registers can be filled with dequantized values.
  if (!comesFromMemory(op, machine))
    return std::nullopt;
  double vectors = bytes / static_cast<double>(machine.vectorBytes);
  double cycles = vectors * (policy.fixedVectorCycles + static_cast<double>(rows) / machine.multiplyAdds);
  return std::max(cycles, stored / machine.dramBytesPerCycle);
}

/// Rounding errors are treated as random: returns them relative to the root of the sum of squares of a column, to which
/// its products with random vectors are proportional.
double FixedMatrix::measureError(Operation *op) const {
  OpOperand *matrix = findMatrix(op);
  auto weight = matrix->get().getDefiningOp<WeightOp>();
  ArrayRef<int64_t> shape = weight.getType().getShape();
  SmallVector<int64_t> strides = computeStrides(shape);
  int64_t axis = getPackedDims(*matrix)->axis, columns = shape[axis], depth = shape[1 - axis];
  const auto *elements = reinterpret_cast<const float *>(getBytes(weight.getValue())->data());
  std::vector<double> squares(columns);
  std::vector<float> limits(columns);
  auto add = [&](int64_t column, float x) {
    squares[column] += double(x) * x;
    limits[column] = std::max(limits[column], std::abs(x));
  };
  // As they lie in memory.
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j)
      add(axis == 0 ? i : j, elements[i * strides[0] + j]);
  double largest = std::sqrt(*llvm::max_element(squares)), worst = 0;
  for (auto [limit, square] : llvm::zip(limits, squares)) {
    // A smaller scale would lose bits, and a column that is not finite has none.
    constexpr float kMin = 1e-28f; // math: the range of f32
    if (!std::isfinite(square) || (limit > 0 && limit < kMin))
      return std::numeric_limits<double>::infinity();
    worst = std::max(worst,
                     std::ldexp(limit, 1 - static_cast<int>(format.bits)) * std::sqrt(static_cast<double>(depth) / 12));
  }
  return largest > 0 ? kSumError + worst / largest : kSumError;
}

std::unique_ptr<Path> tenon::createFixedMatrix(int64_t bits, const PathPolicy &policy) {
  return std::make_unique<FixedMatrix>(bits, policy);
}
