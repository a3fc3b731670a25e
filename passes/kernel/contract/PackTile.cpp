//===- PackTile.cpp - packed copies of what a tile reads ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element in a convolution window is read for many products. A thread promotes or
// widens all elements that the windows of a tile read, once for all tiles that read the
// same, to its scratch: in the order of memory, without the elements that strides leave
// out everywhere. The loops are then those of f32. (f16 that are promoted one by one, each
// for all lanes, take 2.5 to 3.5 times as long. Vectors of a depthwise convolution are
// promoted as they are loaded: that is faster than a copy.) Int8 are widened to i16, and
// the second and third one of a group of four are swapped, so that the pairs that are
// multiplied at once are neighbours (K4Groups.h).
//
// Pixels of a depthwise convolution whose distance is a large power of two share few sets
// of L1, and evict each other before the next column is read, which the processor had
// fetched with them. Columns of a block are packed, of all lines of a tile, before they
// are summed: 512 x 14 x 14, 3 x 3, on Zen 3 from 126 to 32 us, where 480 x 14 x 14 take
// 23; 5 x 5 from 310 to 66.
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/PackTile.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/cost/EmitterChoices.h"
#include "passes/kernel/K4Groups.h"
#include "passes/kernel/TileLoop.h"
#include <numeric>

using namespace mlir;
using namespace tenon;

namespace {
/// The values of an index within a tile: multiples of `step`, at most `count` of them.
struct TilePlaces {
  int64_t step, count;
};
} // namespace

/// Returns the difference between the largest value of `index` and its value at the start of all loops, which must be
/// the smallest one. None if a loop decreases the index, or if it is not a sum of terms in the loops.
static std::optional<int64_t> getGrowth(AffineExpr index, ArrayRef<int64_t> extents) {
  if (auto loop = dyn_cast<AffineDimExpr>(index))
    return extents[loop.getPosition()] - 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  bool isFixed = llvm::none_of(llvm::seq(extents.size()), [&](unsigned loop) { return index.isFunctionOfDim(loop); });
  if (isFixed || !binary)
    return 0;
  std::optional<int64_t> left = getGrowth(binary.getLHS(), extents), right = getGrowth(binary.getRHS(), extents);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!left || !right)
    return std::nullopt;
  if (index.getKind() == AffineExprKind::Add)
    return *left + *right;
  if (!factor || factor.getValue() <= 0)
    return std::nullopt;
  if (index.getKind() == AffineExprKind::FloorDiv)
    return llvm::divideCeil(*left, factor.getValue());
  return index.getKind() == AffineExprKind::Mul ? std::optional(*left * factor.getValue()) : std::nullopt;
}

/// Returns a common divisor of the steps of all loops in an index; 1 if it is not known.
static int64_t getCommonStep(AffineExpr index, ArrayRef<int64_t> extents) {
  int64_t common = 0;
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    std::optional<int64_t> step = getStep(index, loop);
    if (!step)
      return 1;
    if (extent > 1)
      common = std::gcd(common, *step);
  }
  return std::max<int64_t>(common, 1);
}

/// The places of each index of what is packed.
static std::optional<SmallVector<TilePlaces>> findTilePlaces(kernel::ContractOp op, const ElementRead &read,
                                                             ArrayRef<int64_t> extents) {
  constexpr int64_t kMaxSteps = 1 << 20; // limit: products of some such numbers fit 64 bits
  if (llvm::any_of(extents, [](int64_t extent) { return extent < 1 || extent > kMaxSteps; }))
    return std::nullopt;
  SmallVector<TilePlaces> places;
  ArrayRef<int64_t> shape = cast<ShapedType>(read.memory.getType()).getShape();
  assert(shape.size() == read.map.getNumResults() && "a dimension has an index");
  for (auto [index, size] : llvm::zip(read.map.getResults(), shape)) {
    std::optional<int64_t> growth = getGrowth(index, extents);
    if (!growth || *growth > kMaxSteps)
      return std::nullopt;
    int64_t step = getCommonStep(index, extents), count = *growth / step + 1;
    if (!ShapedType::isDynamic(size))
      count = std::min<int64_t>(count, std::max<int64_t>(llvm::divideCeil(size, step), 1));
    places.push_back({step, count});
  }
  return places;
}

