//===- Outline.cpp - turn dispatch regions into kernels and launches ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/cost/Flops.h"
#include "passes/cost/MemoryTraffic.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

namespace tenon {
#define GEN_PASS_DEF_OUTLINE
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Collects the symbols of a region's types and attributes, in the order of their occurrence.
static SetVector<unsigned> collectSymbols(DispatchOp dispatch, ValueRange operands) {
  SetVector<unsigned> symbols;
  AttrTypeWalker walker;
  walker.addWalk([&](ShapeAttr shape) {
    for (AffineExpr dim : shape.getDims())
      dim.walk([&](AffineExpr e) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
          symbols.insert(symbol.getPosition());
      });
  });
  for (Value operand : operands)
    walker.walk(operand.getType());
  dispatch.getBody().walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
  });
  return symbols;
}

/// Returns the size hints of a kernel under its own symbol names; null if the function has none.
static DictionaryAttr getSizeHints(DispatchOp dispatch, ArrayRef<unsigned> symbols) {
  auto *dialect = dispatch.getContext()->getLoadedDialect<TenonDialect>();
  assert(dispatch->getParentOfType<func::FuncOp>() && "a dispatch region is in a function");
  auto known = dispatch->getParentOfType<func::FuncOp>()->getAttrOfType<DictionaryAttr>(kSizeHintsAttr);
  NamedAttrList hints;
  for (auto [i, id] : llvm::enumerate(symbols))
    if (Attribute value = known ? known.get(dialect->getSymbolName(id)) : Attribute())
      hints.set("s" + std::to_string(i), value);
  return hints.empty() ? DictionaryAttr() : hints.getDictionary(dispatch.getContext());
}

/// Returns the part of a kernel's name that describes its work: the loop nests in it, or the last operation.
static std::string getKind(DispatchOp dispatch) {
  std::string nests, last;
  for (Operation &op : dispatch.getBody().front().without_terminator()) {
    last = op.getName().stripDialect();
    if (isa<LoopNestOpInterface>(op))
      nests += (nests.empty() ? "" : "_") + last;
  }
  return nests.empty() ? last : nests;
}

static AffineExpr countFlops(DispatchOp dispatch) {
  AffineExpr sum = getDimConstant(dispatch.getContext(), 0);
  for (Operation &op : dispatch.getBody().front().without_terminator())
    sum = addDims(sum, tenon::countFlops(&op));
  return sum;
}

namespace {
struct Kernel {
  func::FuncOp function;
  SmallVector<Value> operands; ///< of a launch
  Dims sizes;                  ///< what its symbols are there
};
} // namespace

/// Collects the single-element constants of a region, such as scales and zero points, that its kernel may read from
/// memory.
static SmallVector<WeightOp> collectNumbers(DispatchOp dispatch) {
  SmallVector<WeightOp> numbers;
  for (auto weight : dispatch.getBody().front().getOps<WeightOp>())
    if (weight.getType().getNumElements() == 1 && weight.getType().getElementType().isIntOrFloat() &&
        llvm::all_of(weight->getUsers(), llvm::IsaPred<AddOp, CastOp, MulOp, ReciprocalOp, ReshapeOp, SubOp>))
      numbers.push_back(weight);
  return numbers;
}

namespace {
struct Outline : public tenon::impl::OutlineBase<Outline> {
  void runOnOperation() override {
    names.clear();
    SmallVector<DispatchOp> dispatches;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](DispatchOp dispatch) { dispatches.push_back(dispatch); });
    shareNumbers(dispatches);
    for (DispatchOp dispatch : dispatches)
      outline(dispatch);
  }

