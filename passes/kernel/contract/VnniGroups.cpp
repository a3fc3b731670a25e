//===- VnniGroups.cpp - dot products of int8 groups that have scales ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights of 4 or 8 bits and rows that are rounded to 8 bits, both in groups with a
// scale each, as ggml multiplies them (Q8_0, Q4_0): vpdpbusd sums the products of a
// group, and the sum is scaled once. The bytes of the rows are unsigned, 128 more than
// their numbers: 128 times the sum of a group's weights is too much, which all rows
// share.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Kernel.h"
#include "passes/cost/CacheLines.h"
#include "passes/kernel/Epilogue.h"
#include "passes/kernel/K4Groups.h"
#include "passes/kernel/contract/ColumnValues.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/VectorKernel.h"

using namespace mlir;
using namespace tenon;

namespace {
class VnniGroups : public VectorKernel {
public:
  explicit VnniGroups(const EmitterParts &parts)
      : VectorKernel(parts), groups(*contraction.int8Groups), values(nest, problem) {}
  void limitBlock(BlockProblem &block) const override;
  RegisterBlock adjustBlock(RegisterBlock chosen) const override;
  bool allowsPackedRows() const override { return false; }
  bool emitsLoop(unsigned loop) const override { return loop == groups.loop; }
  SmallVector<Value> emitLoops(Reduction &reduction, ArrayRef<unsigned> loops, const SumBlock &block,
                               ArrayRef<int64_t> rows, ValueRange sums) override;

private:
  /// The integer sums of a group: one for each row and vector, row by row, and then for each vector 128 times the sum
  /// of its weights.
  using GroupSums = SmallVector<Value>;

  void addWord(Value step, int64_t vectors, ArrayRef<int64_t> rows, GroupSums &sums);
  SmallVector<Value> loadWeights(int64_t vector);
  Value loadRow(int64_t row, Value step, int64_t offset);
  Value addProducts(Value sum, Value rows, Value weights);
  void prefetchWord(Value step, int64_t vectors);
  Value splatInteger(int64_t number) {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(integers, static_cast<int32_t>(number)));
  }

  const Int8Groups &groups;
  ColumnValues values;
  const VectorType integers = VectorType::get({lanes}, b.getI32Type()),
                   bytes = VectorType::get({4 * lanes}, b.getI8Type());
  SmallVector<Value> zeros; ///< zero points of the current group, a vector of bytes for each vector of columns
};
} // namespace

/// Half of the sums are of floats, half of the integers of a group.
void VnniGroups::limitBlock(BlockProblem &block) const {
  constexpr int64_t kWeights = 4; // limit: registers of weights, of a row, of the constant, and of sums of weights
  block.registers = (block.registers - kWeights) / 2;
}

/// With a single row there are few sums, so a block spans whole panels, which are read in memory order.
RegisterBlock VnniGroups::adjustBlock(RegisterBlock chosen) const {
  if (contraction.rowLoop && !isConstantIntValue(nest.getExtent(*contraction.rowLoop), 1))
    return chosen;
  return {1, contraction.panel / lanes};
}

Value VnniGroups::addProducts(Value sum, Value rows, Value weights) {
  StringAttr name = b.getStringAttr("llvm.x86.avx512.vpdpbusd." + Twine(32 * lanes));
  return LLVM::CallIntrinsicOp::create(b, loc, integers, name, ValueRange{sum, rows, weights}).getResult(0);
}

/// Returns the operands of instructions that the i32 of the current step have: four integers with signs of each column.
SmallVector<Value> VnniGroups::loadWeights(int64_t vector) {
  Value words = emitVectorRead(b, loc, contraction.rhs, contraction.columnLoop,
                               nest.getIndices(contraction.rhs, 0, vector * lanes), lanes, Value());
  if (groups.perWord == 4)
    return {vector::BitCastOp::create(b, loc, bytes, words)};
  constexpr int64_t kLowHalves = 0x0F0F0F0F; // format: of 4-bit integers
  SmallVector<Value> parts;
  for (int64_t half : {0, 1}) {
    Value part = half ? arith::ShRUIOp::create(b, loc, words, splatInteger(4)).getResult() : words;
    part = arith::AndIOp::create(b, loc, part, splatInteger(kLowHalves));
    part = vector::BitCastOp::create(b, loc, bytes, part);
    parts.push_back(zeros.empty() ? part : arith::SubIOp::create(b, loc, part, zeros[vector]).getResult());
  }
  return parts;
}

/// Loads the four bytes of a row that are `offset` beyond `step`, for all columns.
Value VnniGroups::loadRow(int64_t row, Value step, int64_t offset) {
  nest.moveTo(groups.loop,
              affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + offset), {step}));
  Value four = parts.operands.loadNeighbours(row, VectorType::get({4}, b.getI8Type()));
  Value word = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), four);
  return broadcastK4Group(b, loc, vector::ExtractOp::create(b, loc, word, ArrayRef<int64_t>{0}), lanes);
}

