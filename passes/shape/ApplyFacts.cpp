//===- ApplyFacts.cpp - write extents as what is known of symbols makes them ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/shape/BoundSizes.h"
#include "passes/shape/DecidedConditions.h"
#include "passes/shape/FunctionFacts.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-apply-facts"

namespace tenon {
#define GEN_PASS_DEF_APPLYFACTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// A condition on sizes, and whether it is proven.
struct Requirement {
  AffineExpr expr; ///< not negative
  StringAttr text;
};

class FactsApplier {
public:
  explicit FactsApplier(func::FuncOp function)
      : function(function), context(function.getContext()), facts(collectFacts(function)),
        inputSymbols(getInputSymbols(function)), stateSymbols(getStateSymbols(function)) {}
  LogicalResult run();

  int64_t numReplaced = 0, numProven = 0;

private:
  void replaceFixedSymbols();
  void replaceBindings();
  bool isSettled(AffineExpr expr) const;
  void readRanges();
  void readRequirements();
  void applyRequirements();
  bool useEquality(const Requirement &requirement, std::vector<Requirement> &kept);
  bool solve(const Polynomial &difference, std::vector<Requirement> &kept);
  void keepRange(AffineExpr symbol, AffineExpr value, std::vector<Requirement> &kept);
  void learnMultiple(AffineExpr difference);
  void replace(AffineExpr symbol, AffineExpr value);
  LogicalResult refuseImpossible();
  void rewriteTypes();
  void rewriteRequires();
  void storeFacts();

  func::FuncOp function;
  MLIRContext *context;
  Facts facts;
  llvm::SetVector<AffineExpr> inputSymbols;
  llvm::MapVector<AffineExpr, Interval> stateSymbols; ///< which keep their names: the runtime knows them by these
  llvm::MapVector<AffineExpr, Interval> ranges;       ///< of inputs' symbols, as the function has them
  std::vector<Requirement> requirements;
};

} // namespace

static void walkSymbols(AffineExpr expr, llvm::function_ref<void(AffineExpr)> use) {
  expr.walk([&](AffineExpr part) {
    if (isa<AffineSymbolExpr>(part))
      use(part);
  });
}

static StringRef getSymbolName(AffineExpr symbol) {
  auto *dialect = symbol.getContext()->getOrLoadDialect<TenonDialect>();
  return dialect->getSymbolName(cast<AffineSymbolExpr>(symbol).getPosition());
}

void FactsApplier::replace(AffineExpr symbol, AffineExpr value) {
  LDBG() << "writes " << dimsToString(value) << " for " << dimsToString(symbol) << " in " << function.getName();
  assert(symbol != value && "a symbol does not stand for itself");
  facts.replace(symbol, value);
  inputSymbols.remove(symbol);
  ++numReplaced;
}

//===----------------------------------------------------------------------===//
// Symbols of one value, symbols that are bound to what is known
//===----------------------------------------------------------------------===//

void FactsApplier::replaceFixedSymbols() {
  for (AffineExpr symbol : llvm::to_vector(inputSymbols))
    if (Interval range = facts.getRange(symbol); range.isSingleton())
      replace(symbol, getDimConstant(context, range.min));
}

/// True if an expression is constant during a run: it depends only on symbols of inputs and states.
bool FactsApplier::isSettled(AffineExpr expr) const {
  bool result = true;
  walkSymbols(expr,
              [&](AffineExpr symbol) { result &= inputSymbols.contains(symbol) || stateSymbols.contains(symbol); });
  return result;
}

void FactsApplier::replaceBindings() {
  llvm::DenseMap<Attribute, int> timesBound;
  function.walk([&](SymbolBinderOpInterface binder) {
    if (ArrayAttr symbols = binder.getSymbolsAttr())
      for (Attribute name : symbols)
        ++timesBound[name];
  });
  auto isAmbiguous = [&](StringAttr name) { return !name.empty() && timesBound[name] != 1; };
  SmallVector<BindOp> known;
  function.walk<WalkOrder::PreOrder>([&](BindOp bind) {
    std::optional<Dims> values = getKnownElements(bind.getValues());
    if (!values || llvm::any_of(bind.getSymbols().getAsRange<StringAttr>(), isAmbiguous))
      return;
    for (auto [name, value] : llvm::zip(bind.getSymbols().getAsValueRange<StringAttr>(), *values)) {
      value = facts.substitute(value);
      if (!name.empty() && !isSettled(value))
        return;
    }
    known.push_back(bind);
    OpBuilder builder(bind);
    for (auto [name, value] : llvm::zip(bind.getSymbols().getAsValueRange<StringAttr>(), *values)) {
      if (name.empty())
        continue;
      replace(getDimSymbol(context, name), value);
      int64_t least = bind.getMin();
      AffineExpr above =
          least == INT64_MIN ? getDimConstant(context, 0) : subDims(value, getDimConstant(context, least));
      RequireOp::create(builder, bind.getLoc(), ShapeAttr::get(context, above),
                        "needs a size of at least " + std::to_string(least));
    }
  });
  for (BindOp bind : known)
    bind.erase();
}

