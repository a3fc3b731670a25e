//===- PathSpace.cpp - all that could be chosen for a graph ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathSpace.h"
#include "passes/paths/PathTimes.h"
#include "llvm/ADT/STLExtras.h"

using namespace tenon;

void PathSpace::add(llvm::StringRef target, Place place, PathDecision operation) {
  std::lock_guard<std::mutex> lock(mutex);
  byTarget[target.str()][std::move(place)] = std::move(operation);
}

/// Adds an operation of the same region. Of paths that depend on the weights, only those that both operations have
/// remain.
static void merge(PathDecision &decision, const PathDecision &operation) {
  llvm::append_range(decision.nodes, operation.nodes);
  decision.numOperations += operation.numOperations;
  llvm::erase_if(decision.alternatives, [&](PathAlternative &alternative) {
    auto other = llvm::find_if(operation.alternatives,
                               [&](const PathAlternative &other) { return other.path == alternative.path; });
    if (other == operation.alternatives.end())
      return true;
    alternative.cycles += other->cycles;
    alternative.restCycles += other->restCycles;
    if (alternative.nanoseconds && other->nanoseconds)
      *alternative.nanoseconds += *other->nanoseconds;
    else
      alternative.nanoseconds.reset();
    alternative.largestError = std::max(alternative.largestError, other->largestError);
    alternative.variance += other->variance;
    return false;
  });
}

static void setCosts(std::vector<PathDecision> &decisions) {
  std::vector<std::vector<PathCost>> costs;
  for (const PathDecision &decision : decisions) {
    std::vector<PathCost> &own = costs.emplace_back();
    for (const PathAlternative &alternative : decision.alternatives)
      own.push_back({alternative.cycles, alternative.nanoseconds});
  }
  for (auto [decision, blended] : llvm::zip(decisions, blendCosts(costs))) {
    for (auto [alternative, cost] : llvm::zip(decision.alternatives, blended))
      alternative.cost = cost;
    llvm::stable_sort(decision.alternatives,
                      [](const PathAlternative &x, const PathAlternative &y) { return x.cost < y.cost; });
  }
}

std::vector<PathDecision> PathSpace::list(llvm::StringRef target) const {
  std::vector<PathDecision> decisions;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto own = byTarget.find(target);
    if (own == byTarget.end())
      return {};
    std::map<std::string, size_t> places; // by region
    for (const auto &[place, operation] : own->second) {
      auto [it, isNew] = places.try_emplace(operation.region, decisions.size());
      if (isNew)
        decisions.push_back(operation);
      else
        merge(decisions[it->second], operation);
    }
  }
  llvm::erase_if(decisions, [](const PathDecision &decision) { return decision.alternatives.empty(); });
  setCosts(decisions);
  llvm::stable_sort(decisions, [](const PathDecision &x, const PathDecision &y) {
    return x.alternatives.front().cost > y.alternatives.front().cost;
  });
  return decisions;
}