/// Prefetches what is at a fixed distance from the i32 of the current step. The end of a panel is followed by the next
/// one; addresses beyond the last panel are harmless.
void VnniGroups::prefetchWord(Value step, int64_t vectors) {
  int64_t rowBytes = contraction.panel * static_cast<int64_t>(sizeof(int32_t));
  int64_t ahead = llvm::divideCeil(problem.policy.quantizedBytesAhead, rowBytes) * groups.perWord;
  nest.moveTo(groups.loop,
              affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + ahead), {step}));
  for (int64_t vector = 0; vector < vectors; ++vector)
    if (vector * lanes * static_cast<int64_t>(sizeof(int32_t)) % kCacheLineBytes == 0)
      memref::PrefetchOp::create(b, loc, contraction.rhs.memory, nest.getIndices(contraction.rhs, 0, vector * lanes),
                                 /*isWrite=*/false,
                                 /*localityHint=*/3, /*isDataCache=*/true);
}

/// Adds the products of the i32 at `step`. A fence keeps the code generator from gathering the prefetches of all i32 in
/// one place.
void VnniGroups::addWord(Value step, int64_t vectors, ArrayRef<int64_t> rows, GroupSums &sums) {
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread");
  prefetchWord(step, vectors);
  nest.moveTo(groups.loop, step);
  SmallVector<SmallVector<Value>> weights;
  for (int64_t v = 0; v < vectors; ++v)
    weights.push_back(loadWeights(v));
  Value excess = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bytes, static_cast<int8_t>(kInt8GroupsZero)));
  for (int64_t part = 0; part < groups.perWord / 4; ++part) {
    for (int64_t v = 0; v < vectors; ++v) {
      Value &sum = sums[rows.size() * vectors + v];
      sum = addProducts(sum, excess, weights[v][part]);
    }
    for (auto [i, row] : llvm::enumerate(rows)) {
      Value factors = loadRow(row, step, 4 * part);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = sums[i * vectors + v];
        sum = addProducts(sum, factors, weights[v][part]);
      }
    }
  }
}

SmallVector<Value> VnniGroups::emitLoops(Reduction &, ArrayRef<unsigned>, const SumBlock &block, ArrayRef<int64_t> rows,
                                         ValueRange sums) {
  int64_t depth = *nest.getStaticExtent(groups.loop), vectors = block.vectors;
  assert(depth % groups.block == 0 && groups.block % groups.perWord == 0 && "groups are whole, and have whole i32");
  auto loop = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(depth / groups.block), nest.constant(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) * groups.block),
                                              loop.getInductionVar());
  auto moveToGroup = [&] {
    nest.moveTo(groups.loop, first);
    values.clear();
  };
  zeros.clear();
  if (Value zero = groups.getZero()) {
    moveToGroup();
    constexpr int64_t kEachByte = 0x01010101; // format: of an i32
    for (int64_t v = 0; v < vectors; ++v) {
      Value number = arith::FPToSIOp::create(b, loc, integers, values.emitVector(zero, v));
      Value all = arith::MulIOp::create(b, loc, number, splatInteger(kEachByte));
      zeros.push_back(vector::BitCastOp::create(b, loc, bytes, all));
    }
  }
  GroupSums integerSums(rows.size() * vectors + vectors, splatInteger(0));
  int64_t words = groups.block / groups.perWord;
  constexpr int64_t kUnrolled = 8; // limit: i32 of a group whose code is not a loop
  if (words <= kUnrolled) {
    for (int64_t word = 0; word < words; ++word)
      addWord(affine::makeComposedAffineApply(
                  b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + word * groups.perWord), {first}),
              vectors, rows, integerSums);
  } else {
    auto inner =
        scf::ForOp::create(b, loc, nest.constant(0), nest.constant(words), nest.constant(1), ValueRange(integerSums));
    OpBuilder::InsertionGuard innerGuard(b);
    b.setInsertionPointToStart(inner.getBody());
    integerSums.assign(inner.getRegionIterArgs().begin(), inner.getRegionIterArgs().end());
    AffineMap place = AffineMap::get(2, 0, b.getAffineDimExpr(0) + b.getAffineDimExpr(1) * groups.perWord);
    addWord(affine::makeComposedAffineApply(b, loc, place, {first, inner.getInductionVar()}), vectors, rows,
            integerSums);
    scf::YieldOp::create(b, loc, integerSums);
    integerSums.assign(inner.getResults().begin(), inner.getResults().end());
  }
  moveToGroup();
  SmallVector<Value> scales, results(loop.getRegionIterArgs());
  for (int64_t v = 0; v < vectors; ++v)
    scales.push_back(values.emitVector(groups.rhsScale, v));
  auto floats = VectorType::get({lanes}, type);
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value scale =
        memref::LoadOp::create(b, loc, groups.lhsScale.memory, nest.getIndices(groups.lhsScale, row, /*columns=*/0));
    scale = vector::BroadcastOp::create(b, loc, floats, scale);
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = arith::SubIOp::create(b, loc, integerSums[i * vectors + v], integerSums[rows.size() * vectors + v]);
      Value product = arith::MulFOp::create(b, loc, arith::SIToFPOp::create(b, loc, floats, sum), scales[v]);
      Value &result = results[row * vectors + v];
      result = vector::FMAOp::create(b, loc, product, scale, result);
    }
  }
  scf::YieldOp::create(b, loc, results);
  return loop.getResults();
}

static bool fits(const ContractionProblem &problem) {
  return problem.contraction.int8Groups && problem.int8Dot == Int8Dot::vnni;
}

static bool implements(StringRef path, const Contraction &contraction) {
  return path == kRoundedInt8GroupsPath && contraction.int8Groups;
}

const MicroKernelEntry tenon::kVnniGroups = {
    .name = kernel::MicroKernel::vnni_groups,
    .fits = fits,
    .create = createMicroKernel<VnniGroups>,
    .implements = implements,
};