//===----------------------------------------------------------------------===//
// Requirements
//===----------------------------------------------------------------------===//

void FactsApplier::readRanges() {
  if (auto declared = function->getAttrOfType<DictionaryAttr>(kRangesAttr))
    for (NamedAttribute range : declared)
      if (AffineExpr symbol = getDimSymbol(context, range.getName());
          inputSymbols.contains(symbol) || stateSymbols.contains(symbol))
        ranges[symbol] = facts.getRange(symbol);
}

void FactsApplier::readRequirements() {
  auto exprs = function->getAttrOfType<ShapeAttr>(kRequiresAttr);
  auto texts = function->getAttrOfType<ArrayAttr>(kRequiresTextAttr);
  if (!exprs)
    return;
  for (auto [i, expr] : llvm::enumerate(exprs.getDims())) {
    auto text = texts && i < texts.size() ? cast<StringAttr>(texts[i]) : StringAttr::get(context, "");
    requirements.push_back({expr, text});
  }
}

/// The range of a symbol must hold for the expression that replaces it.
void FactsApplier::keepRange(AffineExpr symbol, AffineExpr value, std::vector<Requirement> &kept) {
  auto declared = ranges.find(symbol);
  if (declared == ranges.end())
    return;
  Interval range = declared->second;
  if (isa<AffineSymbolExpr>(value)) {
    ranges[value] = intersect(ranges.lookup(value), range);
    facts.addRange(value, range);
    return;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "needs ";
  printDim(os, symbol);
  os << " to be from " << range.min << " to " << range.max;
  auto note = StringAttr::get(context, text);
  AffineExpr above = subDims(value, getDimConstant(context, range.min));
  if (!facts.isNotNegative(above))
    kept.push_back({above, note});
  if (range.max != INT64_MAX)
    kept.push_back({subDims(getDimConstant(context, range.max), value), note});
}

/// Solves an equation for the last input symbol that occurs alone in it, and replaces the symbol.
bool FactsApplier::solve(const Polynomial &difference, std::vector<Requirement> &kept) {
  constexpr size_t kMaxTerms = 3; // limit: a longer expression costs more than the symbol
  if (difference.size() > kMaxTerms)
    return false;
  AffineExpr whole = toExpr(difference, context);
  for (AffineExpr symbol : llvm::reverse(inputSymbols)) {
    auto it = difference.find(Term{symbol});
    if (it == difference.end() || std::abs(it->second) != 1)
      continue;
    AffineExpr rest = simplifyDim(whole - symbol * it->second), value = simplifyDim(rest * -it->second);
    if (value.isFunctionOfSymbol(cast<AffineSymbolExpr>(symbol).getPosition()))
      continue;
    Interval both = intersect(ranges.lookup(symbol), facts.getRange(value));
    if (both.min > both.max)
      continue; // No sizes will do, which the check says best.
    keepRange(symbol, value, kept);
    replace(symbol, value);
    return true;
  }
  return false;
}

/// symbol mod d = 0, times a constant, implies that d divides the symbol.
void FactsApplier::learnMultiple(AffineExpr difference) {
  auto product = dyn_cast<AffineBinaryOpExpr>(difference);
  if (product && product.getKind() == AffineExprKind::Mul && getConstant(product.getRHS()))
    difference = product.getLHS();
  auto remainder = dyn_cast<AffineBinaryOpExpr>(difference);
  if (!remainder || remainder.getKind() != AffineExprKind::Mod)
    return;
  // The symbol's coefficient must be coprime to the divisor.
  auto dividend = dyn_cast<AffineBinaryOpExpr>(remainder.getLHS());
  bool isScaled = dividend && dividend.getKind() == AffineExprKind::Mul && getConstant(dividend.getRHS());
  AffineExpr symbol = isScaled ? dividend.getLHS() : remainder.getLHS();
  if (int64_t divisor = getConstant(remainder.getRHS()).value_or(0); divisor > 0 && isa<AffineSymbolExpr>(symbol))
    facts.addMultiple(symbol, divisor);
}

/// True if the equation is checked when symbols are bound, so that no separate check is needed.
bool FactsApplier::useEquality(const Requirement &requirement, std::vector<Requirement> &kept) {
  Polynomial difference = toPolynomial(requirement.expr);
  if (solve(difference, kept))
    return true;
  learnMultiple(toExpr(removeQuotients(difference, context), context));
  return false;
}

void FactsApplier::applyRequirements() {
  std::vector<Requirement> kept;
  llvm::DenseSet<AffineExpr> all;
  for (const Requirement &requirement : requirements)
    all.insert(requirement.expr);
  for (Requirement requirement : requirements) {
    bool isEquation = all.contains(simplifyDim(requirement.expr * -1));
    requirement.expr = facts.substitute(requirement.expr);
    bool isInputs = isSettled(requirement.expr);
    if (facts.isNotNegative(requirement.expr)) {
      LDBG() << "has proven that " << dimsToString(requirement.expr) << " is not negative in " << function.getName();
      ++numProven;
      continue;
    }
    if (isEquation && isInputs && useEquality(requirement, kept))
      continue;
    kept.push_back(requirement);
    if (isInputs)
      facts.addNotNegative(requirement.expr);
  }
  requirements.clear();
  // What was kept may have lost a symbol since.
  for (Requirement requirement : kept) {
    requirement.expr = facts.substitute(requirement.expr);
    requirements.push_back(requirement);
  }
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Rewrites every extent in the body of the function; the types of its arguments do not change.
void FactsApplier::rewriteTypes() {
  auto rewrite = [&](ArrayRef<AffineExpr> dims, auto write) {
    Dims result;
    for (AffineExpr dim : dims)
      result.push_back(isUnknownDim(dim) ? dim : write(dim));
    return result;
  };
  auto simplify = [&](AffineExpr dim) { return facts.simplify(dim); };
  auto substitute = [&](AffineExpr dim) { return facts.substitute(dim); };
  auto rewriteType = [&](RankedTensorType type, auto write) {
    return getTensorType(rewrite(getDims(type), write), type.getElementType());
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](ShapeAttr shape) { return ShapeAttr::get(context, rewrite(shape.getDims(), simplify)); });
  replacer.addReplacement(
      [&](RankedTensorType type) -> Type { return type.hasStaticShape() ? type : rewriteType(type, simplify); });
  function.walk([&](Operation *op) {
    if (op != function && !isa<RequireOp>(op))
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
  for (Block &block : function.getBody())
    for (BlockArgument argument : block.getArguments())
      argument.setType(rewriteType(cast<RankedTensorType>(argument.getType()), substitute));
  SmallVector<Type> results(function.getBody().front().getTerminator()->getOperandTypes());
  function.setFunctionType(FunctionType::get(context, function.getBody().getArgumentTypes(), results));
}

void FactsApplier::rewriteRequires() {
  function.walk([&](RequireOp require) {
    Dims left;
    for (AffineExpr expr : require.getValues().getDims())
      if (!facts.isNotNegative(expr))
        left.push_back(facts.substitute(expr));
      else
        ++numProven;
    if (left.empty())
      require.erase();
    else
      require.setValuesAttr(ShapeAttr::get(context, left));
  });
}

void FactsApplier::storeFacts() {
  assert(
      llvm::all_of(requirements, [](const Requirement &requirement) { return requirement.expr && requirement.text; }) &&
      "a requirement has an expression and a text, which may be empty");
  Builder builder(context);
  Dims exprs;
  SmallVector<Attribute> texts;
  for (const Requirement &requirement : requirements) {
    exprs.push_back(requirement.expr);
    texts.push_back(requirement.text);
  }
  SmallVector<NamedAttribute> ends;
  for (auto [symbol, range] : ranges)
    if (inputSymbols.contains(symbol) || stateSymbols.contains(symbol))
      ends.push_back(builder.getNamedAttr(getSymbolName(symbol), builder.getDenseI64ArrayAttr({range.min, range.max})));
  function->removeAttr(kRangesAttr);
  if (!ends.empty())
    function->setAttr(kRangesAttr, builder.getDictionaryAttr(ends));
  function->removeAttr(kRequiresAttr);
  function->removeAttr(kRequiresTextAttr);
  if (!exprs.empty()) {
    function->setAttr(kRequiresAttr, ShapeAttr::get(context, exprs));
    function->setAttr(kRequiresTextAttr, builder.getArrayAttr(texts));
  }
}

/// Rejects a model with static sizes that violate a requirement, because later passes would create invalid operations.
LogicalResult FactsApplier::refuseImpossible() {
  for (const Requirement &requirement : requirements)
    if (getConstant(requirement.expr).value_or(0) < 0)
      return emitInvalid(UnknownLoc::get(context),
                         requirement.text.empty() ? "a size is negative" : requirement.text.getValue());
  // Requirements in a branch or a loop may never be evaluated.
  for (RequireOp require : function.getBody().getOps<RequireOp>())
    for (AffineExpr expr : require.getValues().getDims())
      if (getConstant(facts.substitute(expr)).value_or(0) < 0)
        return emitInvalid(require.getLoc(), require.getText());
  return success();
}

LogicalResult FactsApplier::run() {
  readRanges();
  readRequirements();
  replaceFixedSymbols();
  replaceBindings();
  applyRequirements();
  if (failed(refuseImpossible()))
    return failure();
  rewriteTypes();
  rewriteRequires();
  storeFacts();
  return success();
}

namespace {
struct ApplyFacts : public tenon::impl::ApplyFactsBase<ApplyFacts> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isPrivate() || function.isExternal())
      return;
    FactsApplier applier(function);
    if (failed(applier.run()))
      return signalPassFailure();
    boundSizes(function);
    foldDecidedConditions(collectFacts(function), function);
    numReplaced += applier.numReplaced;
    numProven += applier.numProven;
  }
};
} // namespace
