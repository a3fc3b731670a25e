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

namespace tenon {
#define GEN_PASS_DEF_COLLECTREQUIREMENTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// Expressions that must not be negative, each once, with the reason.
class Requirements {
public:
  Requirements(func::FuncOp function, ModuleOp module) {
    auto *dialect = module.getContext()->getOrLoadDialect<TenonDialect>();
    function.walk([&](Operation *op) {
      if (auto symbols = op->getAttrOfType<ArrayAttr>("symbols"); symbols && isa<BindOp, IfOp, LoopOp>(op))
        for (StringRef name : symbols.getAsValueRange<StringAttr>())
          bound.insert(dialect->internSymbol(name));
    });
    auto known = module->getAttrOfType<ShapeAttr>(kRequiresAttr);
    auto knownTexts = module->getAttrOfType<ArrayAttr>(kRequiresTextAttr);
    for (auto [i, dim] : llvm::enumerate(known ? known.getDims() : ArrayRef<AffineExpr>()))
      add(dim, knownTexts && i < knownTexts.size() ? cast<StringAttr>(knownTexts[i]).str() : "");
  }

  /// Of two extents that may broadcast: one of 1 has no condition.
  void addEqual(Operation *op, AffineExpr a, AffineExpr b) {
    if (getConstant(a) != 1 && getConstant(b) != 1)
      addSame(op, a, b);
  }

  void addSame(Operation *op, AffineExpr a, AffineExpr b) {
    if (a == b || isUnknownDim(a) || isUnknownDim(b))
      return;
    std::string text = describe("needs ", a, " and ", b, " to be equal");
    addDifference(op, subDims(a, b), text);
    addDifference(op, subDims(b, a), text);
  }

  /// Nothing is required where `count`, if there is one, is 0.
  void addAtMost(Operation *op, AffineExpr a, AffineExpr b, AffineExpr count = {}) {
    AffineExpr difference = subDims(b, a);
    if (isUnknownDim(a) || isUnknownDim(b) || getConstant(difference).value_or(-1) >= 0)
      return;
    addDifference(op, count ? mulDims(difference, count) : difference, describe("needs ", a, " to be at most ", b, ""));
  }

