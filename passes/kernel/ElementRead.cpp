//===- ElementRead.cpp - what a body reads for a point of its loops -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/ElementRead.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tenon;

std::optional<int64_t> tenon::getStep(AffineExpr index, unsigned loop) {
  if (!index.isFunctionOfDim(loop))
    return 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  if (!binary)
    return 1;
  std::optional<int64_t> left = getStep(binary.getLHS(), loop), right = getStep(binary.getRHS(), loop);
  if (!left || !right)
    return std::nullopt;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (index.getKind() == AffineExprKind::Add)
    return *left + *right;
  return index.getKind() == AffineExprKind::Mul && factor ? std::optional(*left * factor.getValue()) : std::nullopt;
}

bool tenon::isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

ElementRead tenon::getRead(OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  return {operand.get(), op.getMatchingIndexingMap(&operand), {}, {}, op.getMatchingBlockArgument(&operand)};
}

namespace {
/// Reconstructs affine expressions of the loops from the index arithmetic of a body.
class BodyReader {
public:
  BodyReader(linalg::LinalgOp op, bool isWidened) : op(op), isWidened(isWidened) {}
  std::optional<ElementRead> read(Value value);

private:
  AffineExpr readIndex(Value value);
  AffineExpr readArithmetic(Operation *definition);
  /// True if a condition bounds indices of `read`; the bounds are added to it.
  bool readBounds(Value condition, ElementRead &read);
  bool readBound(AffineExpr index, AffineExpr size, ElementRead &read);

  linalg::LinalgOp op;
  bool isWidened; ///< what is read, from f16 or bf16
  SmallVector<Value> symbols;
};
} // namespace

/// Returns the f16 or bf16 value that `value` is promoted from; null if there is none.
static Value getHalf(Value value) {
  auto widening = value.getDefiningOp<arith::ExtFOp>();
  Type from = widening ? widening.getIn().getType() : Type();
  return from && (from.isF16() || from.isBF16()) && value.getType().isF32() ? widening.getIn() : Value();
}

/// Returns null if the index is not a sum of loops, loop-invariant values and constants.
AffineExpr BodyReader::readIndex(Value value) {
  MLIRContext *context = op.getContext();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  if (op->getRegion(0).isAncestor(value.getParentRegion()))
    return value.getDefiningOp() ? readArithmetic(value.getDefiningOp()) : AffineExpr();
  auto *known = llvm::find(symbols, value);
  unsigned symbol = known - symbols.begin();
  if (known == symbols.end())
    symbols.push_back(value);
  return getAffineSymbolExpr(symbol, context);
}

AffineExpr BodyReader::readArithmetic(Operation *definition) {
  if (auto index = dyn_cast<linalg::IndexOp>(definition))
    return index->getParentOp() == op ? getAffineDimExpr(index.getDim(), op.getContext()) : AffineExpr();
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, affine::AffineApplyOp>(definition))
    return {};
  SmallVector<AffineExpr> operands;
  for (Value operand : definition->getOperands()) {
    operands.push_back(readIndex(operand));
    if (!operands.back())
      return {};
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(definition)) {
    unsigned numDims = apply.getAffineMap().getNumDims();
    return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(ArrayRef(operands).take_front(numDims),
                                                                   ArrayRef(operands).drop_front(numDims));
  }
  if (isa<arith::AddIOp>(definition))
    return operands[0] + operands[1];
  if (isa<arith::SubIOp>(definition))
    return operands[0] - operands[1];
  if (isa<arith::DivUIOp>(definition)) // of indices, which are never negative
    return isa<AffineConstantExpr>(operands[1]) ? operands[0].floorDiv(operands[1]) : AffineExpr();
  bool isScaled = isa<AffineConstantExpr>(operands[0]) || isa<AffineConstantExpr>(operands[1]);
  return isScaled ? operands[0] * operands[1] : AffineExpr();
}

bool BodyReader::readBound(AffineExpr index, AffineExpr size, ElementRead &read) {
  // A tile's copy of an image has another origin: its indices differ from the bounded ones by a loop-invariant value.
  auto isAbout = [&](AffineExpr place) {
    AffineExpr origin = simplifyAffineExpr(index - place, op.getNumLoops(), symbols.size());
    return llvm::none_of(llvm::seq(op.getNumLoops()), [&](unsigned loop) { return origin.isFunctionOfDim(loop); });
  };
  if (!index || !size || llvm::none_of(read.map.getResults(), isAbout))
    return false;
  std::optional<ReadBound> bound;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    std::optional<int64_t> step = getStep(index, loop);
    if (!step || *step < 0 || size.isFunctionOfDim(loop))
      return false;
    if (*step == 0 || iterator == utils::IteratorType::parallel)
      continue;
    if (bound)
      return false;
    AffineExpr rest = index.replace(getAffineDimExpr(loop, op.getContext()), getAffineConstantExpr(0, op.getContext()));
    bound = ReadBound{static_cast<unsigned>(loop), *step, rest, size};
  }
  if (bound)
    read.bounds.push_back(*bound);
  return bound.has_value();
}

