//===- CollectRequirements.cpp - note which symbols operations take for equal ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-collect-requirements"

namespace tenon {
#define GEN_PASS_DEF_COLLECTREQUIREMENTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// The set of expressions that must not be negative, with reasons.
class Requirements : public ExtentRequirements {
public:
  Requirements(func::FuncOp function, ModuleOp module) {
    auto *dialect = module.getContext()->getOrLoadDialect<TenonDialect>();
    function.walk([&](SymbolBinderOpInterface binder) {
      if (ArrayAttr symbols = binder.getSymbolsAttr())
        for (StringRef name : symbols.getAsValueRange<StringAttr>())
          bound.insert(dialect->internSymbol(name));
    });
    // A function with requirements of its own has other symbols than the module's main.
    Operation *holder = function->hasAttr(kRequiresAttr) ? function.getOperation() : module;
    auto known = holder->getAttrOfType<ShapeAttr>(kRequiresAttr);
    auto knownTexts = holder->getAttrOfType<ArrayAttr>(kRequiresTextAttr);
    for (auto [i, dim] : llvm::enumerate(known ? known.getDims() : ArrayRef<AffineExpr>()))
      add(dim, knownTexts && i < knownTexts.size() ? cast<StringAttr>(knownTexts[i]).str() : "");
  }

  void addEqual(Operation *op, AffineExpr a, AffineExpr b) override {
    if (getConstant(a) != 1 && getConstant(b) != 1)
      addSame(op, a, b);
  }

  void addSame(Operation *op, AffineExpr a, AffineExpr b) override {
    if (a == b || isUnknownDim(a) || isUnknownDim(b))
      return;
    std::string text = describe("needs ", a, " and ", b, " to be equal");
    addDifference(op, subDims(a, b), text);
    addDifference(op, subDims(b, a), text);
  }

  void addAtMost(Operation *op, AffineExpr a, AffineExpr b, AffineExpr count) override {
    AffineExpr difference = subDims(b, a);
    if (isUnknownDim(a) || isUnknownDim(b) || getConstant(difference).value_or(-1) >= 0)
      return;
    addDifference(op, count ? mulDims(difference, count) : difference, describe("needs ", a, " to be at most ", b, ""));
  }

  void store(func::FuncOp function) const {
    if (dims.empty())
      return;
    assert(dims.size() == texts.size() && "each requirement has a text");
    Builder builder(function.getContext());
    SmallVector<StringRef> references(texts.begin(), texts.end());
    function->setAttr(kRequiresAttr, ShapeAttr::get(function.getContext(), dims));
    function->setAttr(kRequiresTextAttr, builder.getStrArrayAttr(references));
  }

private:
  static std::string describe(StringRef before, AffineExpr a, StringRef between, AffineExpr b, StringRef after) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << before;
    printDim(os, a);
    os << between;
    printDim(os, b);
    os << after;
    return text;
  }

  void addDifference(Operation *op, AffineExpr difference, const std::string &text) {
    assert(!isUnknownDim(difference) && "nothing is required of extents of which nothing is known");
    std::string node;
    if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
      node = "node '" + name.getName().str() + "' ";
    LDBG() << op->getName() << " at " << op->getLoc() << " " << text;
    if (dependsOnData(difference) || !isa<func::FuncOp>(op->getParentOp()))
      addInPlace(op, difference, text);
    else
      add(difference, node + text);
  }

  void add(AffineExpr dim, std::string text) {
    if (!known.insert(dim).second)
      return;
    dims.push_back(dim);
    texts.push_back(std::move(text));
  }

  /// A data-dependent requirement, or one in a branch that may not run, is checked right before the operation, after
  /// all instructions of the block that bind its symbols.
  void addInPlace(Operation *op, AffineExpr dim, StringRef text) {
    if (!knownInBlock.insert({op->getBlock(), dim}).second)
      return;
    OpBuilder builder(op);
    RequireOp::create(builder, op->getLoc(), ShapeAttr::get(op->getContext(), dim), text);
  }

  bool dependsOnData(AffineExpr dim) const {
    bool result = false;
    dim.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        result |= bound.contains(symbol.getPosition());
    });
    return result;
  }

  llvm::DenseSet<AffineExpr> known;
  llvm::DenseSet<std::pair<Block *, AffineExpr>> knownInBlock;
  llvm::DenseSet<unsigned> bound; // symbols that data gives their values
  Dims dims;
  std::vector<std::string> texts;
};

} // namespace

/// Collects requirements for extents that broadcast against each other, aligned at the last dimension.
static void collectBroadcast(Operation *op, Requirements &requirements) {
  Dims result = getDims(op->getResult(0));
  for (Value operand : op->getOperands()) {
    Dims dims = getDims(operand);
    assert(dims.size() <= result.size() && "the result has the dimensions of all operands");
    for (size_t i = 1; i <= dims.size(); ++i)
      requirements.addEqual(op, dims[dims.size() - i], result[result.size() - i]);
  }
}

namespace {
struct CollectRequirements : public tenon::impl::CollectRequirementsBase<CollectRequirements> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isPrivate() && !function.isExternal())
        collect(function, module);
    module->removeAttr(kRangesAttr);
    module->removeAttr(kRequiresAttr);
    module->removeAttr(kRequiresTextAttr);
  }

private:
  void collect(func::FuncOp function, ModuleOp module) {
    Requirements requirements(function, module);
    function.walk([&](Operation *op) {
      if (op->hasTrait<Elementwise>() || isa<BroadcastOp>(op))
        collectBroadcast(op, requirements);
      else if (auto requiring = dyn_cast<ExtentRequirementsOpInterface>(op))
        requiring.collectExtentRequirements(requirements);
    });
    requirements.store(function);
    if (Attribute ranges = module->getAttr(kRangesAttr))
      function->setAttr(kRangesAttr, ranges);
  }
};
} // namespace
