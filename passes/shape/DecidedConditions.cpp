//===- DecidedConditions.cpp - conditions that hold for all elements, or none -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/shape/DecidedConditions.h"
#include "dialects/tenon/Tenon.h"
#include "passes/shape/AffineValues.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tenon-apply-facts"

using namespace mlir;
using namespace tenon;

namespace {
class ConditionDecider {
public:
  explicit ConditionDecider(const Facts &facts) : facts(facts) {}
  std::optional<bool> decide(Value condition);

private:
  std::optional<bool> decideComparison(CompareOp op);
  std::optional<bool> decideBoth(Operation *op, bool deciding);
  std::optional<Interval> getRange(Value integers, std::optional<AffineValue> &affine);

  const Facts &facts;
  int64_t visits = 0;
};
} // namespace

/// Returns the range of the elements of an affine integer tensor; none if it is not affine or may overflow.
std::optional<Interval> ConditionDecider::getRange(Value integers, std::optional<AffineValue> &affine) {
  affine = getAffineValue(facts, integers);
  if (!affine)
    return std::nullopt;
  Dims dims = getDims(integers);
  Interval range{facts.getRange(getSmallest(*affine, dims)).min, facts.getRange(getLargest(*affine, dims)).max};
  int64_t bits = getElementTypeOrSelf(integers).getIntOrFloatBitWidth();
  if (range.min < llvm::minIntN(bits) || range.max > llvm::maxIntN(bits))
    return std::nullopt;
  return range;
}

std::optional<bool> ConditionDecider::decideComparison(CompareOp op) {
  std::optional<AffineValue> lhs, rhs;
  if (!getRange(op.getLhs(), lhs) || !getRange(op.getRhs(), rhs))
    return std::nullopt;
  // Computes the smallest and the largest possible difference.
  Dims lhsDims = getDims(op.getLhs()), rhsDims = getDims(op.getRhs());
  int64_t least = facts.getRange(subDims(getSmallest(*lhs, lhsDims), getLargest(*rhs, rhsDims))).min;
  int64_t most = facts.getRange(subDims(getLargest(*lhs, lhsDims), getSmallest(*rhs, rhsDims))).max;
  auto decideIf = [](bool isTrue, bool isFalse) {
    return isTrue ? std::optional(true) : isFalse ? std::optional(false) : std::nullopt;
  };
  switch (op.getPredicate()) {
  case ComparePredicate::eq:
    return decideIf(least == 0 && most == 0, least > 0 || most < 0);
  case ComparePredicate::ne:
    return decideIf(least > 0 || most < 0, least == 0 && most == 0);
  case ComparePredicate::lt:
    return decideIf(most < 0, least >= 0);
  case ComparePredicate::le:
    return decideIf(most <= 0, least > 0);
  case ComparePredicate::gt:
    return decideIf(least > 0, most <= 0);
  case ComparePredicate::ge:
    return decideIf(least >= 0, most < 0);
  }
  llvm_unreachable("all predicates are above");
}

/// Decides a logical operation: `deciding` if one of its operands has that value, the negation if both have the other
/// one.
std::optional<bool> ConditionDecider::decideBoth(Operation *op, bool deciding) {
  std::optional<bool> first = decide(op->getOperand(0)), second = decide(op->getOperand(1));
  if (first == deciding || second == deciding)
    return deciding;
  return first && second ? std::optional(!deciding) : std::nullopt;
}

std::optional<bool> ConditionDecider::decide(Value condition) {
  constexpr int64_t kMaxVisits = 64; // limit: hostile models
  Operation *definition = condition.getDefiningOp();
  if (!definition || !getElementTypeOrSelf(condition).isInteger(1) || ++visits > kMaxVisits)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<bool>>(definition)
      .Case<CompareOp>([&](auto op) { return decideComparison(op); })
      .Case<AndOp>([&](auto op) { return decideBoth(op, false); })
      .Case<OrOp>([&](auto op) { return decideBoth(op, true); })
      .Case<NotOp>([&](auto op) {
        std::optional<bool> negated = decide(op.getInput());
        return negated ? std::optional(!*negated) : std::nullopt;
      })
      .Case<WeightOp>([&](auto op) {
        auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
        return splat ? std::optional(splat.template getSplatValue<bool>()) : std::nullopt;
      })
      .Case<IndexMapOpInterface>([&](Operation *op) { return decide(op->getOperand(0)); })
      .Default(std::nullopt);
}

std::optional<bool> tenon::decideCondition(const Facts &facts, Value condition) {
  return ConditionDecider(facts).decide(condition);
}

/// Replaces an operation by `value`, with a broadcast if necessary.
static void replace(Operation *op, Value value) {
  OpBuilder b(op);
  if (value.getType() != op->getResult(0).getType())
    value = BroadcastOp::create(b, op->getLoc(), op->getResult(0).getType(), value);
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

void tenon::foldDecidedConditions(const Facts &facts, func::FuncOp function) {
  SmallVector<Operation *> candidates;
  function.walk([&](Operation *op) {
    if (isa<SelectOp, AndOp, OrOp>(op))
      candidates.push_back(op);
  });
  for (Operation *op : candidates) {
    if (llvm::any_of(getDims(op->getResult(0)), isUnknownDim))
      continue;
    if (auto select = dyn_cast<SelectOp>(op)) {
      if (std::optional<bool> decided = decideCondition(facts, select.getCondition())) {
        LDBG() << "takes one operand of the selection at " << op->getLoc();
        replace(select, *decided ? select.getLhs() : select.getRhs());
      }
      continue;
    }
    for (unsigned number : {0, 1})
      if (decideCondition(facts, op->getOperand(number)) == isa<AndOp>(op)) {
        replace(op, op->getOperand(1 - number));
        break;
      }
  }
}
