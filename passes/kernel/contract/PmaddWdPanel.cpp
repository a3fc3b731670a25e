//===- PmaddWdPanel.cpp - int8 that are widened to i16 in scratch ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To widen int8 to i16 takes as many instructions as the products. For many rows
// both operands are widened once: what a tile reads of the LHS (PackTile.cpp), and
// each panel of the RHS. A step of the inner loop then has nothing but loads,
// products and sums.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/PackTile.h"
#include "passes/kernel/contract/PmaddWd.h"
#include <functional>

using namespace mlir;
using namespace tenon;

/// Returns the number of groups of four over all summed loops; none if an extent is dynamic.
static std::optional<int64_t> countGroups(kernel::ContractOp op, unsigned dot4Loop) {
  int64_t groups = 1;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction)
      if (ShapedType::isDynamic(range) ||
          llvm::MulOverflow<int64_t>(groups, loop == dot4Loop ? llvm::divideCeil(range, 4) : range, groups))
        return std::nullopt;
  return groups;
}

bool tenon::fitsPmaddWd(kernel::ContractOp op, const Contraction &contraction, const PackingPolicy &policy) {
  if (!contraction.dot4Loop || !contraction.rowLoop)
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineExpr last = contraction.lhs.map.getResults().back();
  bool isAlone = llvm::all_of(llvm::seq(op.getNumLoops()), [&](unsigned loop) {
    return loop == *contraction.dot4Loop || !last.isFunctionOfDim(loop);
  });
  std::optional<int64_t> groups = countGroups(op, *contraction.dot4Loop);
  // A pixel of few channels, like that of an image, is one group.
  int64_t depth = ranges[*contraction.dot4Loop];
  return isAlone && (depth % 4 == 0 || depth < 4) && groups && *groups > 0 && *groups <= policy.maxI16Groups &&
         (ShapedType::isDynamic(ranges[*contraction.rowLoop]) || ranges[*contraction.rowLoop] > kMaxRowsInRegisters);
}

int64_t tenon::getPmaddWdPanelBytes(kernel::ContractOp op, const Contraction &contraction) {
  return *countGroups(op, *contraction.dot4Loop) * 4 * contraction.panel * int64_t(sizeof(int16_t));
}

namespace {
class PmaddWdPanel : public PmaddWd {
public:
  using PmaddWd::PmaddWd;
  void emit() override;
  void limitBlock(BlockProblem &block) const override;
  RegisterBlock adjustBlock(RegisterBlock chosen) const override;
  void packColumns(int64_t vectors) override;
  SmallVector<Value> emitStep(const SumBlock &block, ArrayRef<int64_t> rows, ValueRange sums) override;

protected:
  /// Few blocks are at the border; a step has enough work without unrolling, which would double the code.
  bool unrollsBorder() const override { return false; }

private:
  Value getGroupNumber();
  Value loadPair(int64_t row);

  Value panel; ///< [group, half of it, column], a pair of i16 for each
};
} // namespace

void PmaddWdPanel::emit() {
  if (std::optional<ElementRead> packed = packTile(nest, problem))
    parts.operands.setLhs(*packed, /*group=*/4);
  auto type = MemRefType::get({*countGroups(op, *contraction.dot4Loop), 2, contraction.panel}, b.getI32Type());
  panel = problem.scratch.emit(b, loc, ScratchUse::pmaddWdPanel, type);
  PmaddWd::emit();
  parts.operands.reset();
}

void PmaddWdPanel::limitBlock(BlockProblem &block) const {
  // Products take registers before they are added.
  block.registers -= 2;
  block.columns = std::min(block.columns, contraction.panel);
}

/// Scratch has room for one panel.
RegisterBlock PmaddWdPanel::adjustBlock(RegisterBlock chosen) const {
  assert(contraction.panel >= lanes && contraction.panel % lanes == 0 && "a panel has whole vectors");
  return {chosen.rows, std::min(chosen.vectors, contraction.panel / lanes)};
}

