//===- PlanList.h - plans of a model, as text or JSON -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_PLANLIST_H
#define TENON_TOOLS_TENON_PLANLIST_H

#include "compiler/driver/PathExplorer.h"
#include "compiler/report/PlanChart.h"
#include <nlohmann/json.hpp>

namespace tenon {

/// A plan that is listed, and what is known of it.
struct ListedPlan {
  size_t number = 0;   ///< from 1
  double estimate = 1; ///< of its time, relative to that of the first plan
  double estimatedError = 0;
  std::vector<size_t> options;
  std::optional<PlanMeasurement> measured;
};

/// Prints the alternatives of a model's operations and the list of plans to standard output.
class PlanList {
public:
  /// `arguments` are the options of the compilation, in the form for `tenon compile`.
  PlanList(const PathExplorer &explorer, const CompileOptions &options, std::string arguments, bool json)
      : explorer(explorer), options(options), arguments(std::move(arguments)), json(json) {}

  /// `count`: of all plans, in decimal digits.
  void printDecisions(const std::string &count);
  /// Adds a plan, which is printed immediately. Options are described relative to the first plan.
  void add(ListedPlan plan);
  /// Prints the summary after the last plan: the chosen one and the fastest one within the tolerance, if plans were
  /// timed.
  void finish();
  /// One plan in full, and how to compile it.
  void printPlan(const ListedPlan &plan) const;

  /// The plans that were timed, and the chosen one.
  std::vector<PlanPoint> listPoints() const;
  /// Returns the fastest timed plan within the tolerance; null if there is none.
  const ListedPlan *findFastest() const;

private:
  std::string describeOptions(const ListedPlan &plan) const;
  nlohmann::ordered_json toJson(const ListedPlan &plan) const;
  nlohmann::ordered_json describeDecisions() const;
  std::string getCommand(const ListedPlan &plan) const;

  const PathExplorer &explorer;
  const CompileOptions &options;
  std::string arguments;
  bool json;
  std::string count;
  std::vector<ListedPlan> plans;
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_PLANLIST_H
