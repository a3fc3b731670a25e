//===- CopyBuilder.cpp - loops, loads and stores of a copy ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/transposes/CopyBuilder.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/cost/CacheLines.h"

using namespace mlir;
using namespace tenon;

CopyBuilder::CopyBuilder(const StridedCopy &copy)
    : copy(copy), b(linalg::GenericOp(copy.op)), loc(linalg::GenericOp(copy.op).getLoc()) {
  elementType = copy.getElementType();
  constexpr int64_t kMaxWordBits = 64; // format: of an element of a vector
  int64_t wordBits = std::min(copy.getUnitBits(), kMaxWordBits);
  wordType = b.getIntegerType(wordBits);
  wordsPerUnit = copy.getUnitBits() / wordBits;
  assert(copy.getUnitBits() % wordBits == 0 && "a unit has whole words");
  SmallVector<SmallVector<OpFoldResult>, 2> strides;
  SmallVector<Value> bases;
  for (Side side : kSides) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, copy.getOperand(side));
    strides.push_back(metadata.getConstifiedMixedStrides());
    start.at[side] = getValueOrCreateConstantIndexOp(b, loc, metadata.getConstifiedMixedOffset());
    bases.push_back(metadata.getBaseBuffer());
  }
  for (const CopyLoop &loop : copy.loops) {
    auto dimOf = [&](Side side) { return copy.getMap(side).getResultPosition(b.getAffineDimExpr(loop.loop)); };
    RunLoop run;
    run.extent = ShapedType::isDynamic(loop.extent)
                     ? b.createOrFold<memref::DimOp>(loc, copy.getOperand(kOutput), *dimOf(kOutput))
                     : constant(loop.extent);
    for (Side side : kSides)
      run.strides[side] =
          dimOf(side) ? getValueOrCreateConstantIndexOp(b, loc, strides[side][*dimOf(side)]) : constant(0);
    loops.push_back(run);
  }
  for (Side side : kSides) {
    Value end = add(start.at[side], constant(copy.unit));
    for (const RunLoop &loop : loops)
      end = add(end, mul(sub(loop.extent, constant(1)), loop.strides[side]));
    auto type = cast<MemRefType>(copy.getOperand(side).getType());
    memory[side] = memref::ReinterpretCastOp::create(
        b, loc,
        MemRefType::get({ShapedType::kDynamic}, elementType, MemRefLayoutAttrInterface(), type.getMemorySpace()),
        bases[side], OpFoldResult(b.getIndexAttr(0)), ArrayRef<OpFoldResult>{OpFoldResult(end)},
        ArrayRef<OpFoldResult>{OpFoldResult(b.getIndexAttr(1))});
  }
}

void CopyBuilder::forLoops(ArrayRef<RunLoop> loops, Places places, Body body) {
  if (loops.empty())
    return body(places);
  OpBuilder::InsertionGuard guard(b);
  RunLoop loop = loops.front();
  Value position = constant(0);
  if (!isOneInteger(loop.extent)) {
    auto next = scf::ForOp::create(b, loc, constant(0), loop.extent, constant(1));
    b.setInsertionPointToStart(next.getBody());
    position = next.getInductionVar();
  }
  for (Side side : kSides)
    places.at[side] = add(places.at[side], mul(position, loop.strides[side]));
  forLoops(loops.drop_front(), places, body);
}

void CopyBuilder::forSteps(Value extent, int64_t step, llvm::function_ref<void(Value)> body) {
  assert(step > 0 && "a loop moves on");
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known == step)
    return body(constant(0));
  auto loop = scf::ForOp::create(b, loc, constant(0), extent, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  if (!known || *known % step != 0)
    position = arith::MinSIOp::create(b, loc, position, sub(extent, constant(step)));
  body(position);
}

void CopyBuilder::forRange(Value extent, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, constant(0), extent, constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void CopyBuilder::forTiles(Value extent, int64_t size, Value width, llvm::function_ref<void(Value)> body) {
  assert(size > 0 && "a tile has an element");
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known && *known <= size)
    return body(constant(0));
  auto loop = scf::ForOp::create(b, loc, constant(0), extent, constant(size));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(arith::MinSIOp::create(b, loc, loop.getInductionVar(), sub(extent, width)));
}

