//===- MaskedKeyBlocks.cpp - keys that a mask of positions hides ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/MaskedKeyBlocks.h"
#include "passes/lower/tenon-to-linalg/ElementEmitter.h"

using namespace mlir;
using namespace tenon;

namespace {

/// The sign of a number's slope along queries and along keys: 1, -1, or 0 if it is constant.
struct Slopes {
  int query, key;
};

class LiveTestFinder {
public:
  LiveTestFinder(AttentionOp op, AffineExpr query, AffineExpr key) : op(op), query(query), key(key) {}
  /// Of scores, or of what is added to them.
  void visitScores(Value value, ArrayRef<AffineExpr> indices);

  SmallVector<LiveTest> tests;

private:
  void visitCondition(Value value, ArrayRef<AffineExpr> indices, bool wanted);
  void visitComparison(CompareOp compare, ArrayRef<AffineExpr> indices, bool wanted);
  std::optional<Slopes> getSlopes(Value value, ArrayRef<AffineExpr> indices);
  std::optional<Slopes> getSlopes(ArrayRef<AffineExpr> indices);
  std::optional<int> getSlope(AffineExpr index, AffineExpr loop);
  /// Returns the operation of the body that computes a value; null for values from outside. The number of visited
  /// operations is bounded, so that a large body only yields fewer tests.
  Operation *getOp(Value value) {
    Operation *definition = value.getDefiningOp();
    return definition && op->isProperAncestor(definition) && ++numSteps < kMaxSteps ? definition : nullptr;
  }

  static constexpr int64_t kMaxSteps = 512; // limit: hostile models
  AttentionOp op;
  AffineExpr query, key;
  int64_t numSteps = 0;
};

} // namespace

static bool isHiding(Value value) {
  auto weight = value.getDefiningOp<WeightOp>();
  auto splat = weight ? dyn_cast<SplatElementsAttr>(weight.getValue()) : SplatElementsAttr();
  if (!splat || !isa<Float32Type, Float64Type>(splat.getElementType()))
    return false;
  return splat.getSplatValue<APFloat>().convertToDouble() <= kMaskValue;
}

//===----------------------------------------------------------------------===//
// Where masks are
//===----------------------------------------------------------------------===//

void LiveTestFinder::visitScores(Value value, ArrayRef<AffineExpr> indices) {
  Operation *definition = getOp(value);
  if (!definition)
    return;
  if (std::optional<ElementSource> source = getMovedElement(value, indices))
    return visitScores(source->value, source->indices);
  auto at = [&](Value operand) { return getOperandIndices(operand, value, indices); };
  if (auto add = dyn_cast<AddOp>(definition)) {
    visitScores(add.getLhs(), at(add.getLhs()));
    visitScores(add.getRhs(), at(add.getRhs()));
  }
  if (auto select = dyn_cast<SelectOp>(definition)) {
    Value condition = select.getCondition(), x = select->getOperand(1), y = select->getOperand(2);
    if (isHiding(y)) {
      visitCondition(condition, at(condition), true);
      visitScores(x, at(x));
    } else if (isHiding(x)) {
      visitCondition(condition, at(condition), false);
      visitScores(y, at(y));
    }
  }
}

void LiveTestFinder::visitCondition(Value value, ArrayRef<AffineExpr> indices, bool wanted) {
  Operation *definition = getOp(value);
  if (!definition)
    return;
  if (std::optional<ElementSource> source = getMovedElement(value, indices))
    return visitCondition(source->value, source->indices, wanted);
  if (isa<NotOp>(definition))
    return visitCondition(definition->getOperand(0), indices, !wanted);
  // Each part of a conjunction has to hold.
  if (wanted ? isa<AndOp>(definition) : isa<OrOp>(definition))
    for (Value operand : definition->getOperands())
      visitCondition(operand, getOperandIndices(operand, value, indices), wanted);
  if (auto compare = dyn_cast<CompareOp>(definition))
    visitComparison(compare, indices, wanted);
}

