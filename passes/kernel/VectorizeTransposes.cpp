//===- VectorizeTransposes.cpp - transpose blocks in registers ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_VECTORIZETRANSPOSES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// What is known of the loops
//===----------------------------------------------------------------------===//

namespace {
enum Side : unsigned { kInput, kOutput };

/// A loop of a copy, as far as types tell: ShapedType::kDynamic stands for what they do not. Strides are in elements, by side; the stride
/// of an operand that does not depend on the loop is 0.
struct Loop {
  unsigned loop; ///< of the linalg operation; of several that were collapsed, the innermost
  int64_t extent;
  int64_t strides[2];
};

/// Loops whose elements lie one behind another in memory on one side, the innermost first: a position along all of them is a place in
/// memory there. Whether a loop continues those before it may be known at run time alone: `isSure` says where it is known now.
struct Chain {
  SmallVector<unsigned> loops;
  SmallVector<bool> isSure = {true};
  /// The product of all extents, which is known where every one is and every loop surely continues the others.
  int64_t extent = 1;
};

class Copy {
public:
  static std::optional<Copy> match(linalg::GenericOp op);

  /// Loops of extents above 1; those that move together on both sides are one. In the order of the output, the outermost first.
  SmallVector<Loop> loops;
  /// The loops by side, the innermost first.
  SmallVector<unsigned> orders[2];
  /// Elements that are moved as one: the innermost ones, which are one behind another on both sides.
  int64_t unit = 1;
  linalg::GenericOp op;

  bool isContiguous(Side side) const { return !orders[side].empty() && loops[orders[side][0]].strides[side] == unit; }
  void takeUnit(int64_t bits);
  Chain growChain(Side side, ArrayRef<unsigned> taken, int64_t lanes) const;

private:
  bool canContinue(Side side, const Chain &chain, unsigned next, bool &isSure) const;
  void collapse();
  void sortBy(Side side);
};
} // namespace

static Value getOperand(linalg::GenericOp op, Side side) { return side == kInput ? op.getDpsInputs()[0] : op.getDpsInits()[0]; }
static AffineMap getMap(linalg::GenericOp op, Side side) { return op.getIndexingMapsArray()[side]; }

/// `side`'s strides by loop of `op`; nothing where the layout has none.
static std::optional<SmallVector<int64_t>> getStrides(linalg::GenericOp op, Side side) {
  SmallVector<int64_t> strides, byLoop(op.getNumLoops(), 0);
  int64_t offset;
  if (failed(cast<MemRefType>(getOperand(op, side).getType()).getStridesAndOffset(strides, offset)))
    return std::nullopt;
  for (auto [i, result] : llvm::enumerate(getMap(op, side).getResults()))
    byLoop[cast<AffineDimExpr>(result).getPosition()] = strides[i];
  return byLoop;
}

static bool isCopy(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return false;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return yield.getOperand(0) == op.getBody()->getArgument(0) && op.getBody()->getOperations().size() == 1 &&
         llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation() && map.getNumResults() > 0; }) &&
         maps[kOutput].getNumResults() == op.getNumLoops();
}

std::optional<Copy> Copy::match(linalg::GenericOp op) {
  if (!isCopy(op))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> input = getStrides(op, kInput), output = getStrides(op, kOutput);
  if (!input || !output)
    return std::nullopt;
  Copy copy;
  copy.op = op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (llvm::is_contained(extents, 0))
    return std::nullopt;
  for (AffineExpr result : getMap(op, kOutput).getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    if (extents[loop] != 1)
      copy.loops.push_back({loop, extents[loop], {(*input)[loop], (*output)[loop]}});
  }
  copy.collapse();
  copy.sortBy(kInput);
  copy.sortBy(kOutput);
  return copy;
}