/// Counts the taps of a window; the result is more than `max` if there are more, or if the number is dynamic.
static int64_t getTaps(kernel::ContractOp op, int64_t max) {
  int64_t taps = 1;
  for (auto [range, iterator] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      taps *= ShapedType::isDynamic(range) ? max + 1 : std::min(range, max + 1);
  return taps;
}

bool tenon::packsColumns(kernel::ContractOp op, const Contraction &contraction, const PackingPolicy &policy) {
  const ElementRead &read = contraction.lhs;
  auto type = cast<ShapedType>(read.memory.getType());
  if (!contraction.isColumnwise || contraction.isDepthwiseInt8 || contraction.promotesLhs || !contraction.rowLoop ||
      !type.getElementType().isF32() || ShapedType::isDynamic(type.getShape().back()) || type.getShape().back() == 0 ||
      !isAlongLast(read.map, contraction.columnLoop))
    return false;
  return sharesFewSets(type.getShape().back() * int64_t(sizeof(float)), getTaps(op, policy.maxTaps), policy);
}

std::optional<int64_t> tenon::getPackedTileBytes(kernel::ContractOp op, const Contraction &contraction,
                                                 ArrayRef<int64_t> extents, const PackingPolicy &policy) {
  bool promotes = contraction.promotesLhs && !contraction.dequantization && !contraction.isColumnwise;
  bool copies = packsColumns(op, contraction, policy), widensToI16 = !promotes && !copies;
  if (widensToI16 && !fitsPmaddWd(op, contraction, policy))
    return std::nullopt;
  SmallVector<int64_t> steps(extents);
  if (copies)
    steps[contraction.columnLoop] = policy.columns;
  std::optional<SmallVector<TilePlaces>> places = findTilePlaces(op, contraction.lhs, steps);
  if (!places)
    return std::nullopt;
  int64_t bytes = widensToI16 ? sizeof(int16_t) : sizeof(float);
  if (widensToI16)
    places->back().count = llvm::alignTo(places->back().count, 4);
  for (TilePlaces dim : *places)
    if (bytes <= getMaxTileBytes(contraction, policy))
      bytes *= dim.count;
  return bytes;
}

int64_t tenon::getMaxTileBytes(const Contraction &contraction, const PackingPolicy &policy) {
  return contraction.dot4Loop ? policy.maxI16Bytes : policy.maxPromotedBytes;
}

int64_t tenon::getPackedFilterBytes(kernel::ContractOp op, const PackingPolicy &policy) {
  return getTaps(op, policy.maxTaps) * policy.columns * int64_t(sizeof(float));
}

namespace {
/// The places of an index in the current tile.
struct TileRange {
  Value begin;          ///< where the loops begin: perhaps in the border
  OpFoldResult skipped; ///< of the places, those in the border before the first one
  OpFoldResult first, count;
};

/// Packs the part of an operand that a tile reads: promotes f16 or bf16, widens int8, or copies some columns.
class TileCopy {
public:
  /// Elements are converted to `wide`, in vectors of `lanes` elements where possible.
  TileCopy(OpBuilder &b, kernel::ContractOp op, const ElementRead &read, ArrayRef<TilePlaces> places,
           ValueRange extents, Type wide, int64_t lanes, const ScratchLayout &scratch,
           ScratchUse use = ScratchUse::packedTile);
  /// What is read in place of `read`.
  ElementRead getCopy();
  /// Says that the last index has these places.
  void setLastRange(Value first, int64_t count) {
    assert(count <= places.back().count && "scratch has room for the columns");
    ranges.back() = {first, b.getIndexAttr(0), first, b.getIndexAttr(count)};
  }
  /// Returns the position of the copy's origin: tiles with the same origin share the copy.
  SmallVector<Value> getBegins();
  void emit();

private:
  OpFoldResult fold(AffineExpr expr, ArrayRef<OpFoldResult> operands);
  TileRange findRange(AffineExpr index, unsigned dim);
  unsigned findRunDim();
  Value createCopy(unsigned numDims);
  void emitRun();
  void emitPart(Value place, int64_t width);
  /// Elements that are widened together, at least.
  int64_t getUnit() { return wide.isF32() ? 1 : 4; }
  Value toValue(OpFoldResult value) { return getValueOrCreateConstantIndexOp(b, loc, value); }

  OpBuilder &b;
  Location loc;
  const ElementRead &read;
  ArrayRef<TilePlaces> places;
  ValueRange extents;
  Type wide;
  int64_t lanes;
  const ScratchLayout &scratch;
  ScratchUse use; ///< of the region that has the copy
  SmallVector<TileRange> ranges;
  // The source and the copy as tensors with contiguous runs in the last dimension, and the current run.
  Value source, copy;
  SmallVector<Value> from, to;
  OpFoldResult length;
};
} // namespace

TileCopy::TileCopy(OpBuilder &b, kernel::ContractOp op, const ElementRead &read, ArrayRef<TilePlaces> places,
                   ValueRange extents, Type wide, int64_t lanes, const ScratchLayout &scratch, ScratchUse use)
    : b(b), loc(op.getLoc()), read(read), places(places), extents(extents), wide(wide), lanes(lanes), scratch(scratch),
      use(use) {
  assert(places.size() == read.map.getNumResults() && extents.size() == read.map.getNumDims() &&
         "an index has its places, and a loop its extent");
  for (auto [dim, index] : llvm::enumerate(read.map.getResults()))
    ranges.push_back(findRange(index, dim));
}

/// An expression of symbols.
OpFoldResult TileCopy::fold(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
  return affine::makeComposedFoldedAffineApply(b, loc, AffineMap::get(0, operands.size(), expr), operands);
}

TileRange TileCopy::findRange(AffineExpr index, unsigned dim) {
  SmallVector<OpFoldResult> operands = getAsOpFoldResult(read.symbols);
  SmallVector<AffineExpr> begins, lasts;
  for (Value extent : extents) {
    begins.push_back(b.getAffineConstantExpr(0));
    lasts.push_back(b.getAffineSymbolExpr(operands.size()) - 1);
    operands.push_back(getAsOpFoldResult(extent));
  }
  int64_t step = places[dim].step;
  OpFoldResult begin = fold(index.replaceDims(begins), operands), end = fold(index.replaceDims(lasts) + 1, operands);
  OpFoldResult skipped = b.getIndexAttr(0);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1), zero = b.getAffineConstantExpr(0);
  if (!read.bounds.empty()) {
    auto getMap = [&](unsigned numSymbols, ArrayRef<AffineExpr> exprs) {
      return AffineMap::get(0, numSymbols, exprs, b.getContext());
    };
    skipped = affine::makeComposedFoldedAffineMax(b, loc, getMap(1, {(-s0).ceilDiv(step), zero}), {begin});
    OpFoldResult size = memref::getMixedSize(b, loc, read.memory, dim);
    end = affine::makeComposedFoldedAffineMin(b, loc, getMap(2, {s0, s1}), {end, size});
  }
  OpFoldResult first = fold(s0 + s1 * step, {begin, skipped}), count = fold((s1 - s0).ceilDiv(step), {first, end});
  return {toValue(begin), skipped, first, count};
}