bool BodyReader::readBounds(Value condition, ElementRead &read) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return readBounds(both.getLhs(), read) && readBounds(both.getRhs(), read);
  // The unsigned comparison covers both ends.
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::ult &&
         readBound(readIndex(compare.getLhs()), readIndex(compare.getRhs()), read);
}

std::optional<ElementRead> BodyReader::read(Value value) {
  Value element = value;
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (branch) {
    if (branch.getNumResults() != 1 || !isZero(branch.elseYield().getOperand(0)))
      return std::nullopt;
    value = branch.thenYield().getOperand(0);
  }
  if (isWidened)
    value = getHalf(value);
  if (!value)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBlock() || branch)
      return std::nullopt;
    ElementRead read = getRead(op->getOpOperand(argument.getArgNumber()));
    read.element = element;
    return read;
  }
  Operation *access = value.getDefiningOp();
  if (!isa_and_nonnull<memref::LoadOp, tensor::ExtractOp>(access) ||
      !op->getRegion(0).isAncestor(access->getParentRegion()))
    return std::nullopt;
  ElementRead read{access->getOperand(0), {}, {}, {}, element};
  SmallVector<AffineExpr> indices;
  for (Value operand : access->getOperands().drop_front()) {
    indices.push_back(readIndex(operand));
    if (!indices.back())
      return std::nullopt;
  }
  auto setMap = [&] { read.map = AffineMap::get(op.getNumLoops(), symbols.size(), indices, op.getContext()); };
  setMap();
  if (branch && !readBounds(branch.getCondition(), read))
    return std::nullopt;
  // The bounds may have added symbols.
  setMap();
  read.symbols = symbols;
  return read;
}

std::optional<ElementRead> tenon::matchRead(linalg::LinalgOp op, Value value) {
  return BodyReader(op, /*isWidened=*/false).read(value);
}

std::optional<ElementRead> tenon::matchReducedPrecisionRead(linalg::LinalgOp op, Value value) {
  return BodyReader(op, /*isWidened=*/true).read(value);
}

/// Returns the operands of a read's expressions. A loop without a position occurs in none of them.
static SmallVector<OpFoldResult> getOperands(OpBuilder &b, const ElementRead &read, ArrayRef<Value> position) {
  SmallVector<OpFoldResult> operands;
  for (Value place : position)
    operands.push_back(place ? getAsOpFoldResult(place) : OpFoldResult(b.getIndexAttr(0)));
  for (Value symbol : read.symbols)
    operands.push_back(getAsOpFoldResult(symbol));
  return operands;
}

LoopRange tenon::getRange(OpBuilder &b, Location loc, const ElementRead &read, unsigned loop, Value extent,
                          ArrayRef<Value> position) {
  assert(position.size() == read.map.getNumDims() && "a loop has a position");
  unsigned numLoops = position.size(), numSymbols = read.symbols.size();
  SmallVector<AffineExpr> begins{b.getAffineConstantExpr(0)}, ends{b.getAffineSymbolExpr(numSymbols)};
  for (const ReadBound &bound : read.bounds) {
    if (bound.loop != loop)
      continue;
    begins.push_back((-bound.rest).ceilDiv(bound.step));
    ends.push_back((bound.size - bound.rest).ceilDiv(bound.step));
  }
  if (begins.size() == 1)
    return {b.getIndexAttr(0), getAsOpFoldResult(extent)};
  SmallVector<OpFoldResult> operands = getOperands(b, read, position);
  operands.push_back(getAsOpFoldResult(extent));
  auto getMap = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(numLoops, numSymbols + 1, results, b.getContext());
  };
  return {affine::makeComposedFoldedAffineMax(b, loc, getMap(begins), operands),
          affine::makeComposedFoldedAffineMin(b, loc, getMap(ends), operands)};
}

Value tenon::emitBounds(OpBuilder &b, Location loc, const ElementRead &read, unsigned loop, ArrayRef<Value> position) {
  SmallVector<OpFoldResult> operands = getOperands(b, read, position);
  auto emit = [&](AffineExpr expr) {
    AffineMap map = AffineMap::get(position.size(), read.symbols.size(), expr);
    return getValueOrCreateConstantIndexOp(b, loc, affine::makeComposedFoldedAffineApply(b, loc, map, operands));
  };
  Value inside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (const ReadBound &bound : read.bounds) {
    if (bound.loop != loop)
      continue;
    Value place = emit(bound.rest + b.getAffineDimExpr(loop) * bound.step);
    Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, emit(bound.size));
    inside = arith::AndIOp::create(b, loc, inside, here);
  }
  return inside;
}
