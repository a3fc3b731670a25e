//===- FloatChoices.cpp - where a small difference makes a large one ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/FloatChoices.h"
#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); }

/// True if a cast to the type has rounding steps that no tolerance covers: to integers, and to 8-bit and 4-bit floats.
static bool isCoarse(Type type) {
  constexpr unsigned kFineBits = 16; // format: of the smallest float that rounds by little
  return !isa<FloatType>(type) || type.getIntOrFloatBitWidth() < kFineBits;
}

/// True if the result of an operation is a discontinuous function of floats.
static bool isChoice(Operation *op) {
  if (llvm::none_of(op->getOperands(), isFloat))
    return false;
  return op->hasTrait<Discontinuous>() || (isa<CastOp>(op) && isCoarse(getElementTypeOrSelf(op->getResult(0))) &&
                                           !isCoarse(getElementTypeOrSelf(op->getOperand(0))));
}

/// True if an operation passes a comparison on, or selects by it.
static bool isSelection(Operation *op) {
  return isa<SelectOp, IndexMapOpInterface>(op) || op->hasTrait<BitwiseLogic>();
}

static std::string describe(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  op->getLoc()->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (named)
      text += " '" + named.getName().str() + "'";
    return named ? WalkResult::interrupt() : WalkResult::advance();
  });
  return text;
}

namespace {
/// Tracks which values depend on which choices, or on comparisons of floats that may become choices.
class Choices {
public:
  void add(func::FuncOp function) {
    // Values of a loop depend on those of earlier iterations.
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round)
      function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
  }
  Operation *lookup(Value value) const { return choiceOf.lookup(value); }

private:
  void visit(Operation *op) {
    if (auto yield = dyn_cast<YieldOp>(op))
      return leave(yield);
    Operation *choice = isChoice(op) ? op : nullptr, *comparison = nullptr;
    for (Value operand : op->getOperands()) {
      choice = choice ? choice : choiceOf.lookup(operand);
      comparison = comparison ? comparison : comparisonOf.lookup(operand);
    }
    if (!choice && comparison && !isSelection(op))
      choice = comparison;
    if (isa<CompareOp>(op) && llvm::any_of(op->getOperands(), isFloat))
      comparison = op;
    for (Value result : op->getResults())
      mark(result, choice, isa<SelectOp>(op) ? nullptr : comparison);
    if (auto loop = dyn_cast<LoopOp>(op))
      for (auto [argument, init] : llvm::zip(loop.getBody().getArguments(), loop.getInits()))
        mark(argument, choiceOf.lookup(init), comparisonOf.lookup(init));
  }

  /// Passes the operands of a yield on to the results of its operation.
  void leave(YieldOp yield) {
    Operation *parent = yield->getParentOp();
    assert(parent->getNumResults() + isa<LoopOp>(parent) == yield.getValues().size() &&
           "the verifier wants a value for each result, and of a loop whether to go on");
    // A loop's body first yields whether to go on.
    size_t first = isa<LoopOp>(parent) ? 1 : 0;
    Operation *goesOn = nullptr;
    if (first) {
      Value condition = yield.getValues().front();
      goesOn = choiceOf.lookup(condition) ? choiceOf.lookup(condition) : comparisonOf.lookup(condition);
    }
    for (auto [i, value] : llvm::enumerate(yield.getValues().drop_front(first))) {
      Operation *choice = choiceOf.lookup(value) ? choiceOf.lookup(value) : goesOn;
      mark(parent->getResult(i), choice, comparisonOf.lookup(value));
      if (first)
        mark(cast<LoopOp>(parent).getBody().getArgument(i), choice, comparisonOf.lookup(value));
    }
  }

  void mark(Value value, Operation *choice, Operation *comparison) {
    if (choice)
      choiceOf.try_emplace(value, choice);
    if (comparison)
      comparisonOf.try_emplace(value, comparison);
  }

  llvm::DenseMap<Value, Operation *> choiceOf, comparisonOf;
};
} // namespace

std::vector<std::string> tenon::findFloatChoices(func::FuncOp function) {
  Choices choices;
  choices.add(function);
  std::vector<std::string> names;
  for (Value result : function.getBody().front().getTerminator()->getOperands()) {
    Operation *choice = choices.lookup(result);
    names.push_back(choice ? describe(choice) : "");
  }
  return names;
}

/// True if the value is the same in each arithmetic: it is no result of floats.
static bool isExact(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast_or_null<StateReadOp>(op)) {
    auto function = read->getParentOfType<func::FuncOp>();
    return function.walk([&](StateUpdateOp update) {
      bool isWritten = update.getState() == read.getState() && isFloat(update.getValue());
      return isWritten ? WalkResult::interrupt() : WalkResult::advance();
    }) == WalkResult::advance();
  }
  return !op || isa<WeightOp>(op);
}

std::vector<std::optional<size_t>> tenon::findScores(func::FuncOp function) {
  OperandRange results = function.getBody().front().getTerminator()->getOperands();
  std::vector<std::optional<size_t>> scores;
  for (Value result : results) {
    std::optional<size_t> found;
    bool isDecided = !isFloat(result);
    SmallVector<Value> open{result};
    llvm::DenseSet<Value> seen;
    while (isDecided && !open.empty()) {
      Value value = open.pop_back_val();
      if (!seen.insert(value).second || isExact(value))
        continue;
      auto it = isFloat(value) ? llvm::find(results, value) : results.end();
      if (it != results.end()) {
        size_t number = it - results.begin();
        isDecided = !found || found == number;
        found = number;
        continue;
      }
      Operation *op = value.getDefiningOp();
      isDecided = op->getNumRegions() == 0 && !isa<StateReadOp>(op);
      llvm::append_range(open, op->getOperands());
    }
    scores.push_back(isDecided ? found : std::nullopt);
  }
  return scores;
}

std::vector<std::optional<ScoredPlaces>> tenon::findScoredPlaces(func::FuncOp function) {
  Choices choices;
  choices.add(function);
  std::vector<std::optional<ScoredPlaces>> found;
  for (Value result : function.getBody().front().getTerminator()->getOperands()) {
    // Neither changes the order of elements.
    while (isa_and_nonnull<ReshapeOp, CastOp>(result.getDefiningOp()) && !isFloat(result))
      result = result.getDefiningOp()->getOperand(0);
    std::optional<ScoredPlaces> places;
    if (auto reduce = result.getDefiningOp<ArgReduceOp>())
      places = {reduce.getInput(), static_cast<int64_t>(reduce.getAxis())};
    else if (auto topK = result.getDefiningOp<TopKOp>(); topK && result == topK.getIndices())
      places = {topK.getInput(), static_cast<int64_t>(topK.getAxis())};
    bool isMeasured = places && isFloat(places->scores) && !choices.lookup(places->scores);
    found.push_back(isMeasured ? places : std::nullopt);
  }
  return found;
}