SmallVector<Value> TileCopy::getBegins() {
  return llvm::map_to_vector(ranges, [](const TileRange &range) { return range.begin; });
}

/// Allocates the copy, whose dimensions from `numDims` on are collapsed into one.
Value TileCopy::createCopy(unsigned numDims) {
  assert(numDims > 0 && numDims <= places.size() && "dimensions are collapsed, not added");
  SmallVector<int64_t> shape(numDims, 1);
  for (auto [dim, place] : llvm::enumerate(places))
    shape[std::min<size_t>(dim, numDims - 1)] *=
        dim + 1 == places.size() ? llvm::alignTo(place.count, getUnit()) : place.count;
  return scratch.emit(b, loc, use, MemRefType::get(shape, wide));
}

ElementRead TileCopy::getCopy() {
  ElementRead copied = read;
  copied.memory = createCopy(places.size());
  SmallVector<AffineExpr> indices;
  for (auto [index, place, range] : llvm::zip(read.map.getResults(), places, ranges)) {
    bool isLinear = llvm::all_of(llvm::seq(extents.size()), [&](unsigned loop) { return getStep(index, loop); });
    AffineExpr moved = isLinear ? b.getAffineConstantExpr(0) : index;
    for (unsigned loop = 0; isLinear && loop < extents.size(); ++loop)
      moved = moved + b.getAffineDimExpr(loop) * (*getStep(index, loop) / place.step);
    OpFoldResult before = isLinear ? range.skipped : range.first;
    if (std::optional<int64_t> known = getConstantIntValue(before)) {
      indices.push_back(moved - *known);
      continue;
    }
    indices.push_back(moved - b.getAffineSymbolExpr(copied.symbols.size()));
    copied.symbols.push_back(toValue(before));
  }
  copied.map = AffineMap::get(extents.size(), copied.symbols.size(), indices, b.getContext());
  return copied;
}