private:
  /// Turns constants that are the only difference between regions into operands, so that the regions share one kernel:
  /// the layers of a quantized network differ in their scales.
  void shareNumbers(ArrayRef<DispatchOp> dispatches) {
    struct Alike {
      SmallVector<ElementsAttr> values; ///< the numbers of the first region
      llvm::SmallBitVector differ;      ///< those that another one has others for
    };
    llvm::StringMap<Alike> groups;
    SmallVector<std::pair<SmallVector<WeightOp>, Alike *>> regions;
    for (DispatchOp dispatch : dispatches) {
      SmallVector<WeightOp> numbers = collectNumbers(dispatch);
      if (numbers.empty())
        continue;
      SmallVector<ElementsAttr> values;
      for (WeightOp number : numbers) {
        values.push_back(number.getValue());
        number.setValueAttr(cast<ElementsAttr>(Builder(&getContext()).getZeroAttr(number.getType())));
      }
      Alike &group =
          groups.try_emplace(describe(dispatch), Alike{values, llvm::SmallBitVector(numbers.size())}).first->second;
      assert(group.values.size() == numbers.size() && "regions that are equal but for numbers have as many of them");
      for (auto [i, number] : llvm::enumerate(numbers)) {
        number.setValueAttr(values[i]);
        if (values[i] != group.values[i])
          group.differ.set(i);
      }
      regions.emplace_back(std::move(numbers), &group);
    }
    for (auto &[numbers, group] : regions)
      for (unsigned i : group->differ.set_bits())
        numbers[i]->moveBefore(&numbers[i]->getParentOfType<func::FuncOp>().getBody().front().front());
  }

  /// Creates the kernel of a region, outside of any module.
  Kernel makeKernel(DispatchOp dispatch) {
    MLIRContext *context = &getContext();
    SetVector<Value> operands;
    getUsedValuesDefinedAbove(dispatch.getBody(), operands);

    // Symbols are renamed, so that regions that differ only in names share one kernel.
    SetVector<unsigned> symbols = collectSymbols(dispatch, operands.getArrayRef());
    llvm::DenseMap<AffineExpr, AffineExpr> renamed;
    SmallVector<Attribute> names;
    Dims sizes;
    for (auto [i, id] : llvm::enumerate(symbols)) {
      std::string name = "s" + std::to_string(i);
      renamed[getAffineSymbolExpr(id, context)] = getDimSymbol(context, name);
      names.push_back(StringAttr::get(context, name));
      sizes.push_back(getAffineSymbolExpr(id, context));
    }
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](ShapeAttr shape) {
      Dims dims;
      for (AffineExpr dim : shape.getDims())
        dims.push_back(simplifyDim(dim.replace(renamed)));
      return ShapeAttr::get(context, dims);
    });

    SmallVector<Type> inputs, results;
    for (Value operand : operands)
      inputs.push_back(replacer.replace(operand.getType()));
    for (Type type : dispatch.getResultTypes())
      results.push_back(replacer.replace(type));
    OpBuilder builder(context);
    auto kernel =
        func::FuncOp::create(builder, UnknownLoc::get(context), "kernel", FunctionType::get(context, inputs, results));
    kernel.setPrivate();
    kernel->setAttr(kKernelAttr, builder.getUnitAttr());
    if (!names.empty())
      kernel->setAttr(kSymbolsAttr, builder.getArrayAttr(names));
    if (DictionaryAttr hints = getSizeHints(dispatch, symbols.getArrayRef()))
      kernel->setAttr(kSizeHintsAttr, hints);
    for (auto [attr, amount] : {std::pair(kFlopsAttr, countFlops(dispatch)), {kBytesAttr, countBytes(dispatch)}})
      kernel->setAttr(attr, ShapeAttr::get(context, simplifyDim(amount.replace(renamed))));
    Block *body = kernel.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    mapping.map(operands.getArrayRef(), body->getArguments());
    llvm::SmallPtrSet<Operation *, 8> serving; // what the path needs, and what depends on that
    bool computesOwn = false;
    for (Operation &op : dispatch.getBody().front()) {
      if (auto yield = dyn_cast<YieldOp>(op)) {
        SmallVector<Value> values;
        for (Value value : yield.getValues())
          values.push_back(mapping.lookup(value));
        func::ReturnOp::create(builder, op.getLoc(), values);
        continue;
      }
      Operation *clone = builder.clone(op, mapping);
      for (StringRef name : {kPathAttr, kPathsAttr, kPathTimesAttr, kRegionAttr})
        if (Attribute value = op.getAttr(name))
          kernel->setAttr(name, value);
      auto served = op.getAttrOfType<StringAttr>(kServedRegionAttr);
      if (served)
        kernel->setAttr(kServedRegionAttr, served);
      bool depends =
          llvm::any_of(op.getOperands(), [&](Value value) { return serving.contains(value.getDefiningOp()); });
      if (served || depends)
        serving.insert(&op);
      else if (!isa<WeightOp, ReshapeOp>(op))
        computesOwn = true;
      clone->walk([](WeightOp weight) { weight.removeNameAttr(); });
      replacer.recursivelyReplaceElementsIn(clone, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
    }
    // This kernel exists anyway, whichever path the other region takes. One whose own operations all follow the path's
    // would be the epilogue of another path's.
    if (computesOwn)
      kernel->removeAttr(kServedRegionAttr);

    return {kernel, operands.takeVector(), sizes};
  }

  void outline(DispatchOp dispatch) {
    Kernel kernel = makeKernel(dispatch);
    StringRef name = unique(kernel.function, getKind(dispatch));
    assert(!name.empty() && "each kernel of the module has a name");
    OpBuilder builder(dispatch);
    auto launch = LaunchOp::create(builder, dispatch.getLoc(), dispatch.getResultTypes(), name, kernel.operands,
                                   ShapeAttr::get(&getContext(), kernel.sizes));
    dispatch->replaceAllUsesWith(launch.getResults());
    dispatch.erase();
  }

  /// Prints a kernel for comparison. The generic form omits the names of values, which depend on nodes (ValueNames.h).
  static std::string print(func::FuncOp kernel) {
    std::string text;
    llvm::raw_string_ostream os(text);
    kernel->print(os, OpPrintingFlags().useLocalScope().printGenericOpForm());
    return text;
  }

  /// What the kernel of a region does.
  std::string describe(DispatchOp dispatch) {
    Kernel kernel = makeKernel(dispatch);
    std::string text = print(kernel.function);
    kernel.function.erase();
    return text;
  }

  /// Returns the name of the module's kernel that equals `kernel`; adds `kernel` if there is none.
  StringRef unique(func::FuncOp kernel, StringRef kind) {
    auto [it, isNew] = names.try_emplace(print(kernel), "");
    if (!isNew) {
      kernel.erase();
      return it->second;
    }
    it->second = ("k" + Twine(names.size() - 1) + "_" + kind).str();
    kernel.setName(it->second);
    getOperation().push_back(kernel);
    return it->second;
  }

  llvm::StringMap<std::string> names; ///< of the module at hand, by what they do
};
} // namespace
