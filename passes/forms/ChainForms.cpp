//===- ChainForms.cpp - two loop nests in one kernel, or in two ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain (passes/fusion/Chains.h) is a form of the graph that `tenon-fuse` sees: the link of its loop nests is marked
// with the tile.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel.h"
#include "passes/forms/FormSource.h"
#include "passes/fusion/Chains.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/PathTimes.h"

using namespace mlir;
using namespace tenon;

static constexpr llvm::StringLiteral kForms[] = {kSeparateNestsForm, kChainedNestsForm};
enum ChainForm : size_t { kSeparate, kChained };

namespace {
struct ChainForms : public FormSource {
  llvm::StringRef getName() const override { return "chain"; }
  ArrayRef<llvm::StringLiteral> getForms() const override { return kForms; }
  /// What is a chain depends on paths, and on reshapes that stand where kernels begin and end.
  bool isLate() const override { return true; }
  std::vector<FormSite> listSites(func::FuncOp function) const override;
  bool hasForm(const FormSite &site, size_t form, const Machine &) const override {
    return form == kSeparate || getPlan(site);
  }
  double estimateRest(const FormSite &site, size_t form, const Machine &machine) const override;
  SmallVector<Operation *> take(const FormSite &site, size_t form, RewriterBase &) const override;

private:
  ChainMatch getMatch(const FormSite &site) const;
  std::optional<ChainPlan> getPlan(const FormSite &site) const {
    return planChain(getMatch(site), getMachine(site.operations.front()), policy);
  }

  ChainPolicy policy;
};
} // namespace

std::vector<FormSite> ChainForms::listSites(func::FuncOp function) const {
  std::vector<FormSite> sites;
  function.walk([&](ReshapeOp link) {
    std::optional<ChainMatch> match = matchChain(link, policy);
    if (!match)
      return;
    FormSite &site = sites.emplace_back();
    site.operations.push_back(match->first);
    llvm::append_range(site.operations, match->elements);
    llvm::sort(site.operations, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    site.operations.push_back(link);
    site.operations.push_back(match->second);
    llvm::raw_string_ostream os(site.region);
    os << "chain " << PathRegion::get(match->first).text << ";";
    for (Operation *op : match->elements)
      os << ' ' << op->getName();
    os << "; " << PathRegion::get(match->second).text;
  });
  return sites;
}

ChainMatch ChainForms::getMatch(const FormSite &site) const {
  // The last two operations are the link and the second loop nest.
  std::optional<ChainMatch> match = matchChain(cast<ReshapeOp>(site.operations.end()[-2]), policy);
  assert(match && "a site is that of a chain");
  return std::move(*match);
}

double ChainForms::estimateRest(const FormSite &site, size_t form, const Machine &machine) const {
  // Both have the paths of their operations, and one of them is slower than these.
  std::optional<ChainPlan> plan = planChain(getMatch(site), machine, policy);
  if (!plan)
    return 0;
  double chained = plan->cycles + policy.minGain * plan->separateCycles,
         least = std::min(chained, plan->separateCycles);
  return (form == kChained ? chained : plan->separateCycles) - least;
}

SmallVector<Operation *> ChainForms::take(const FormSite &site, size_t form, RewriterBase &) const {
  assert(form == kChained && "the other form is the graph as it stands");
  ChainMatch match = getMatch(site);
  // On another machine than the one that has chosen, no tile may fit.
  if (std::optional<ChainPlan> plan = getPlan(site))
    match.link->setAttr(kChainTileAttr, DenseI64ArrayAttr::get(match.link.getContext(), plan->tile));
  return {match.first, match.second};
}

std::unique_ptr<FormSource> tenon::createChainForms() { return std::make_unique<ChainForms>(); }