void CopyBuilder::ifElse(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? then() : otherwise();
  auto choice = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&choice.getThenRegion().front());
  then();
  b.setInsertionPointToStart(&choice.getElseRegion().front());
  otherwise();
}

void CopyBuilder::ifTrue(Value condition, llvm::function_ref<void()> then) {
  std::optional<int64_t> known = getConstantIntValue(condition);
  if (known && !*known)
    return;
  if (known)
    return then();
  auto choice = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&choice.getThenRegion().front());
  then();
}

void CopyBuilder::moveUnits(ArrayRef<RunLoop> loops, Places places) {
  forLoops(loops, places, [&](Places places) {
    if (copy.unit > 1)
      return moveVector(copy.unit, places);
    Value element = memref::LoadOp::create(b, loc, memory[kInput], places.at[kInput]);
    memref::StoreOp::create(b, loc, element, memory[kOutput], places.at[kOutput]);
  });
}

void CopyBuilder::moveVector(int64_t elements, Places places, int64_t offset) {
  Value from = add(places.at[kInput], constant(offset)), to = add(places.at[kOutput], constant(offset));
  Value vector = vector::LoadOp::create(b, loc, VectorType::get({elements}, elementType), memory[kInput], from);
  vector::StoreOp::create(b, loc, vector, memory[kOutput], to);
}

Value CopyBuilder::loadUnits(int64_t units, Value place, Value memory) {
  Value vector = vector::LoadOp::create(b, loc, VectorType::get({units * copy.unit}, elementType), memory, place);
  return b.createOrFold<vector::BitCastOp>(loc, VectorType::get({units * wordsPerUnit}, wordType), vector);
}

void CopyBuilder::storeUnits(Value words, Value place, Value memory) {
  int64_t units = cast<VectorType>(words.getType()).getDimSize(0) / wordsPerUnit;
  Value vector = b.createOrFold<vector::BitCastOp>(loc, VectorType::get({units * copy.unit}, elementType), words);
  vector::StoreOp::create(b, loc, vector, memory, place);
}

Value CopyBuilder::getScratch(int64_t units) {
  constexpr llvm::StringLiteral kName = "tenon.transpose_scratch";
  int64_t elements = units * copy.unit, bytes = elements * copy.getElementBits() / 8;
  Block &entry = linalg::GenericOp(copy.op)->getParentOfType<func::FuncOp>().getBody().front();
  auto type = MemRefType::get({bytes}, b.getI8Type());
  memref::AllocaOp memory;
  for (auto alloca : entry.getOps<memref::AllocaOp>())
    if (alloca->hasAttr(kName) && alloca.getType() == type)
      memory = alloca;
  if (!memory) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry);
    memory = memref::AllocaOp::create(b, loc, type, b.getI64IntegerAttr(kCacheLineBytes));
    memory->setAttr(kName, b.getUnitAttr());
  }
  return memref::ViewOp::create(b, loc, MemRefType::get({elements}, elementType), memory, constant(0), ValueRange());
}

Value CopyBuilder::getOffset(const RunChain &chain, Side side, Value position) {
  Value rest = position, offset = constant(0);
  for (const RunLoop &loop : ArrayRef(chain.loops).drop_back()) {
    offset = add(offset, mul(rem(rest, loop.extent), loop.strides[side]));
    rest = div(rest, loop.extent);
  }
  return add(offset, mul(rest, chain.loops.back().strides[side]));
}

SmallVector<Value> CopyBuilder::getOffsets(const RunChain &chain, Side side, Value position, int64_t count) {
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
    indices.push_back(rem(rest, loop.extent));
    rest = div(rest, loop.extent);
  }
  indices.push_back(rest);
  for (auto [index, loop] : llvm::zip(indices, chain.loops))
    offset = add(offset, mul(index, loop.strides[side]));
  for (int64_t i = 0;; ++i) {
    offsets.push_back(offset);
    if (i + 1 == count)
      return offsets;
    // The next position is a step along the first loop; at the end of that loop, back to its start and a step along the
    // next loop.
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
        wraps = wraps ? both(wraps, ends) : ends;
    }
    offset = next;
  }
}

SmallVector<RunLoop> CopyBuilder::getOthers(ArrayRef<unsigned> taken) const {
  SmallVector<RunLoop> others;
  for (auto [i, loop] : llvm::enumerate(loops))
    if (!llvm::is_contained(taken, i))
      others.push_back(loop);
  return others;
}
