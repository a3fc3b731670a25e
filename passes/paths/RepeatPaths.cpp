//===- RepeatPaths.cpp - the paths of one machine on another --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/paths/Path.h"
#include "passes/paths/PathOperations.h"
#include "passes/paths/PathSelection.h"
#include "passes/paths/Perturbation.h"
#include "llvm/ADT/STLExtras.h"

namespace tenon {
#define GEN_PASS_DEF_REPEATPATHS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static const Path *findPath(llvm::StringRef name) {
  auto it = llvm::find_if(getPaths(), [&](const auto &path) { return path->getName() == name; });
  return it == getPaths().end() ? nullptr : it->get();
}

static bool hasChoice(Operation *op, const Machine &machine) {
  return llvm::any_of(getPaths(), [&](const auto &path) { return path->estimateCycles(op, machine).has_value(); });
}

namespace {
struct RepeatPaths : public tenon::impl::RepeatPathsBase<RepeatPaths> {
  using RepeatPathsBase::RepeatPathsBase;
  explicit RepeatPaths(std::shared_ptr<const PathSelection> selection) : selection(std::move(selection)) {}

  void runOnOperation() override {
    Machine machine = getPathMachine(getOperation());
    SmallVector<Operation *> operations = listPathOperations(getOperation());
    StringRef target = cast<ModuleOp>(getOperation()->getParentOp()).getName().value_or("");
    IRRewriter rewriter(&getContext());
    size_t numChoices = 0;
    for (auto [i, op] : llvm::enumerate(operations)) {
      std::optional<SelectedPath> selected;
      if (selection)
        selected = selection->find(target, getOperation().getName(), i);
      else if (!paths.empty() && hasChoice(op, machine))
        selected = parseNext(numChoices);
      bool isRounded = selection && selection->isRounded(target, getOperation().getName(), i);
      if (!selected && !isRounded)
        continue;
      Value result = take(op, selected.value_or(SelectedPath()), machine, rewriter);
      if (isRounded)
        roundToBf16(result, rewriter);
    }
  }

private:
  /// Parses the next of the option's paths, such as "winograd-4" or "bf16x3@6e-6".
  std::optional<SelectedPath> parseNext(size_t &number) {
    if (number >= paths.size())
      return std::nullopt;
    auto [path, error] = StringRef(paths[number++]).split('@');
    SelectedPath selected{path.str()};
    if (!error.empty() && error.getAsDouble(selected.error))
      return std::nullopt;
    return selected;
  }

  /// What takes the place of the operation's result.
  static Value take(Operation *op, const SelectedPath &selected, const Machine &machine, RewriterBase &rewriter) {
    const Path *path = findPath(selected.path);
    if (path && path->estimateCycles(op, machine)) {
      rewriter.setInsertionPoint(op);
      Operation *taken = path->take(op, machine, rewriter);
      taken->setAttr(kPathAttr, rewriter.getStringAttr(path->getName()));
      return taken->getResult(0);
    }
    bool isPerturbed = selected.error > 0 && isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
    return isPerturbed ? perturbResult(op, selected.error, rewriter) : op->getResult(0);
  }

  std::shared_ptr<const PathSelection> selection;
};
} // namespace

std::unique_ptr<Pass> tenon::createRepeatPaths(std::shared_ptr<const PathSelection> selection) {
  return std::make_unique<RepeatPaths>(std::move(selection));
}