void Copy::sortBy(Side side) {
  for (AffineExpr result : llvm::reverse(getMap(op, side).getResults()))
    for (auto [i, loop] : llvm::enumerate(loops))
      if (loop.loop == cast<AffineDimExpr>(result).getPosition())
        orders[side].push_back(i);
}

/// Makes one loop of two whose elements lie one behind another on both sides.
void Copy::collapse() {
  auto continues = [](const Loop &outer, const Loop &inner) {
    return !ShapedType::isDynamic(outer.extent) && !ShapedType::isDynamic(inner.extent) && llvm::all_of(ArrayRef({kInput, kOutput}), [&](Side side) {
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

/// Makes an innermost loop that both sides have the unit, where it takes few bits, of which each element has `bits`.
void Copy::takeUnit(int64_t bits) {
  constexpr int64_t kMost = 128;
  unsigned inner = orders[kOutput][0];
  int64_t extent = loops[inner].extent;
  if (inner != orders[kInput][0] || ShapedType::isDynamic(extent) || !llvm::isPowerOf2_64(extent) || extent * bits > kMost || loops.size() < 3)
    return;
  unit = extent;
  loops.erase(loops.begin() + inner);
  for (Side side : {kInput, kOutput}) {
    orders[side].clear();
    sortBy(side);
  }
}

/// Whether loop `next` may continue a chain, and whether it surely does.
bool Copy::canContinue(Side side, const Chain &chain, unsigned next, bool &isSure) const {
  int64_t stride = loops[next].strides[side];
  isSure = !ShapedType::isDynamic(chain.extent) && stride == chain.extent * unit;
  if (isSure || ShapedType::isDynamic(stride))
    return true;
  if (!ShapedType::isDynamic(chain.extent) || chain.loops.size() > 1)
    return false;
  // A tile that has only a part of the inner loop never reaches the next line.
  unsigned dim = *getMap(op, kOutput).getResultPosition(getAffineDimExpr(loops[chain.loops[0]].loop, getOperand(op, kOutput).getContext()));
  FailureOr<int64_t> most = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, {getOperand(op, kOutput), int64_t(dim)}, /*stopCondition=*/nullptr, /*closedUB=*/true);
  return failed(most) || *most * unit >= stride;
}

/// The loops along which `side` is contiguous, without those that are taken: as many as make its extent a multiple of the lanes of a vector,
/// or so large that what is left over does not matter.
Chain Copy::growChain(Side side, ArrayRef<unsigned> taken, int64_t lanes) const {
  constexpr int64_t kMany = 8;
  Chain chain{{orders[side][0]}};
  chain.extent = loops[orders[side][0]].extent;
  // An open extent may be 1.
  int64_t least = std::max<int64_t>(chain.extent, 1);
  for (unsigned next : ArrayRef(orders[side]).drop_front()) {
    bool isSure;
    if (least % lanes == 0 || least >= kMany * lanes || llvm::is_contained(taken, next) || !canContinue(side, chain, next, isSure))
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

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// A loop, with all that is known when it runs.
struct RunLoop {
  Value extent;
  Value strides[2];
};

/// A chain when it runs: positions from 0 to `extent`. Each is a place in memory on one side; on the other side, strides say where it is.
struct RunChain {
  SmallVector<RunLoop> loops;
  Value extent;
};

/// Where something begins in memory, by side.
struct Places {
  Value at[2];
};

/// Units of a block that is transposed in registers. Rows are as many as columns, or a multiple of that.
struct RegisterBlock {
  int64_t rows, columns;
};

/// Blocks of fewer rows cost more than single units.
constexpr int64_t kFewestRows = 4;

class CopyEmitter {
public:
  CopyEmitter(const Copy &copy);
  void emitRuns(int64_t vectorBytes);
  void emitTransposed(const Chain &columns, const Chain &rows, RegisterBlock block);

private:
  using Body = llvm::function_ref<void(Places)>;
  void forLoops(ArrayRef<RunLoop> loops, Places places, Body body);
  void forPositions(const RunChain &chain, int64_t step, llvm::function_ref<void(Value)> body);
  void emitSize(RegisterBlock block);
  void emitBlocks(RegisterBlock block, Places places);
  void emitElements();
  void moveVector(int64_t elements, Places places, int64_t offset);
  RunChain resolve(const Chain &chain, Side side);
  SmallVector<Value> getOffsets(const RunChain &chain, Side side, Value position, int64_t count);
  SmallVector<Value> transposeRows(SmallVector<Value> rows);
  SmallVector<Value> concatenate(ArrayRef<Value> vectors, int64_t count);
  Value load(VectorType type, Value place);
  void store(Value vector, Value place);

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value select(Value condition, Value x, Value y) { return b.createOrFold<arith::SelectOp>(loc, condition, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) { return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y); }

  const Copy &copy;
  OpBuilder b;
  Location loc;
  Type elementType, wordType;
  /// Words of a unit, which shuffles move together.
  int64_t wordsOfUnit;
  SmallVector<RunLoop> loops;
  /// The operands as if they had one dimension.
  Value memory[2];
  Places start;
  /// What is left of the loops when blocks are transposed.
  SmallVector<RunLoop> others;
  RunChain columns, rows;
};
} // namespace

CopyEmitter::CopyEmitter(const Copy &copy) : copy(copy), b(linalg::GenericOp(copy.op)), loc(linalg::GenericOp(copy.op).getLoc()) {
  linalg::GenericOp op = copy.op;
  elementType = getElementTypeOrSelf(getOperand(op, kOutput));
  constexpr int64_t kLargestWord = 64;
  int64_t bits = copy.unit * elementType.getIntOrFloatBitWidth(), wordBits = std::min(bits, kLargestWord);
  wordType = b.getIntegerType(wordBits);
  wordsOfUnit = bits / wordBits;
  SmallVector<SmallVector<OpFoldResult>, 2> strides;
  SmallVector<Value> bases;
  for (Side side : {kInput, kOutput}) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, getOperand(op, side));
    strides.push_back(metadata.getConstifiedMixedStrides());
    start.at[side] = getValueOrCreateConstantIndexOp(b, loc, metadata.getConstifiedMixedOffset());
    bases.push_back(metadata.getBaseBuffer());
  }
  for (const Loop &loop : copy.loops) {
    auto dimOf = [&](Side side) { return getMap(op, side).getResultPosition(b.getAffineDimExpr(loop.loop)); };
    RunLoop run;
    run.extent = ShapedType::isDynamic(loop.extent) ? b.createOrFold<memref::DimOp>(loc, getOperand(op, kOutput), *dimOf(kOutput)) : constant(loop.extent);
    for (Side side : {kInput, kOutput})
      run.strides[side] = dimOf(side) ? getValueOrCreateConstantIndexOp(b, loc, strides[side][*dimOf(side)]) : constant(0);
    loops.push_back(run);
  }
  for (Side side : {kInput, kOutput}) {
    Value end = add(start.at[side], constant(copy.unit));
    for (const RunLoop &loop : loops)
      end = add(end, mul(sub(loop.extent, constant(1)), loop.strides[side]));
    auto type = cast<MemRefType>(getOperand(op, side).getType());
    memory[side] = memref::ReinterpretCastOp::create(
        b, loc, MemRefType::get({ShapedType::kDynamic}, elementType, MemRefLayoutAttrInterface(), type.getMemorySpace()), bases[side],
        OpFoldResult(b.getIndexAttr(0)), ArrayRef<OpFoldResult>{OpFoldResult(end)}, ArrayRef<OpFoldResult>{OpFoldResult(b.getIndexAttr(1))});
  }
}

/// Loops one in another, the first one outermost.
void CopyEmitter::forLoops(ArrayRef<RunLoop> loops, Places places, Body body) {
  if (loops.empty())
    return body(places);
  const RunLoop &loop = loops.front();
  OpBuilder::InsertionGuard guard(b);
  Value position = constant(0);
  if (!isOneInteger(loop.extent)) {
    auto next = scf::ForOp::create(b, loc, constant(0), loop.extent, constant(1));
    b.setInsertionPointToStart(next.getBody());
    position = next.getInductionVar();
  }
  for (Side side : {kInput, kOutput})
    places.at[side] = add(places.at[side], mul(position, loop.strides[side]));
  forLoops(loops.drop_front(), places, body);
}

/// Moves units one by one, in the order of the output.
void CopyEmitter::emitElements() {
  forLoops(loops, start, [&](Places places) {
    if (copy.unit > 1)
      return moveVector(copy.unit, places, 0);
    Value element = memref::LoadOp::create(b, loc, memory[kInput], places.at[kInput]);
    memref::StoreOp::create(b, loc, element, memory[kOutput], places.at[kOutput]);
  });
}

Value CopyEmitter::load(VectorType type, Value place) { return vector::LoadOp::create(b, loc, type, memory[kInput], place); }
void CopyEmitter::store(Value vector, Value place) { vector::StoreOp::create(b, loc, vector, memory[kOutput], place); }

//===----------------------------------------------------------------------===//
// Runs that both sides have
//===----------------------------------------------------------------------===//

void CopyEmitter::moveVector(int64_t elements, Places places, int64_t offset) {
  Value from = add(places.at[kInput], constant(offset)), to = add(places.at[kOutput], constant(offset));
  store(load(VectorType::get({elements}, elementType), from), to);
}

/// Moves the elements of the innermost loop, which are side by side in both operands, in vectors. What no vector is left for is moved by one
/// that overlaps the one before it.
void CopyEmitter::emitRuns(int64_t vectorBytes) {
  int64_t run = copy.loops[copy.orders[kOutput][0]].extent, most = vectorBytes * 8 / elementType.getIntOrFloatBitWidth();
  int64_t elements = std::min<int64_t>(most, llvm::bit_floor(uint64_t(run)));
  SmallVector<RunLoop> outer;
  for (auto [i, loop] : llvm::enumerate(loops))
    if (i != copy.orders[kOutput][0])
      outer.push_back(loop);
  forLoops(outer, start, [&](Places places) {
    for (int64_t offset = 0; offset < run; offset += elements)
      moveVector(elements, places, std::min(offset, run - elements));
  });
}

//===----------------------------------------------------------------------===//
// Blocks that are transposed
//===----------------------------------------------------------------------===//

/// A loop that does not continue the chain after all, in this run, is one around it.
RunChain CopyEmitter::resolve(const Chain &chain, Side side) {
  RunChain run;
  run.extent = loops[chain.loops[0]].extent;
  run.loops.push_back(loops[chain.loops[0]]);
  Value continues;
  for (auto [next, isSure] : llvm::drop_begin(llvm::zip(chain.loops, chain.isSure))) {
    RunLoop loop = loops[next];
    if (!isSure || continues) {
      Value fits = compare(arith::CmpIPredicate::eq, loop.strides[side], mul(run.extent, constant(copy.unit)));
      continues = continues ? b.createOrFold<arith::AndIOp>(loc, continues, fits) : fits;
      RunLoop around = loop;
      around.extent = select(continues, constant(1), loop.extent);
      others.push_back(around);
      loop.extent = select(continues, loop.extent, constant(1));
    }
    run.extent = mul(run.extent, loop.extent);
    run.loops.push_back(loop);
  }
  return run;
}

/// Where `count` elements from `position` on are on the side where they are not one behind another, from the first place on.
SmallVector<Value> CopyEmitter::getOffsets(const RunChain &chain, Side side, Value position, int64_t count) {
  SmallVector<Value> offsets;
  if (chain.loops.size() == 1) {
    Value stride = chain.loops[0].strides[side], first = mul(position, stride);
    for (int64_t i = 0; i < count; ++i)
      offsets.push_back(add(first, mul(constant(i), stride)));
    return offsets;
  }
  SmallVector<Value> indices;
  Value rest = position, offset = constant(0);
  for (const RunLoop &loop : ArrayRef(chain.loops).drop_back()) {
    indices.push_back(b.createOrFold<arith::RemUIOp>(loc, rest, loop.extent));
    rest = b.createOrFold<arith::DivUIOp>(loc, rest, loop.extent);
  }
  indices.push_back(rest);
  for (auto [index, loop] : llvm::zip(indices, chain.loops))
    offset = add(offset, mul(index, loop.strides[side]));
  for (int64_t i = 0;; ++i) {
    offsets.push_back(offset);
    if (i + 1 == count)
      return offsets;
    // The next one is a step along the first loop; at its end, back to its beginning and a step along the next loop.
    Value wraps, back = constant(0), next = offset;
    for (auto [level, loop] : llvm::enumerate(chain.loops)) {
      Value forward = add(add(offset, loop.strides[side]), back), step = add(indices[level], constant(1));
      next = wraps ? select(wraps, forward, next) : forward;
      bool isLast = level + 1 == chain.loops.size();
      Value ends = isLast ? Value() : compare(arith::CmpIPredicate::eq, step, loop.extent);
      Value moved = isLast ? step : select(ends, constant(0), step);
      Value old = indices[level];
      indices[level] = wraps ? select(wraps, moved, old) : moved;
      back = sub(back, mul(sub(loop.extent, constant(1)), loop.strides[side]));
      if (!isLast)
        wraps = wraps ? b.createOrFold<arith::AndIOp>(loc, wraps, ends) : ends;
    }
    offset = next;
  }
}

/// Blocks along a chain. The last one overlaps the one before it where it would not be whole: what both write is the same.
void CopyEmitter::forPositions(const RunChain &chain, int64_t step, llvm::function_ref<void(Value)> body) {
  std::optional<int64_t> extent = getConstantIntValue(chain.extent);
  if (extent == step)
    return body(constant(0));
  auto loop = scf::ForOp::create(b, loc, constant(0), chain.extent, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  if (!extent || *extent % step != 0)
    position = arith::MinSIOp::create(b, loc, position, sub(chain.extent, constant(step)));
  body(position);
}

/// Each round puts the units of two rows, half of all rows apart, beside each other: after as many rounds as the number of rows has bits,
/// rows are columns. Of vectors that have more units than there are rows, each part of as many is transposed on its own.
SmallVector<Value> CopyEmitter::transposeRows(SmallVector<Value> rows) {
  int64_t lanes = rows.size(), words = cast<VectorType>(rows[0].getType()).getDimSize(0), part = lanes * wordsOfUnit;
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < words; ++i) {
    int64_t begin = i / part * part, unit = i % part / wordsOfUnit, word = i % wordsOfUnit;
    low.push_back(begin + unit / 2 * wordsOfUnit + word + unit % 2 * words);
    high.push_back(low.back() + part / 2);
  }
  for (int64_t round = 1; round < lanes; round *= 2) {
    SmallVector<Value> mixed;
    for (int64_t i = 0; i < lanes / 2; ++i)
      for (ArrayRef<int64_t> order : {low, high})
        mixed.push_back(vector::ShuffleOp::create(b, loc, rows[i], rows[i + lanes / 2], order));
    rows = std::move(mixed);
  }
  return rows;
}

/// Puts vectors that are `count` apart beside each other: of the first ones, those of `count` rows.
SmallVector<Value> CopyEmitter::concatenate(ArrayRef<Value> vectors, int64_t count) {
  auto type = cast<VectorType>(vectors[0].getType());
  int64_t size = type.getDimSize(0), parts = vectors.size() / count;
  if (parts == 1)
    return llvm::to_vector(vectors);
  auto whole = VectorType::get({parts * size}, type.getElementType());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(whole));
  SmallVector<Value> joined(count, zero);
  for (auto [i, vector] : llvm::enumerate(vectors))
    joined[i % count] = vector::InsertStridedSliceOp::create(b, loc, vector, joined[i % count], ArrayRef<int64_t>{int64_t(i) / count * size}, ArrayRef<int64_t>{1});
  return joined;
}

/// Blocks of so many rows and columns. The chain of several loops is walked outside, so that its places are computed
/// seldom. Blocks that read parts of lines of memory follow each other along these lines.
void CopyEmitter::emitBlocks(RegisterBlock block, Places places) {
  auto getType = [&](int64_t units) { return VectorType::get({units * copy.unit}, elementType); };
  auto getWordsType = [&](int64_t units) { return VectorType::get({units * wordsOfUnit}, wordType); };
  Value unit = constant(copy.unit);
  auto emitBlock = [&](Value column, ArrayRef<Value> columnOffsets, Value row, ArrayRef<Value> rowOffsets) {
    SmallVector<Value> vectors;
    Value from = add(places.at[kInput], mul(column, unit)), to = add(places.at[kOutput], mul(row, unit));
    for (Value offset : rowOffsets)
      vectors.push_back(b.createOrFold<vector::BitCastOp>(loc, getWordsType(block.columns), load(getType(block.columns), add(from, offset))));
    for (auto [vector, offset] : llvm::zip_equal(transposeRows(concatenate(vectors, block.columns)), columnOffsets))
      store(b.createOrFold<vector::BitCastOp>(loc, getType(block.rows), vector), add(to, offset));
  };
  bool walksColumns = (rows.loops.size() > 1 || block.rows > block.columns) && columns.loops.size() == 1;
  if (walksColumns)
    return forPositions(rows, block.rows, [&](Value row) {
      SmallVector<Value> rowOffsets = getOffsets(rows, kInput, row, block.rows);
      forPositions(columns, block.columns, [&](Value column) {
        emitBlock(column, getOffsets(columns, kOutput, column, block.columns), row, rowOffsets);
      });
    });
  forPositions(columns, block.columns, [&](Value column) {
    SmallVector<Value> columnOffsets = getOffsets(columns, kOutput, column, block.columns);
    forPositions(rows, block.rows, [&](Value row) { emitBlock(column, columnOffsets, row, getOffsets(rows, kInput, row, block.rows)); });
  });
}

/// Blocks of so many rows and columns where the chains have as many units, otherwise smaller ones, and single units at last.
void CopyEmitter::emitSize(RegisterBlock block) {
  if (block.rows < kFewestRows)
    return emitElements();
  auto fits = [&](Value extent, int64_t least) { return compare(arith::CmpIPredicate::sge, extent, constant(least)); };
  Value both = b.createOrFold<arith::AndIOp>(loc, fits(columns.extent, block.columns), fits(rows.extent, block.rows));
  std::optional<int64_t> known = getConstantIntValue(both);
  auto emit = [&] { forLoops(others, start, [&](Places places) { emitBlocks(block, places); }); };
  // Of several parts beside each other, first one alone, then smaller ones.
  int64_t smaller = block.rows > block.columns ? block.columns : block.columns / 2;
  if (known)
    return *known ? emit() : emitSize({smaller, smaller});
  auto choice = scf::IfOp::create(b, loc, both, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&choice.getThenRegion().front());
  emit();
  b.setInsertionPointToStart(&choice.getElseRegion().front());
  emitSize({smaller, smaller});
}

void CopyEmitter::emitTransposed(const Chain &columnChain, const Chain &rowChain, RegisterBlock block) {
  for (auto [i, loop] : llvm::enumerate(loops))
    if (!llvm::is_contained(columnChain.loops, i) && !llvm::is_contained(rowChain.loops, i))
      others.push_back(loop);
  columns = resolve(columnChain, kInput);
  rows = resolve(rowChain, kOutput);
  emitSize(block);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Bytes that are moved in vectors written out one by one; more are worth a loop.
static constexpr int64_t kBytesOfRun = 256;

/// Square blocks for units of 32 bits and more. Shuffles of bytes and halves cost least within 128 bits: each of these parts of a vector is
/// transposed on its own. The parts are of different rows, so that whole vectors are written: to write parts of a line of memory costs more than
/// to read them.
static RegisterBlock chooseBlock(int64_t unitBits, int64_t vectorBytes) {
  constexpr int64_t kPart = 128, kShortUnit = 32;
  int64_t lanes = vectorBytes * 8 / unitBits;
  if (unitBits >= kShortUnit)
    return {lanes, lanes};
  return {std::max(lanes, kPart / unitBits), kPart / unitBits};
}

static bool vectorizeTransposed(const Copy &copy, int64_t vectorBytes) {
  if (!copy.isContiguous(kInput) || !copy.isContiguous(kOutput))
    return false;
  // Every element is read from a place of its own: else blocks would be copies of a vector.
  unsigned inner = copy.orders[kOutput][0];
  if (inner == copy.orders[kInput][0] || copy.loops[inner].strides[kInput] == 0)
    return false;
  RegisterBlock block = chooseBlock(copy.unit * getElementTypeOrSelf(getOperand(copy.op, kOutput)).getIntOrFloatBitWidth(), vectorBytes);
  Chain columns = copy.growChain(kInput, inner, block.columns);
  Chain rows = copy.growChain(kOutput, columns.loops, block.rows);
  // Few rows that make no whole blocks are interleaved by LLVM in fewer instructions than blocks that overlap would take.
  auto isMany = [&](const Chain &chain) { return ShapedType::isDynamic(chain.extent) || chain.extent >= 4 * block.columns; };
  for (auto [chain, other] : {std::pair(columns, rows), std::pair(rows, columns)})
    if (!ShapedType::isDynamic(chain.extent) &&
        (chain.extent < kFewestRows || (chain.extent < block.columns && chain.extent % kFewestRows != 0 && isMany(other))))
      return false;
  CopyEmitter(copy).emitTransposed(columns, rows, block);
  return true;
}

static bool vectorize(linalg::GenericOp op, int64_t vectorBytes) {
  std::optional<Copy> copy = Copy::match(op);
  if (!copy || copy->loops.size() < 2 || !copy->isContiguous(kInput) || !copy->isContiguous(kOutput))
    return false;
  Type type = getElementTypeOrSelf(getOperand(op, kOutput));
  if (!type.isIntOrFloat() || !llvm::is_contained({8, 16, 32, 64}, type.getIntOrFloatBitWidth()))
    return false;
  int64_t bits = type.getIntOrFloatBitWidth();
  unsigned inner[2] = {copy->orders[kInput][0], copy->orders[kOutput][0]};
  if (inner[kInput] == inner[kOutput]) {
    int64_t run = copy->loops[inner[kOutput]].extent;
    if (ShapedType::isDynamic(run) || run * bits > kBytesOfRun * 8)
      return false;
    Copy ofUnits = *copy;
    ofUnits.takeUnit(bits);
    if (!vectorizeTransposed(ofUnits, vectorBytes))
      CopyEmitter(*copy).emitRuns(vectorBytes);
    return true;
  }
  return vectorizeTransposed(*copy, vectorBytes);
}

namespace {
struct VectorizeTransposes : public tenon::impl::VectorizeTransposesBase<VectorizeTransposes> {
  using VectorizeTransposesBase::VectorizeTransposesBase;
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> operations;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        operations.push_back(op);
    });
    for (linalg::GenericOp op : operations)
      if (vectorize(op, vectorBytes))
        op.erase();
  }
};
} // namespace