void LiveTestFinder::visitComparison(CompareOp compare, ArrayRef<AffineExpr> indices, bool wanted) {
  std::optional<Slopes> x = getSlopes(compare.getLhs(), getOperandIndices(compare.getLhs(), compare, indices));
  std::optional<Slopes> y = getSlopes(compare.getRhs(), getOperandIndices(compare.getRhs(), compare, indices));
  ComparePredicate predicate = compare.getPredicate();
  bool isLess = predicate == ComparePredicate::lt || predicate == ComparePredicate::le;
  bool isGreater = predicate == ComparePredicate::gt || predicate == ComparePredicate::ge;
  if (!x || !y || !(isLess || isGreater))
    return;
  // The condition is tested at the corner where the difference is smallest, or largest.
  bool wantsLess = isLess == wanted;
  auto isAtLast = [&](int lhs, int rhs) -> std::optional<bool> {
    if (lhs * rhs > 0)
      return std::nullopt;
    return wantsLess ? lhs - rhs < 0 : lhs - rhs > 0;
  };
  std::optional<bool> lastQuery = isAtLast(x->query, y->query), lastKey = isAtLast(x->key, y->key);
  if (lastQuery && lastKey && (x->key != 0 || y->key != 0))
    tests.push_back({compare, wanted, SmallVector<AffineExpr>(indices), *lastQuery, *lastKey});
}

//===----------------------------------------------------------------------===//
// Numbers that depend on positions
//===----------------------------------------------------------------------===//

std::optional<int> LiveTestFinder::getSlope(AffineExpr index, AffineExpr loop) {
  assert(isa<AffineDimExpr>(loop) && "queries and keys are numbered by loops");
  unsigned position = cast<AffineDimExpr>(loop).getPosition();
  if (!index.isFunctionOfDim(position))
    return 0;
  if (subDims(index, loop).isFunctionOfDim(position))
    return std::nullopt;
  return 1;
}

/// Returns the slopes of an element about which only its indices are known.
std::optional<Slopes> LiveTestFinder::getSlopes(ArrayRef<AffineExpr> indices) {
  for (AffineExpr index : indices)
    if (getSlope(index, query) != 0 || getSlope(index, key) != 0)
      return std::nullopt;
  return Slopes{0, 0};
}

std::optional<Slopes> LiveTestFinder::getSlopes(Value value, ArrayRef<AffineExpr> indices) {
  Operation *definition = getOp(value);
  if (!definition)
    return getSlopes(indices);
  if (std::optional<ElementSource> source = getMovedElement(value, indices))
    return getSlopes(source->value, source->indices);
  if (auto iota = dyn_cast<IotaOp>(definition)) {
    assert(iota.getAxis() < indices.size() && "an element has an index for each dimension");
    AffineExpr index = indices[iota.getAxis()];
    std::optional<int> ofQuery = getSlope(index, query), ofKey = getSlope(index, key);
    return ofQuery && ofKey ? std::optional(Slopes{*ofQuery, *ofKey}) : std::nullopt;
  }
  auto ofOperand = [&](unsigned i) {
    Value operand = definition->getOperand(i);
    return getSlopes(operand, getOperandIndices(operand, value, indices));
  };
  // Positions fit these types; narrower ones could wrap around.
  if (auto conversion = dyn_cast<CastOp>(definition))
    return conversion.getType().getElementType().getIntOrFloatBitWidth() >= 32 ? ofOperand(0) : std::nullopt;
  if (!isa<AddOp, SubOp>(definition))
    return getSlopes(indices);
  std::optional<Slopes> x = ofOperand(0), y = ofOperand(1);
  if (!x || !y)
    return std::nullopt;
  int sign = isa<SubOp>(definition) ? -1 : 1;
  auto join = [&](int a, int b) -> std::optional<int> {
    return a * sign * b < 0 ? std::nullopt : std::optional(a != 0 ? a : sign * b);
  };
  std::optional<int> ofQuery = join(x->query, y->query), ofKey = join(x->key, y->key);
  return ofQuery && ofKey ? std::optional(Slopes{*ofQuery, *ofKey}) : std::nullopt;
}

SmallVector<LiveTest> tenon::findLiveTests(AttentionOp op, ArrayRef<AffineExpr> indices, AffineExpr query,
                                           AffineExpr key) {
  LiveTestFinder finder(op, query, key);
  finder.visitScores(cast<YieldOp>(op.getBody().front().getTerminator()).getValues()[0], indices);
  return finder.tests;
}