/// Returns the outermost dimension from which on a run of elements is contiguous: the dimensions within it are copied
/// as a whole.
unsigned TileCopy::findRunDim() {
  auto type = cast<MemRefType>(read.memory.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  unsigned dim = type.getRank() - 1;
  // A group of fewer than four i8 is padded with zeros.
  if (places[dim].count % getUnit() != 0)
    return dim;
  auto isWhole = [&](unsigned dim) {
    return places[dim].count == type.getDimSize(dim) && getConstantIntValue(ranges[dim].first) == 0 &&
           getConstantIntValue(ranges[dim].count) == type.getDimSize(dim);
  };
  while (dim > 0 && isWhole(dim) && places[dim - 1].step == 1 && !ShapedType::isDynamic(strides[dim]) &&
         strides[dim - 1] == strides[dim] * type.getDimSize(dim))
    --dim;
  return dim;
}

void TileCopy::emit() {
  OpBuilder::InsertionGuard guard(b);
  unsigned run = findRunDim(), rank = places.size();
  SmallVector<ReassociationIndices> groups;
  for (unsigned dim = 0; dim < rank; ++dim)
    dim <= run ? groups.push_back({dim}) : groups.back().push_back(dim);
  source = run + 1 == rank ? read.memory : memref::CollapseShapeOp::create(b, loc, read.memory, groups).getResult();
  copy = createCopy(run + 1);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  for (unsigned dim = 0; dim < run; ++dim) {
    auto loop = scf::ForOp::create(b, loc, zero, toValue(ranges[dim].count), one);
    b.setInsertionPointToStart(loop.getBody());
    to.push_back(loop.getInductionVar());
    from.push_back(toValue(fold(s0 + s1 * places[dim].step, {ranges[dim].first, loop.getInductionVar()})));
  }
  int64_t neighbours = 1;
  for (unsigned dim = run + 1; dim < rank; ++dim)
    neighbours *= places[dim].count;
  from.push_back(toValue(fold(s0 * neighbours, {ranges[run].first})));
  to.push_back(zero);
  length = fold(s0 * neighbours, {ranges[run].count});
  emitRun();
}

/// Copies whole vectors, the last of which ends with the run; copies single units if the run is shorter than a vector
/// or not contiguous.
void TileCopy::emitRun() {
  Value zero = to.back(), end = toValue(length);
  auto emitParts = [&](int64_t width) {
    auto loop = scf::ForOp::create(b, loc, zero, end, arith::ConstantIndexOp::create(b, loc, width));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
    AffineMap clamped = AffineMap::get(0, 2, {s0, s1 - width}, b.getContext());
    emitPart(toValue(affine::makeComposedFoldedAffineMin(b, loc, clamped, {loop.getInductionVar(), length})), width);
  };
  std::optional<int64_t> known = getConstantIntValue(length);
  if (places.back().count < getUnit())
    return emitPart(zero, places.back().count);
  if (places[to.size() - 1].step != 1 || (known && *known < lanes))
    return emitParts(getUnit());
  if (known)
    return emitParts(lanes);
  Value fits =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, end, arith::ConstantIndexOp::create(b, loc, lanes));
  auto branch = scf::IfOp::create(b, loc, fits, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  emitParts(lanes);
  b.setInsertionPointToStart(branch.elseBlock());
  emitParts(getUnit());
}

/// Elements from a place of the run on.
void TileCopy::emitPart(Value place, int64_t width) {
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  SmallVector<Value> source(from), target(to);
  source.back() = toValue(fold(s0 + s1 * places[to.size() - 1].step, {from.back(), place}));
  target.back() = place;
  Type narrow = getElementTypeOrSelf(this->source);
  if (width == 1 && wide.isF32()) {
    Value element = memref::LoadOp::create(b, loc, this->source, source);
    memref::StoreOp::create(b, loc, arith::ExtFOp::create(b, loc, wide, element), copy, target);
    return;
  }
  Value elements = vector::LoadOp::create(b, loc, VectorType::get({width}, narrow), this->source, source);
  if (narrow == wide) {
    vector::StoreOp::create(b, loc, elements, copy, target);
    return;
  }
  if (wide.isF32()) {
    elements = arith::ExtFOp::create(b, loc, VectorType::get({width}, wide), elements);
  } else {
    auto group = VectorType::get({getUnit()}, narrow);
    if (width < getUnit())
      elements = vector::InsertStridedSliceOp::create(b, loc, elements,
                                                      arith::ConstantOp::create(b, loc, b.getZeroAttr(group)),
                                                      ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
    elements = widenK4Groups(b, loc, elements);
  }
  vector::StoreOp::create(b, loc, elements, copy, target);
}

std::optional<ElementRead> tenon::packTile(LoopBuilder &nest, const ContractionProblem &problem) {
  OpBuilder &b = nest.b;
  const Contraction &contraction = problem.contraction;
  if (!problem.scratch.has(ScratchUse::packedTile) || contraction.isColumnwise)
    return std::nullopt;
  std::optional<SmallVector<TilePlaces>> places =
      findTilePlaces(problem.op, contraction.lhs, problem.schedule.getTile());
  assert(places && "a schedule packs tiles whose places are known");
  // A vector of i16 has two for each lane of 32 bits.
  bool widensToI16 = contraction.dot4Loop.has_value();
  TileCopy tile(b, problem.op, contraction.lhs, *places, nest.getExtents(),
                widensToI16 ? Type(b.getI16Type()) : Type(b.getF32Type()),
                widensToI16 ? 2 * problem.lanes : problem.lanes, problem.scratch);
  ElementRead copied = tile.getCopy();
  std::optional<SmallVector<Value>> begins = findTileOffsets(contraction.lhs.memory);
  if (begins)
    llvm::append_range(*begins, tile.getBegins());
  OpBuilder::InsertionGuard guard(b);
  if (Value isNew = begins ? emitIsNew(b, problem.op, *begins) : Value()) {
    auto branch = scf::IfOp::create(b, nest.loc, isNew, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  tile.emit();
  return copied;
}

ElementRead tenon::packColumns(LoopBuilder &nest, const ContractionProblem &problem, const ElementRead &read,
                               ScratchUse use, Value firstColumn) {
  assert(problem.scratch.has(use) && "a schedule that packs columns reserves scratch for both operands");
  OpBuilder &b = nest.b;
  kernel::ContractOp op = problem.op;
  unsigned column = problem.contraction.columnLoop;
  SmallVector<int64_t> extents(problem.schedule.getTile());
  extents[column] = problem.packing.columns;
  SmallVector<Value> steps(nest.getExtents());
  steps[column] = nest.constant(problem.packing.columns);
  std::optional<SmallVector<TilePlaces>> places = findTilePlaces(op, read, extents);
  assert(places && "a schedule packs columns of tiles whose places are known");
  TileCopy tile(b, op, read, *places, steps, problem.type, problem.lanes, problem.scratch, use);
  SmallVector<Value> operands(read.symbols);
  operands.push_back(firstColumn);
  AffineExpr first =
      read.map.getResults().back().replace(b.getAffineDimExpr(column), b.getAffineSymbolExpr(read.symbols.size()));
  tile.setLastRange(nest.compute(first, operands), problem.packing.columns);
  ElementRead copied = tile.getCopy();
  tile.emit();
  // The first one is the copy's first.
  SmallVector<AffineExpr> indices(copied.map.getResults());
  indices.back() = b.getAffineDimExpr(column) - b.getAffineSymbolExpr(copied.symbols.size());
  copied.symbols.push_back(firstColumn);
  copied.map = AffineMap::get(op.getNumLoops(), copied.symbols.size(), indices, b.getContext());
  return copied;
}
