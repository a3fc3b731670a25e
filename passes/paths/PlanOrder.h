//===- PlanOrder.h - whole plans, from the cheapest one on ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PLANORDER_H
#define TENON_PASSES_PATHS_PLANORDER_H

#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A choice of one option for each region, and its total cost.
struct PricedPlan {
  double cost = 0;
  std::vector<size_t> options; ///< for each region the place of its option
};

/// Lists all plans lazily, from the cheapest one on; plans of equal cost come in a fixed order. This is the enumeration
/// of the smallest sums of one element from each of several lists: a plan has at most three successors, which cost no
/// less, and each plan but the first is the successor of exactly one (after Eppstein, "Finding the k Shortest Paths",
/// 1998, for the special case of a chain). The n-th plan takes O(n log n) steps and O(n) memory.
class PlanOrder {
public:
  /// `costs` has the costs of each region's options, at least one and all finite.
  explicit PlanOrder(llvm::ArrayRef<std::vector<double>> costs);

  /// The next plan; nothing after the last one.
  std::optional<PricedPlan> next();

  /// Returns the number of plans in decimal digits, because it may exceed any integer type.
  std::string count() const;

private:
  /// Options of a region in the order of their costs.
  struct Region {
    size_t number;
    std::vector<size_t> order;
    std::vector<double> costs; ///< in that order
  };
  /// A plan as the ranks of those regions that do not have their cheapest option; `last` is the last of these regions.
  struct State {
    double cost;
    size_t last, sequence;
    std::vector<std::pair<size_t, size_t>> ranks;
  };
  static bool isLater(const State &x, const State &y);
  double getStep(size_t region, size_t rank) const;
  void push(State state);
  void pushSuccessors(const State &state);

  size_t numRegions;
  double least = 0;
  std::vector<size_t> cheapest;
  std::vector<Region> choices; ///< regions of several options, by what their second option costs more
  std::vector<State> heap;
  size_t numPushed = 0;
  bool isFirst = true;
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_PLANORDER_H
