//===- Specialize.cpp - copy main for the sizes that it is used with most -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Ranges.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/shape/FunctionFacts.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-specialize"

namespace tenon {
#define GEN_PASS_DEF_SPECIALIZE
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Returns the ranges of a function's symbols, merged with `added`.
static DictionaryAttr joinRanges(func::FuncOp main, ArrayRef<NamedRange> added) {
  Builder builder(main.getContext());
  NamedAttrList ranges(main->getAttrOfType<DictionaryAttr>(kRangesAttr));
  for (const NamedRange &range : added) {
    Interval both = range.range;
    if (auto known = dyn_cast_or_null<DenseI64ArrayAttr>(ranges.get(range.symbol)))
      both = intersect(both, {known[0], known[1]});
    ranges.set(range.symbol, builder.getDenseI64ArrayAttr({both.min, both.max}));
  }
  return ranges.getDictionary(main.getContext());
}

/// Adds the size hints of `ranges` for symbols without a hint. A hint of 0 is dropped.
static void addSizeHints(func::FuncOp function, ArrayRef<NamedRange> ranges) {
  Builder builder(function.getContext());
  NamedAttrList hints(function->getAttrOfType<DictionaryAttr>(kSizeHintsAttr));
  for (const NamedRange &range : ranges)
    if (range.hint.value_or(0) > 0 && !hints.get(range.symbol))
      hints.set(range.symbol, builder.getI64IntegerAttr(*range.hint));
  if (!hints.empty())
    function->setAttr(kSizeHintsAttr, hints.getDictionary(function.getContext()));
}

static bool hasValues(DictionaryAttr ranges) {
  return llvm::all_of(ranges, [](NamedAttribute range) {
    auto ends = dyn_cast<DenseI64ArrayAttr>(range.getValue());
    return !ends || ends[0] <= ends[1];
  });
}

/// True if one of the imported programs is for these sizes, and maybe others: it takes the place of a copy of main.
static bool isImported(ArrayRef<std::vector<NamedRange>> imported, ArrayRef<NamedRange> added) {
  auto has = [](ArrayRef<NamedRange> sizes, const NamedRange &wanted) {
    return llvm::any_of(sizes, [&](const NamedRange &size) {
      return size.symbol == wanted.symbol && size.range.min == wanted.range.min && size.range.max == wanted.range.max;
    });
  };
  return llvm::any_of(imported, [&](ArrayRef<NamedRange> sizes) {
    return llvm::all_of(added, [&](const NamedRange &wanted) { return has(sizes, wanted); });
  });
}

/// Describes a requirement that no sizes in the function's ranges satisfy; empty if there is none.
static std::string findImpossible(func::FuncOp function) {
  auto exprs = function->getAttrOfType<ShapeAttr>(kRequiresAttr);
  auto texts = function->getAttrOfType<ArrayAttr>(kRequiresTextAttr);
  Facts facts = collectFacts(function);
  for (AffineExpr symbol : getInputSymbols(function))
    if (Interval range = facts.getRange(symbol); range.isSingleton())
      facts.replace(symbol, getDimConstant(function.getContext(), range.min));
  for (auto [i, expr] : llvm::enumerate(exprs ? exprs.getDims() : ArrayRef<AffineExpr>())) {
    if (facts.getRange(expr).max >= 0)
      continue;
    std::string text = texts && i < texts.size() ? cast<StringAttr>(texts[i]).str() : "";
    llvm::raw_string_ostream os(text);
    if (text.empty()) {
      printDim(os, expr);
      os << " must not be negative";
    }
    return text;
  }
  return "";
}

namespace {
struct Specialize : public tenon::impl::SpecializeBase<Specialize> {
  using SpecializeBase::SpecializeBase;
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto sizes = function->getAttrOfType<StringAttr>(kProgramAttr))
        imported.push_back(llvm::cantFail(parseRanges(sizes.getValue())));
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      // Programs that were imported as such are for their sizes alone.
      if (function.isPrivate() || function.isExternal() || function->hasAttr(kProgramAttr))
        continue;
      // The function itself gets the size hints of its copies, the first one's taking precedence, so that their kernels
      // are shared.
      SmallVector<NamedRange> all;
      for (const std::string &program : programs)
        if (failed(copy(function, program, all)))
          return signalPassFailure();
      addSizeHints(function, all);
    }
  }

private:
  /// Adds what the program is for to `all`.
  LogicalResult copy(func::FuncOp main, StringRef program, SmallVectorImpl<NamedRange> &all) {
    llvm::Expected<std::vector<NamedRange>> added = parseRanges(program);
    if (!added)
      return main.emitError("cannot be copied for sizes '") << program << "': " << llvm::toString(added.takeError());
    llvm::SetVector<AffineExpr> symbols = getInputSymbols(main);
    for (const NamedRange &range : *added)
      if (!symbols.contains(getDimSymbol(&getContext(), range.symbol)))
        return emitUnsupported(main, "has no symbol '") << range.symbol << "' in the dimensions of its inputs";
    if (isImported(imported, *added)) {
      LDBG() << "copies " << main.getName() << " not for " << program << ", which an imported program is for";
      return success();
    }
    DictionaryAttr ranges = joinRanges(main, *added);
    if (!hasValues(ranges))
      return emitUnsupported(main, "has no sizes within ") << program << ": its own ranges exclude them";
    OpBuilder builder(main);
    auto copy = cast<func::FuncOp>(builder.clone(*main));
    std::string sizes = printRanges(*added);
    copy.setName((main.getName() + "." + sizes).str());
    copy->setAttr(kProgramAttr, builder.getStringAttr(sizes));
    copy->setAttr(kRangesAttr, ranges);
    LDBG() << "copies " << main.getName() << " for " << sizes;
    addSizeHints(copy, *added);
    llvm::append_range(all, *added);
    if (std::string reason = findImpossible(copy); !reason.empty()) {
      main.emitWarning("gets no program for ") << program << ", which it cannot run: " << reason;
      copy.erase();
    } else {
      main->setAttr(kSharesWeightsAttr, builder.getUnitAttr());
      copy->setAttr(kSharesWeightsAttr, builder.getUnitAttr());
    }
    return success();
  }

  std::vector<std::vector<NamedRange>> imported; ///< the sizes of programs that were imported as such
};
} // namespace
