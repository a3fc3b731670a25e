//===- F16Fma.cpp - multiply-adds of f16 vectors in blocks ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector of f16 has twice the elements of one of f32, and multiply-adds of it take as
// long. Products are summed in chains of such multiply-adds, chains in blocks, and blocks
// in f32 (passes/paths/f16/F16Blocks.h). The sums in f32 are read and written once for
// each block, so that LLVM may keep them in memory while registers have those of f16.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Kernel.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/VectorKernel.h"
#include "passes/paths/f16/F16Blocks.h"

using namespace mlir;
using namespace tenon;

namespace {
class F16Fma : public VectorKernel {
public:
  using VectorKernel::VectorKernel;
  void limitBlock(BlockProblem &block) const override;
  RegisterBlock adjustBlock(RegisterBlock chosen) const override { return {chosen.rows, 2 * chosen.vectors}; }
  bool allowsPackedRows() const override { return false; }
  bool emitsLoop(unsigned loop) const override { return loop == getDequantizedLoop(op); }
  SmallVector<Value> emitLoops(Reduction &reduction, ArrayRef<unsigned> loops, const SumBlock &block,
                               ArrayRef<int64_t> rows, ValueRange sums) override;

private:
  /// The sums of a block in f16, row by row. Two neighbouring vectors of columns are one vector; the last of an odd
  /// number is one of half the length.
  using F16Sums = SmallVector<Value>;

  static int64_t countF16Vectors(int64_t vectors) { return llvm::divideCeil(vectors, 2); }
  VectorType getF16Type(int64_t vectors, int64_t number) const {
    return VectorType::get({2 * number + 1 < vectors ? 2 * lanes : lanes}, b.getF16Type());
  }
  bool readsRowsInVectors() const;
  SmallVector<Value> loadRows(Value first, ArrayRef<int64_t> rows);
  F16Sums emitChain(Value first, int64_t products, int64_t vectors, ArrayRef<int64_t> rows);
  void addChain(Value first, int64_t products, int64_t vectors, ArrayRef<int64_t> rows, F16Sums &blockSums);
  void addBlock(Value first, int64_t products, int64_t vectors, ArrayRef<int64_t> rows, MutableArrayRef<Value> sums);
};
} // namespace

/// True if a vector has the elements of a row that a chain multiplies, and rows are contiguous. Arm's instructions
/// multiply by an element of a vector, so that one load does for a chain.
bool F16Fma::readsRowsInVectors() const {
  return 2 * lanes == kF16ChainProducts && isAlongLast(contraction.lhs.map, getDequantizedLoop(op));
}

/// A block is counted in vectors of f16, and each has two sums in registers, those of a chain and of its block. With
/// the vectors of one panel, AVX-512 reads elements of rows by instructions that multiply, not by one that moves them
/// to all lanes, which would take a unit from these.
void F16Fma::limitBlock(BlockProblem &block) const {
  block.lanes = 2 * lanes;
  block.registers /= 2;
  block.columns = std::min(block.columns, contraction.panel);
  block.panelVectors = contraction.panel / block.lanes;
  if (!readsRowsInVectors())
    return;
  constexpr int64_t kPairsOfRows = 2, kMaxRows = 8; // limit: registers that vectors of rows take
  block.registers -= kPairsOfRows;
  block.maxRows = std::min(block.maxRows, kMaxRows);
}

/// Loads the elements of each row that a chain multiplies, as a vector.
SmallVector<Value> F16Fma::loadRows(Value first, ArrayRef<int64_t> rows) {
  nest.moveTo(getDequantizedLoop(op), first);
  return llvm::map_to_vector(rows, [&](int64_t row) -> Value {
    return vector::LoadOp::create(b, loc, VectorType::get({kF16ChainProducts}, b.getF16Type()), contraction.lhs.memory,
                                  nest.getIndices(contraction.lhs, row, 0));
  });
}

/// Sums the products of a chain, for each of `rows` and each vector of f16.
F16Fma::F16Sums F16Fma::emitChain(Value first, int64_t products, int64_t vectors, ArrayRef<int64_t> rows) {
  int64_t numVectors = countF16Vectors(vectors);
  F16Sums sums(rows.size() * numVectors);
  SmallVector<Value> rowVectors;
  if (products == kF16ChainProducts && readsRowsInVectors())
    rowVectors = loadRows(first, rows);
  for (int64_t step = 0; step < products; ++step) {
    nest.moveTo(getDequantizedLoop(op),
                affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + step), {first}));
    SmallVector<Value> columns;
    for (int64_t v = 0; v < numVectors; ++v)
      columns.push_back(vector::LoadOp::create(b, loc, getF16Type(vectors, v), contraction.rhs.memory,
                                               nest.getIndices(contraction.rhs, 0, 2 * v * lanes)));
    for (auto [i, row] : llvm::enumerate(rows)) {
      Value element =
          rowVectors.empty()
              ? memref::LoadOp::create(b, loc, contraction.lhs.memory, nest.getIndices(contraction.lhs, row, 0))
                    .getResult()
              : vector::ExtractOp::create(b, loc, rowVectors[i], ArrayRef<int64_t>{step}).getResult();
      for (int64_t v = 0; v < numVectors; ++v) {
        Value factor = vector::BroadcastOp::create(b, loc, columns[v].getType(), element);
        Value &sum = sums[i * numVectors + v];
        sum = sum ? vector::FMAOp::create(b, loc, factor, columns[v], sum).getResult()
                  : arith::MulFOp::create(b, loc, factor, columns[v]).getResult();
      }
    }
  }
  return sums;
}