  void store(func::FuncOp function) const {
    if (dims.empty())
      return;
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
    std::string node;
    if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
      node = "node '" + name.getName().str() + "' ";
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

  /// What depends on data, or stands in a branch that may not run, is checked right before the operation: no
  /// instruction between the start of its block and it binds the symbol again.
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

/// Extents that broadcast against each other, aligned at the last dimension.
static void collectBroadcast(Operation *op, Requirements &requirements) {
  Dims result = getDims(op->getResult(0));
  for (Value operand : op->getOperands()) {
    Dims dims = getDims(operand);
    for (size_t i = 1; i <= dims.size(); ++i)
      requirements.addEqual(op, dims[dims.size() - i], result[result.size() - i]);
  }
}

static void collectContract(ContractOp op, Requirements &requirements) {
  llvm::SmallDenseMap<int64_t, AffineExpr> extents;
  for (auto [operand, indices] : {std::pair(op.getLhs(), op.getLhsDims()), std::pair(op.getRhs(), op.getRhsDims())})
    for (auto [index, dim] : llvm::zip(indices, getDims(operand))) {
      auto [it, isNew] = extents.try_emplace(index, dim);
      if (!isNew)
        requirements.addEqual(op, it->second, dim);
    }
}

static void collectConcat(ConcatOp op, Requirements &requirements) {
  Dims result = getDims(op.getResult());
  for (Value input : op.getInputs())
    for (auto [i, dims] : llvm::enumerate(llvm::zip(getDims(input), result)))
      if (i != op.getAxis())
        requirements.addEqual(op, std::get<0>(dims), std::get<1>(dims));
}

/// Every element that a slice reads lies inside of its input. It reads none where another dimension of its result is
/// empty.
static void collectSlice(SliceOp op, Requirements &requirements) {
  MLIRContext *context = op.getContext();
  AffineExpr zero = getDimConstant(context, 0), one = getDimConstant(context, 1);
  Dims result = getDims(op.getResult()), input = getDims(op.getInput());
  for (auto [i, start, step] : llvm::enumerate(op.getStarts().getDims(), op.getSteps())) {
    if (isUnknownDim(start))
      continue;
    Dims others;
    for (auto [j, dim] : llvm::enumerate(result))
      if (j != i && !getConstant(dim))
        others.push_back(dim);
    AffineExpr count = getElementCount(context, others);
    AffineExpr end = addDims(start, mulDims(subDims(result[i], one), getDimConstant(context, step)));
    requirements.addAtMost(op, zero, step > 0 ? start : end, count);
    requirements.addAtMost(op, step > 0 ? end : start, subDims(input[i], one), count);
  }
}

/// Operands whose extents follow from those of others.
static void collectParameters(Operation *op, Requirements &requirements) {
  auto addTrailing = [&](Value parameter, Value input) {
    Dims dims = getDims(parameter), all = getDims(input);
    for (size_t i = 1; i <= std::min(dims.size(), all.size()); ++i)
      requirements.addEqual(op, dims[dims.size() - i], all[all.size() - i]);
  };
  if (auto norm = dyn_cast<LayerNormOp>(op)) {
    addTrailing(norm.getScale(), norm.getInput());
    if (norm.getBias())
      addTrailing(norm.getBias(), norm.getInput());
  } else if (auto norm = dyn_cast<RmsNormOp>(op)) {
    addTrailing(norm.getScale(), norm.getInput());
  } else if (auto lu = dyn_cast<LuOp>(op)) {
    Dims dims = getDims(lu.getInput());
    requirements.addSame(op, dims.back(), dims[dims.size() - 2]);
  } else if (auto convolve = dyn_cast<ConvolveOp>(op)) {
    AffineExpr groups = getDimConstant(op->getContext(), convolve.getGroups());
    requirements.addSame(op, getDim(convolve.getInput(), convolve.getChannelDim()),
                         mulDims(getDim(convolve.getFilter(), convolve.getFilterChannelDim()), groups));
  } else if (auto topK = dyn_cast<TopKOp>(op)) {
    requirements.addAtMost(op, getDim(topK.getValues(), topK.getAxis()), getDim(topK.getInput(), topK.getAxis()));
  }
}

/// What an operation with indices reads and writes besides what the indices say: kernels take it to be in bounds.
static void collectIndexed(Operation *op, Requirements &requirements) {
  auto addAll = [&](ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b) {
    for (auto [x, y] : llvm::zip(a, b))
      requirements.addSame(op, x, y);
  };
  auto addWithin = [&](Value indices, Value input, uint64_t axis) {
    for (auto [i, dims] : llvm::enumerate(llvm::zip(getDims(indices), getDims(input))))
      if (i != axis)
        requirements.addAtMost(op, std::get<0>(dims), std::get<1>(dims));
  };
  if (auto gather = dyn_cast<GatherElementsOp>(op)) {
    addWithin(gather.getIndices(), gather.getInput(), gather.getAxis());
  } else if (auto scatter = dyn_cast<ScatterElementsOp>(op)) {
    addWithin(scatter.getIndices(), scatter.getInput(), scatter.getAxis());
    addAll(getDims(scatter.getUpdates()), getDims(scatter.getIndices()));
  } else if (auto gather = dyn_cast<GatherNDOp>(op)) {
    Dims input = getDims(gather.getInput());
    addAll(ArrayRef(input).take_front(gather.getBatchDims()), getDims(gather.getIndices()));
  } else if (auto scatter = dyn_cast<ScatterNDOp>(op)) {
    Dims input = getDims(scatter.getInput()), wanted = getDims(scatter.getIndices());
    int64_t count = *getConstant(wanted.pop_back_val());
    wanted.append(input.begin() + count, input.end());
    addAll(getDims(scatter.getUpdates()), wanted);
  } else if (auto align = dyn_cast<RoiAlignOp>(op)) {
    requirements.addSame(op, getDim(align.getRois(), 0), getDim(align.getBatches(), 0));
    requirements.addSame(op, getDim(align.getRois(), 1), getDimConstant(op->getContext(), 4));
  } else if (auto suppress = dyn_cast<SuppressOp>(op)) {
    requirements.addSame(op, getDim(suppress.getBoxes(), 0), getDim(suppress.getScores(), 0));
    requirements.addSame(op, getDim(suppress.getBoxes(), 1), getDim(suppress.getScores(), 2));
    requirements.addSame(op, getDim(suppress.getBoxes(), 2), getDimConstant(op->getContext(), 4));
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
  }

private:
  void collect(func::FuncOp function, ModuleOp module) {
    Requirements requirements(function, module);
    function.walk([&](Operation *op) {
      if (op->hasTrait<Elementwise>() || isa<BroadcastOp>(op))
        collectBroadcast(op, requirements);
      else if (auto contract = dyn_cast<ContractOp>(op))
        collectContract(contract, requirements);
      else if (auto concat = dyn_cast<ConcatOp>(op))
        collectConcat(concat, requirements);
      else if (auto reshape = dyn_cast<ReshapeOp>(op))
        requirements.addSame(op, getElementCount(op->getContext(), getDims(reshape.getInput())),
                             getElementCount(op->getContext(), getDims(reshape.getResult())));
      else if (auto slice = dyn_cast<SliceOp>(op))
        collectSlice(slice, requirements);
      else {
        collectParameters(op, requirements);
        collectIndexed(op, requirements);
      }
    });
    requirements.store(function);
    if (Attribute ranges = module->getAttr(kRangesAttr))
      function->setAttr(kRangesAttr, ranges);
  }
};
} // namespace