/// Returns the number of the current group over all summed loops.
Value PmaddWdPanel::getGroupNumber() {
  AffineExpr number = b.getAffineConstantExpr(0);
  SmallVector<Value> places;
  for (unsigned loop : nest.getSummedLoops()) {
    int64_t unit = loop == *contraction.dot4Loop ? 4 : 1;
    number =
        number * llvm::divideCeil(*nest.getStaticExtent(loop), unit) + b.getAffineDimExpr(places.size()).floorDiv(unit);
    places.push_back(nest.at(loop));
  }
  return affine::makeComposedAffineApply(b, loc, AffineMap::get(places.size(), 0, number), getAsOpFoldResult(places));
}

/// Widens the panel of `vectors` vectors from the current column on.
void PmaddWdPanel::packColumns(int64_t vectors) {
  assert(vectors * lanes <= contraction.panel && "scratch has room for one panel");
  std::function<void(ArrayRef<unsigned>)> forLoops = [&](ArrayRef<unsigned> loops) {
    if (!loops.empty())
      return nest.forLoop(nest.constant(0), nest.getExtent(loops.front()),
                          loops.front() == *contraction.dot4Loop ? 4 : 1, [&](Value place) {
                            nest.moveTo(loops.front(), place);
                            forLoops(loops.drop_front());
                          });
    Value group = getGroupNumber();
    for (int64_t v = 0; v < vectors; ++v)
      for (auto [half, elements] : llvm::enumerate(splitRhs(loadRhsGroups(v)))) {
        Value pairs = vector::BitCastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), elements);
        vector::StoreOp::create(b, loc, pairs, panel, ValueRange{group, nest.constant(half), nest.constant(v * lanes)});
      }
  };
  forLoops(nest.getSummedLoops());
}

/// A pair of i16 of a row, for all lanes.
Value PmaddWdPanel::loadPair(int64_t row) {
  Value elements = parts.operands.loadNeighbours(row, VectorType::get({2}, b.getI16Type()));
  Value pair = vector::ExtractOp::create(
      b, loc, vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), elements), ArrayRef<int64_t>{0});
  pair = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), pair);
  return vector::BitCastOp::create(b, loc, getWideType(), pair);
}

SmallVector<Value> PmaddWdPanel::emitStep(const SumBlock &block, ArrayRef<int64_t> rows, ValueRange sums) {
  Value group = getGroupNumber();
  Value first = nest.at(*contraction.dot4Loop);
  SmallVector<Value> results(sums);
  for (int64_t half = 0; half < 2; ++half) {
    // With few registers, the sums take nearly all of them, so operands must not be loaded before they are multiplied.
    if (problem.hasFewRegisters())
      LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread");
    if (half == 1)
      nest.moveTo(*contraction.dot4Loop,
                  affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + 2),
                                                  getAsOpFoldResult(ValueRange{first})));
    SmallVector<Value> columns;
    for (int64_t v = 0; v < block.vectors; ++v) {
      Value pairs = vector::LoadOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), panel,
                                           ValueRange{group, nest.constant(half), nest.constant(v * lanes)});
      columns.push_back(vector::BitCastOp::create(b, loc, getWideType(), pairs));
    }
    for (int64_t row : rows) {
      Value element = loadPair(row);
      for (int64_t v = 0; v < block.vectors; ++v) {
        Value &sum = results[row * block.vectors + v];
        sum = addProducts(sum, element, columns[v]);
      }
    }
  }
  nest.moveTo(*contraction.dot4Loop, first);
  return results;
}

/// The schedule reserves scratch for the panel if the LHS is widened for the whole tile.
static bool fits(const ContractionProblem &problem) {
  return problem.contraction.dot4Loop && problem.contraction.rowLoop && hasPmaddWd(problem.int8Dot) &&
         problem.scratch.has(ScratchUse::pmaddWdPanel);
}

const MicroKernelEntry tenon::kPmaddWdPanel = {
    .name = kernel::MicroKernel::pmaddwd_panel,
    .fits = fits,
    .create = createMicroKernel<PmaddWdPanel>,
};
