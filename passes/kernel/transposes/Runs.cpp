//===- Runs.cpp - move short runs that both sides of a copy share ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/kernel/transposes/CopyBuilder.h"
#include "passes/kernel/transposes/Transposes.h"

using namespace mlir;
using namespace tenon;

/// Moves `run` elements in vectors of `elements`; the last one overlaps the one before it.
static void moveExactly(CopyBuilder &builder, int64_t run, int64_t elements, Places places) {
  for (int64_t offset = 0; offset < run; offset += elements)
    builder.moveVector(elements, places, std::min(offset, run - elements));
}

/// True if the runs of `inner`, the loop around them in the output, are contiguous in the output, and have gaps in the
/// input.
static bool canOverwrite(const CopyLoop &inner, int64_t run) {
  return inner.strides[kOutput] == run && inner.strides[kInput] != 0;
}

/// Moves each run as one vector that is longer than the run: the next run overwrites the excess in the output. The last
/// run of `inner` is moved exactly, so that nothing is accessed out of bounds; in the input, each of the other runs is
/// followed by another one.
static void moveLonger(CopyBuilder &builder, const RunLoop &inner, int64_t run, int64_t vectorElements, Places places) {
  OpBuilder &b = builder.b;
  Value last = builder.sub(inner.extent, builder.constant(1));
  auto placesAt = [&](Value position) {
    Places at;
    for (Side side : kSides)
      at.at[side] = builder.add(places.at[side], builder.mul(position, inner.strides[side]));
    return at;
  };
  auto loop = scf::ForOp::create(b, builder.loc, builder.constant(0), last, builder.constant(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    builder.moveVector(vectorElements, placesAt(loop.getInductionVar()));
  }
  builder.ifTrue(builder.isAtLeast(inner.extent, 1),
                 [&] { moveExactly(builder, run, vectorElements / 2, placesAt(last)); });
}

bool tenon::moveRuns(const StridedCopy &copy, int64_t vectorBytes) {
  unsigned innermost = copy.orders[kOutput][0];
  int64_t run = copy.loops[innermost].extent, bits = copy.getElementBits(), lanes = vectorBytes * 8 / bits;
  if (innermost != copy.orders[kInput][0] || ShapedType::isDynamic(run) || run * bits > copy.policy.maxRunBytes * 8)
    return false;
  CopyBuilder builder(copy);
  SmallVector<RunLoop> outer = builder.getOthers(innermost);
  int64_t below = llvm::bit_floor(uint64_t(run)), above = llvm::bit_ceil(uint64_t(run));
  if (below != above && above * bits <= copy.policy.maxLongerBits &&
      canOverwrite(copy.loops[copy.orders[kOutput][1]], run)) {
    builder.forLoops(ArrayRef(outer).drop_back(), builder.start,
                     [&](Places places) { moveLonger(builder, outer.back(), run, above, places); });
    return true;
  }
  builder.forLoops(outer, builder.start,
                   [&](Places places) { moveExactly(builder, run, std::min(lanes, below), places); });
  return true;
}
