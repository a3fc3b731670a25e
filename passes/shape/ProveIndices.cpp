//===- ProveIndices.cpp - find indices that cannot be out of range --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of the two limits is proven by itself, backwards from the indices. Only
// operations count whose result cannot leave the range by an overflow, or by a
// cast of NaN: a sum proves nothing, a minimum with a size does.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/IndexUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/shape/FunctionFacts.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-prove-indices"

namespace tenon {
#define GEN_PASS_DEF_PROVEINDICES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Index expressions are small; the limit prevents exponential time on large graphs of minima.
static constexpr int64_t kMaxVisits = 200; // limit: hostile models

namespace {

enum class Side { atLeast, atMost };

/// Proves that a limit is a lower, or an upper, bound of all elements of a value.
class LimitProver {
public:
  LimitProver(const Facts &facts, Side side, AffineExpr limit) : facts(facts), side(side), limit(limit) {}
  bool holds(Value value);

private:
  bool holdsFor(AffineExpr value) {
    return side == Side::atLeast ? facts.isAtMost(limit, value) : facts.isAtMost(value, limit);
  }
  bool holdsFor(int64_t value) { return holdsFor(getDimConstant(limit.getContext(), value)); }
  /// True if the limit holds for all positions below a size, which is at least 1 if there is any position.
  bool holdsBelow(AffineExpr size) {
    return side == Side::atLeast ? holdsFor(int64_t(0))
                                 : holdsFor(addDims(size, getDimConstant(limit.getContext(), -1)));
  }
  bool holdsForAll(ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return holds(value); });
  }
  bool holdsForAny(ValueRange values) {
    return llvm::any_of(values, [&](Value value) { return holds(value); });
  }
  bool holdsForWeight(WeightOp weight);
  bool holdsForCast(CastOp cast);
  bool holdsForRemainder(ModOp mod);

  const Facts &facts;
  Side side;
  AffineExpr limit;
  int64_t visits = 0;
};

} // namespace

bool LimitProver::holdsForWeight(WeightOp weight) {
  auto values = dyn_cast<DenseIntElementsAttr>(weight.getValue());
  if (!values || values.empty())
    return values && values.empty();
  bool isUnsigned = values.getElementType().isUnsignedInteger();
  if (isUnsigned)
    return false;
  std::optional<APInt> end;
  for (const APInt &value : values.getValues<APInt>())
    if (!end || (side == Side::atLeast ? value.slt(*end) : value.sgt(*end)))
      end = value;
  return holdsFor(end->getSExtValue());
}

bool LimitProver::holdsForCast(CastOp cast) {
  Type from = getElementTypeOrSelf(cast.getInput()), to = cast.getType().getElementType();
  if (!isa<IntegerType>(from) || to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
    return false;
  if (from.isInteger(1))
    return holdsFor(int64_t(0)) && holdsFor(int64_t(1));
  return !from.isUnsignedInteger() && holds(cast.getInput());
}

/// Handles a remainder with the sign of the divisor, if the divisor is positive.
bool LimitProver::holdsForRemainder(ModOp mod) {
  if (!LimitProver(facts, Side::atLeast, getDimConstant(limit.getContext(), 1)).holds(mod.getRhs()))
    return false;
  if (side == Side::atLeast)
    return holdsFor(int64_t(0));
  return LimitProver(facts, Side::atMost, addDims(limit, getDimConstant(limit.getContext(), 1))).holds(mod.getRhs());
}

bool LimitProver::holds(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || ++visits > kMaxVisits || !isa<IntegerType>(getElementTypeOrSelf(value)))
    return false;
  Operation *op = result.getOwner();
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<WeightOp>([&](auto weight) { return holdsForWeight(weight); })
      .Case<SizesOp>([&](auto sizes) {
        return llvm::all_of(sizes.getValues().getDims(), [&](AffineExpr dim) { return holdsFor(dim); });
      })
      .Case<IotaOp>([&](auto iota) { return holdsBelow(getDim(iota.getResult(), iota.getAxis())); })
      .Case<ArgReduceOp>([&](auto reduce) { return holdsBelow(getDim(reduce.getInput(), reduce.getAxis())); })
      .Case<SampleOp>([&](auto sample) { return holdsBelow(getDims(sample.getWeights()).back()); })
      .Case<TopKOp>([&](auto topK) {
        return result.getResultNumber() == 1 && holdsBelow(getDim(topK.getInput(), topK.getAxis()));
      })
      .Case<SearchSortedOp>([&](auto search) {
        return side == Side::atLeast ? holdsFor(int64_t(0)) : holdsFor(getDim(search.getKeys(), 0));
      })
      .Case<CheckRangeOp>([&](auto check) {
        ArrayRef<AffineExpr> limits = check.getLimits().getDims();
        return holdsFor(limits[side == Side::atLeast ? 0 : 1]) || holds(check.getInput());
      })
      .Case<ReshapeOp, BroadcastOp, TransposeOp, SliceOp, GatherOp, GatherElementsOp, GatherNDOp>(
          [&](Operation *) { return holds(op->getOperand(0)); })
      .Case<ConcatOp>([&](auto concat) { return holdsForAll(concat.getInputs()); })
      .Case<SelectOp>([&](Operation *) { return holdsForAll(op->getOperands().drop_front()); })
      .Case<MinOp>([&](Operation *) {
        return side == Side::atMost ? holdsForAny(op->getOperands()) : holdsForAll(op->getOperands());
      })
      .Case<MaxOp>([&](Operation *) {
        return side == Side::atLeast ? holdsForAny(op->getOperands()) : holdsForAll(op->getOperands());
      })
      .Case<CastOp>([&](auto cast) { return holdsForCast(cast); })
      .Case<ModOp>([&](auto mod) { return holdsForRemainder(mod); })
      .Default(false);
}

/// If `checksEmpty`, the kernel itself checks that the dimension is not empty, so this need not be proven.
static bool isProven(const Facts &known, const IndexUse &use, bool checksEmpty) {
  return llvm::all_of(use.limits, [&](const IndexLimits &limits) {
    Facts facts = known;
    if (checksEmpty && !getConstant(limits.last))
      facts.addNotNegative(limits.last);
    return LimitProver(facts, Side::atLeast, limits.first).holds(use.indices) &&
           LimitProver(facts, Side::atMost, limits.last).holds(use.indices);
  });
}

namespace {
struct ProveIndices : public tenon::impl::ProveIndicesBase<ProveIndices> {
  void runOnOperation() override {
    Facts facts = collectFacts(getOperation());
    getOperation().walk([&](Operation *op) {
      auto indexed = dyn_cast<ProvableIndicesOpInterface>(op);
      if (!indexed && !isa<CheckRangeOp>(op))
        return;
      assert(!getIndexUses(op).empty() && "gathers, scatters and checks use indices");
      bool isInRange = isProven(facts, getIndexUses(op).front(), /*checksEmpty=*/bool(indexed));
      LDBG() << (isInRange ? "has proven" : "cannot prove") << " that the indices of " << op->getName() << " at "
             << op->getLoc() << " are in range";
      if (!isInRange)
        return;
      ++numProven;
      if (indexed)
        return indexed.setInRange(true);
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
  }
};
} // namespace
