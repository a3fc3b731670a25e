//===- FormEstimates.cpp - what forms cost with the best of their paths -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/forms/FormEstimates.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/paths/Path.h"

using namespace mlir;
using namespace tenon;

namespace {
/// A copy of a site in a function of its own, whose arguments are the non-constant operands of its operations.
class SiteCopy {
public:
  explicit SiteCopy(const SourcedSite &site);
  const FormSite &get() const { return copy; }

private:
  OwningOpRef<ModuleOp> module;
  FormSite copy;
};
} // namespace

SiteCopy::SiteCopy(const SourcedSite &site) {
  assert(!site.operations.empty() && "a site is of operations");
  Operation *first = site.operations.front();
  auto function = first->getParentOfType<func::FuncOp>();
  module = ModuleOp::create(function.getLoc());
  // The copy's module has the machine and the target that recorded times are looked up for.
  if (auto parent = function->getParentOfType<ModuleOp>())
    module.get()->setAttrs(parent->getAttrDictionary());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto own = func::FuncOp::create(builder, function.getLoc(), function.getName(), builder.getFunctionType({}, {}));
  // The copy's function has the size hints of the original.
  own->setDiscardableAttrs(function->getDiscardableAttrDictionary());
  Block *block = own.addEntryBlock();
  builder.setInsertionPointToStart(block);
  IRMapping mapping;
  llvm::SmallPtrSet<Operation *, 16> isOwn(site.operations.begin(), site.operations.end());
  SmallVector<Value> results;
  for (Operation *op : site.operations) {
    for (Value operand : op->getOperands())
      if (mapping.contains(operand))
        continue;
      else if (auto weight = operand.getDefiningOp<WeightOp>())
        builder.clone(*weight, mapping);
      else
        mapping.map(operand, block->addArgument(operand.getType(), operand.getLoc()));
    copy.operations.push_back(builder.clone(*op, mapping));
    for (Value result : op->getResults())
      if (!llvm::all_of(result.getUsers(), [&](Operation *user) { return isOwn.contains(user); }))
        results.push_back(mapping.lookup(result));
  }
  func::ReturnOp::create(builder, function.getLoc(), results);
  own.setFunctionType(builder.getFunctionType(block->getArgumentTypes(), TypeRange(results)));
  copy.region = site.region;
}

std::vector<PathCost> FormEstimates::listCosts(Operation *op) {
  std::vector<PathCost> costs;
  PathRegion region = times ? PathRegion::get(op) : PathRegion();
  double least = std::numeric_limits<double>::infinity();
  for (const auto &path : getPaths()) {
    std::optional<double> cycles = path->estimateCycles(op, machine);
    if (!cycles)
      continue;
    // The first path is the default implementation. The errors of slower paths are not measured, which takes time,
    // since those are never chosen. What real runs say comes before estimates.
    std::optional<double> nanoseconds = times ? times->find(region, path->getName()) : std::nullopt;
    bool isExact = costs.empty() || path->isAsExact(), isSlower = !nanoseconds && *cycles >= least;
    if (!isExact && (isSlower || errors.measure(*path, op, budget) > budget))
      continue;
    least = std::min(least, *cycles);
    costs.push_back({*cycles, nanoseconds});
  }
  return costs;
}

FormEstimates::PricedForm FormEstimates::price(ArrayRef<Operation *> operations, double restCycles) {
  PricedForm priced;
  for (Operation *op : operations)
    if (std::vector<PathCost> costs = listCosts(op); !costs.empty())
      priced.push_back(std::move(costs));
  priced.push_back({{restCycles, std::nullopt}});
  return priced;
}

void FormEstimates::add(const SourcedSite &site) {
  std::vector<PricedForm> &forms = sites.emplace_back();
  forms.push_back(price(site.operations, site.source->estimateRest(site, 0, machine)));
  for (size_t form = 1; form < site.source->getForms().size(); ++form) {
    if (!site.source->hasForm(site, form, machine)) {
      forms.push_back(price({}, std::numeric_limits<double>::infinity()));
      continue;
    }
    double restCycles = site.source->estimateRest(site, form, machine);
    SiteCopy copy(site);
    IRRewriter rewriter(site.operations.front()->getContext());
    forms.push_back(price(site.source->take(copy.get(), form, rewriter), restCycles));
  }
}

std::vector<std::vector<FormCost>> FormEstimates::finish() const {
  std::vector<std::vector<PathCost>> all;
  for (const std::vector<PricedForm> &forms : sites)
    for (const PricedForm &form : forms)
      llvm::append_range(all, form);
  std::vector<std::vector<double>> blended = blendCosts(all);
  auto next = blended.begin();
  std::vector<std::vector<FormCost>> costs;
  for (const std::vector<PricedForm> &forms : sites) {
    std::vector<FormCost> &own = costs.emplace_back();
    for (const PricedForm &form : forms) {
      FormCost &cost = own.emplace_back();
      cost.restCycles = form.back().front().cycles;
      for (const std::vector<PathCost> &paths : form) {
        cost.cycles +=
            llvm::min_element(paths, [](const PathCost &x, const PathCost &y) { return x.cycles < y.cycles; })->cycles;
        cost.cost += *llvm::min_element(*next++);
      }
    }
  }
  return costs;
}
