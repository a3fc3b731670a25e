//===- AmxBf16.cpp - products of bf16 terms in AMX tiles ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "passes/kernel/contract/Amx.h"
#include "passes/kernel/contract/Bf16Split.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
class AmxBf16 : public AmxKernel {
public:
  explicit AmxBf16(const EmitterParts &parts)
      : AmxKernel(parts), terms(*contraction.terms), split(nest, problem, parts.kBlocking) {}

private:
  int64_t getStepBytes() override { return 2 * terms.step; }
  unsigned getStepLoop() override { return terms.loop; }
  void emitSteps(ArrayRef<Rows> rows, int64_t vectors) override {
    forTermSteps([&] { emitStep(rows, vectors); });
  }
  void beginTile() override;
  void beginKBlock() override { split.splitLhs(); }
  void beginColumns() override;
  void emitStep(ArrayRef<Rows> rows, int64_t vectors);
  void loadRhs(int64_t vector, int64_t term);

  const FactorTerms &terms;
  Bf16Split split;
};
} // namespace

void AmxBf16::beginTile() {
  if (terms.splitsRhs())
    split.beginRhs(nest.getExtent(contraction.columnLoop));
}

void AmxBf16::beginColumns() {
  if (terms.splitsRhs())
    split.moveToPanels();
}

/// Lists the pairs of LHS and RHS terms that are multiplied, ordered so that consecutive pairs share an operand.
static SmallVector<std::pair<int64_t, int64_t>> getTermProducts(int64_t lhsTerms, int64_t rhsTerms) {
  assert(lhsTerms > 0 && rhsTerms > 0 && "an operand that is split has a term");
  if (rhsTerms == 3 && lhsTerms == 3)
    return {{2, 0}, {0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}};
  if (rhsTerms == 2 && lhsTerms == 2)
    return {{1, 0}, {0, 0}, {0, 1}};
  // All, the smallest first.
  SmallVector<std::pair<int64_t, int64_t>> products;
  for (int64_t rhs = rhsTerms; rhs-- > 0;)
    for (int64_t lhs = lhsTerms; lhs-- > 0;)
      products.emplace_back(lhs, rhs);
  return products;
}

/// Loads a term of a step of a panel.
void AmxBf16::loadRhs(int64_t vector, int64_t term) {
  int64_t tile = kFirstRhs + vector;
  Value panelRow = nest.constant(contraction.panel * 4);
  if (terms.splitsRhs())
    return move("tileloadd64", tile, split.getRhsMemory(), split.getRhsIndices(vector, term), panelRow);
  move("tileloadd64", tile, contraction.rhs.memory, nest.getIndices(terms.rhs[term], 0, vector * kColumns), panelRow);
}

void AmxBf16::emitStep(ArrayRef<Rows> rows, int64_t vectors) {
  ArrayRef<ElementRead> lhs = split.getLhsTerms();
  Value rowBytes = getRowBytes(lhs.front());
  std::pair<int64_t, int64_t> loaded(-1, -1);
  nest.moveTo(*contraction.rowLoop, rows.front().first);
  if (terms.splitsRhs())
    split.splitShare(rows.front().place);
  else
    parts.prefetch.prefetchTermPanels(vectors);
  for (auto [ofLhs, ofRhs] : getTermProducts(lhs.size(), terms.countRhsTerms())) {
    auto loadLhs = [&](int64_t i) {
      nest.moveTo(*contraction.rowLoop, rows[i].first);
      move("tileloadd64", kFirstLhs + i, lhs.front().memory, nest.getIndices(lhs[ofLhs], 0, 0), rowBytes);
    };
    multiplyTiles("tdpbf16ps", int64_t(rows.size()), vectors, loaded.first == ofLhs ? TileLoad() : TileLoad(loadLhs),
                  loaded.second == ofRhs ? TileLoad() : TileLoad([&](int64_t v) { loadRhs(v, ofRhs); }));
    loaded = {ofLhs, ofRhs};
  }
}

/// Only this micro-kernel computes contractions of bf16 terms, so a schedule need not name it.
static bool fits(const ContractionProblem &problem) {
  const Contraction &contraction = problem.contraction;
  constexpr int64_t kLanes = 16; // format: of panels for AMX tiles
  return contraction.terms && !contraction.terms->areIntegers && problem.lanes == kLanes &&
         contraction.panel == kLanes && problem.isFromZero && contraction.rowLoop && hasConstantRowStride(contraction);
}

static bool implements(StringRef, const Contraction &contraction) {
  return contraction.terms && !contraction.terms->areIntegers;
}

const MicroKernelEntry tenon::kAmxBf16 = {
    .name = kernel::MicroKernel::amx_bf16,
    .fits = fits,
    .create = createMicroKernel<AmxBf16>,
    .implements = implements,
    .rowStep = 32,
};
