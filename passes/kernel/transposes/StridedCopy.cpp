//===- StridedCopy.cpp - a copy between two layouts of the same elements --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/transposes/StridedCopy.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace tenon;

Value StridedCopy::getOperand(Side side) const {
  linalg::GenericOp generic = op;
  return side == kInput ? generic.getDpsInputs()[0] : generic.getDpsInits()[0];
}

AffineMap StridedCopy::getMap(Side side) const { return linalg::GenericOp(op).getIndexingMapsArray()[side]; }

Type StridedCopy::getElementType() const { return getElementTypeOrSelf(getOperand(kOutput)); }

static bool isCopy(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return false;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return yield.getOperand(0) == op.getBody()->getArgument(0) && op.getBody()->getOperations().size() == 1 &&
         llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation() && map.getNumResults() > 0; }) &&
         maps[kOutput].getNumResults() == op.getNumLoops();
}

/// Returns the strides of `side` by loop; none if its layout is not strided.
static std::optional<SmallVector<int64_t>> getStrides(const StridedCopy &copy, Side side) {
  SmallVector<int64_t> strides, byLoop(linalg::GenericOp(copy.op).getNumLoops(), 0);
  int64_t offset;
  if (failed(cast<MemRefType>(copy.getOperand(side).getType()).getStridesAndOffset(strides, offset)))
    return std::nullopt;
  for (auto [i, result] : llvm::enumerate(copy.getMap(side).getResults()))
    byLoop[cast<AffineDimExpr>(result).getPosition()] = strides[i];
  return byLoop;
}

std::optional<StridedCopy> StridedCopy::match(linalg::GenericOp op) {
  if (!isCopy(op))
    return std::nullopt;
  StridedCopy copy;
  copy.op = op;
  std::optional<SmallVector<int64_t>> input = getStrides(copy, kInput), output = getStrides(copy, kOutput);
  if (!input || !output)
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (llvm::is_contained(extents, 0))
    return std::nullopt;
  for (AffineExpr result : copy.getMap(kOutput).getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    if (extents[loop] != 1)
      copy.loops.push_back({loop, extents[loop], {(*input)[loop], (*output)[loop]}});
  }
  copy.collapse();
  copy.sortBy(kInput);
  copy.sortBy(kOutput);
  return copy;
}

void StridedCopy::sortBy(Side side) {
  for (AffineExpr result : llvm::reverse(getMap(side).getResults()))
    for (auto [i, loop] : llvm::enumerate(loops))
      if (loop.loop == cast<AffineDimExpr>(result).getPosition())
        orders[side].push_back(i);
}

/// Collapses two loops that are contiguous on both sides into one.
void StridedCopy::collapse() {
  auto continues = [](const CopyLoop &outer, const CopyLoop &inner) {
    return !ShapedType::isDynamic(outer.extent) && !ShapedType::isDynamic(inner.extent) &&
           llvm::all_of(kSides, [&](Side side) {
             return !ShapedType::isDynamic(outer.strides[side]) && !ShapedType::isDynamic(inner.strides[side]) &&
                    outer.strides[side] == inner.extent * inner.strides[side];
           });
  };
  for (size_t i = loops.size(); i-- > 1;) {
    if (!continues(loops[i - 1], loops[i]))
      continue;
    loops[i].extent *= loops[i - 1].extent;
    loops.erase(loops.begin() + (i - 1));
  }
}

void StridedCopy::takeUnit(int64_t maxBits) {
  unsigned inner = orders[kOutput][0];
  assert(unit == 1 && "a copy takes its unit once");
  int64_t extent = loops[inner].extent;
  if (inner != orders[kInput][0] || ShapedType::isDynamic(extent) || !llvm::isPowerOf2_64(extent) ||
      extent * getElementBits() > maxBits || loops.size() < 3)
    return;
  unit = extent;
  loops.erase(loops.begin() + inner);
  for (Side side : kSides) {
    orders[side].clear();
    sortBy(side);
  }
}

/// True if loop `next` may continue a chain; sets `isSure` if it always does.
bool StridedCopy::canContinue(Side side, const LoopChain &chain, unsigned next, bool &isSure) const {
  int64_t stride = loops[next].strides[side];
  isSure = !ShapedType::isDynamic(chain.extent) && stride == chain.extent * unit;
  if (isSure || ShapedType::isDynamic(stride))
    return true;
  if (!ShapedType::isDynamic(chain.extent) || chain.loops.size() > 1)
    return false;
  // A tile that has only a part of the inner loop never continues into the next row.
  unsigned dim = *getMap(kOutput).getResultPosition(
      getAffineDimExpr(loops[chain.loops[0]].loop, getOperand(kOutput).getContext()));
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, {getOperand(kOutput), int64_t(dim)}, /*stopCondition=*/nullptr,
      /*closedUB=*/true);
  return failed(bound) || *bound * unit >= stride;
}

LoopChain StridedCopy::growChain(Side side, ArrayRef<unsigned> taken, int64_t lanes) const {
  assert(lanes > 0 && !orders[side].empty() && "a chain begins with the innermost loop");
  LoopChain chain{{orders[side][0]}};
  chain.extent = getInner(side).extent;
  // A dynamic extent may be 1.
  int64_t least = std::max<int64_t>(chain.extent, 1);
  for (unsigned next : ArrayRef(orders[side]).drop_front()) {
    bool isSure;
    if (least % lanes == 0 || least >= policy.manyVectors * lanes || llvm::is_contained(taken, next) ||
        !canContinue(side, chain, next, isSure))
      break;
    int64_t extent = loops[next].extent;
    least *= std::max<int64_t>(extent, 1);
    bool isKnown = isSure && !ShapedType::isDynamic(extent);
    chain.extent = isKnown ? chain.extent * extent : ShapedType::kDynamic;
    chain.loops.push_back(next);
    chain.isSure.push_back(isSure);
  }
  return chain;
}

std::optional<DenseBox> StridedCopy::findDenseBox(int64_t maxUnits) const {
  std::optional<DenseBox> found;
  int64_t sizes[2] = {1, 1};
  for (size_t count = 1; count <= loops.size(); ++count) {
    for (Side side : kSides) {
      const CopyLoop &loop = loops[orders[side][count - 1]];
      if (ShapedType::isDynamic(loop.extent) || loop.strides[side] != sizes[side] * unit)
        return found;
      sizes[side] *= loop.extent;
      if (sizes[side] > maxUnits)
        return found;
    }
    auto inner = ArrayRef(orders[kInput]).take_front(count);
    if (llvm::all_of(ArrayRef(orders[kOutput]).take_front(count),
                     [&](unsigned loop) { return llvm::is_contained(inner, loop); }))
      found = DenseBox{llvm::to_vector(inner), sizes[kInput]};
  }
  return found;
}