void F16Fma::addChain(Value first, int64_t products, int64_t vectors, ArrayRef<int64_t> rows, F16Sums &blockSums) {
  F16Sums chain = emitChain(first, products, vectors, rows);
  for (auto [sum, ofChain] : llvm::zip_equal(blockSums, chain))
    sum = sum ? arith::AddFOp::create(b, loc, sum, ofChain).getResult() : ofChain;
}

/// Adds the sums of a block of `products` products, in chains, to those in f32.
void F16Fma::addBlock(Value first, int64_t products, int64_t vectors, ArrayRef<int64_t> rows,
                      MutableArrayRef<Value> sums) {
  int64_t numVectors = countF16Vectors(vectors), chains = products / kF16ChainProducts;
  F16Sums blockSums(rows.size() * numVectors);
  auto step = b.getAffineDimExpr(0), index = b.getAffineDimExpr(1);
  if (chains > 1) {
    for (auto [i, sum] : llvm::enumerate(blockSums))
      sum = arith::ConstantOp::create(b, loc, b.getZeroAttr(getF16Type(vectors, int64_t(i) % numVectors)));
    auto loop = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(chains), nest.constant(1), blockSums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    F16Sums carried(loop.getRegionIterArgs());
    Value begin = affine::makeComposedAffineApply(b, loc, AffineMap::get(2, 0, step + index * kF16ChainProducts),
                                                  {first, loop.getInductionVar()});
    addChain(begin, kF16ChainProducts, vectors, rows, carried);
    scf::YieldOp::create(b, loc, carried);
    llvm::copy(loop.getResults(), blockSums.begin());
  } else if (chains == 1) {
    addChain(first, kF16ChainProducts, vectors, rows, blockSums);
  }
  if (int64_t rest = products % kF16ChainProducts) {
    Value begin =
        affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, step + chains * kF16ChainProducts), {first});
    addChain(begin, rest, vectors, rows, blockSums);
  }
  for (auto [i, row] : llvm::enumerate(rows))
    for (int64_t v = 0; v < vectors; ++v) {
      Value half = blockSums[i * numVectors + v / 2];
      if (getF16Type(vectors, v / 2).getNumElements() != lanes)
        half = vector::ExtractStridedSliceOp::create(b, loc, half, ArrayRef<int64_t>{v % 2 * lanes},
                                                     ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
      Value wide = arith::ExtFOp::create(b, loc, VectorType::get({lanes}, type), half);
      Value &sum = sums[row * vectors + v];
      sum = arith::AddFOp::create(b, loc, sum, wide);
    }
}

SmallVector<Value> F16Fma::emitLoops(Reduction &, ArrayRef<unsigned>, const SumBlock &block, ArrayRef<int64_t> rows,
                                     ValueRange sums) {
  int64_t depth = *nest.getStaticExtent(getDequantizedLoop(op)), whole = depth / kF16BlockProducts;
  SmallVector<Value> results(sums);
  if (whole > 0) {
    auto loop = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(whole), nest.constant(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> carried(loop.getRegionIterArgs());
    Value first = affine::makeComposedAffineApply(
        b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) * kF16BlockProducts), {loop.getInductionVar()});
    addBlock(first, kF16BlockProducts, block.vectors, rows, carried);
    scf::YieldOp::create(b, loc, carried);
    results.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (int64_t rest = depth % kF16BlockProducts)
    addBlock(nest.constant(whole * kF16BlockProducts), rest, block.vectors, rows, results);
  return results;
}

/// Panels have whole vectors of f16, so that none reads beyond its panel.
static bool fits(const ContractionProblem &problem) {
  return multipliesF16(problem.op, problem.contraction) && problem.type.isF32() &&
         problem.contraction.panel % (2 * problem.lanes) == 0;
}

static bool implements(StringRef path, const Contraction &contraction) {
  return path == kRoundedF16Path && isOfF16(contraction);
}

const MicroKernelEntry tenon::kF16Fma = {
    .name = kernel::MicroKernel::f16_fma,
    .fits = fits,
    .create = createMicroKernel<F16Fma>,
    .implements = implements,
};
