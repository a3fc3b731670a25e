//===- PlanOrder.cpp - whole plans, from the cheapest one on --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PlanOrder.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include <cassert>
#include <cmath>
#include <numeric>

using namespace tenon;

PlanOrder::PlanOrder(llvm::ArrayRef<std::vector<double>> costs) : numRegions(costs.size()) {
  for (auto [number, own] : llvm::enumerate(costs)) {
    assert(!own.empty() && llvm::all_of(own, [](double cost) { return std::isfinite(cost); }) &&
           "a region has an option, and each option a cost");
    Region region{number, std::vector<size_t>(own.size()), {}};
    std::iota(region.order.begin(), region.order.end(), 0);
    llvm::stable_sort(region.order, [&own = own](size_t x, size_t y) { return own[x] < own[y]; });
    for (size_t option : region.order)
      region.costs.push_back(own[option]);
    cheapest.push_back(region.order.front());
    least += region.costs.front();
    if (own.size() > 1)
      choices.push_back(std::move(region));
  }
  // Regions are sorted so that a successor that moves on to the next region costs no less.
  llvm::stable_sort(choices,
                    [](const Region &x, const Region &y) { return x.costs[1] - x.costs[0] < y.costs[1] - y.costs[0]; });
  if (!choices.empty())
    push({least + getStep(0, 1), 0, 0, {{0, 1}}});
}

/// What an option costs more than the one before.
double PlanOrder::getStep(size_t region, size_t rank) const {
  return choices[region].costs[rank] - choices[region].costs[rank - 1];
}

bool PlanOrder::isLater(const State &x, const State &y) {
  return std::pair(x.cost, x.sequence) > std::pair(y.cost, y.sequence);
}

void PlanOrder::push(State state) {
  state.sequence = numPushed++;
  heap.push_back(std::move(state));
  std::push_heap(heap.begin(), heap.end(), isLater);
}

void PlanOrder::pushSuccessors(const State &state) {
  auto [last, rank] = state.ranks.back();
  if (rank + 1 < choices[last].costs.size()) {
    State worse = state;
    ++worse.ranks.back().second;
    worse.cost += getStep(last, rank + 1);
    push(std::move(worse));
  }
  if (last + 1 == choices.size())
    return;
  State also = state;
  also.last = last + 1;
  also.ranks.emplace_back(last + 1, 1);
  also.cost += getStep(last + 1, 1);
  if (rank == 1) {
    State instead = also;
    instead.ranks.erase(instead.ranks.end() - 2);
    instead.cost -= getStep(last, 1);
    push(std::move(instead));
  }
  push(std::move(also));
}

std::optional<PricedPlan> PlanOrder::next() {
  PricedPlan plan{least, cheapest};
  if (std::exchange(isFirst, false))
    return plan;
  if (heap.empty())
    return std::nullopt;
  std::pop_heap(heap.begin(), heap.end(), isLater);
  State state = std::move(heap.back());
  heap.pop_back();
  plan.cost = state.cost;
  for (auto [region, rank] : state.ranks)
    plan.options[choices[region].number] = choices[region].order[rank];
  pushSuccessors(state);
  return plan;
}

std::string PlanOrder::count() const {
  // Two bits for each option are enough for the product of all counts.
  unsigned bits = 64;
  for (const Region &region : choices)
    bits += 2 * region.costs.size();
  llvm::APInt product(bits, 1);
  for (const Region &region : choices)
    product *= region.costs.size();
  llvm::SmallString<64> text;
  product.toStringUnsigned(text);
  return text.str().str();
}
