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

/// Says on standard output what a model's operations may take, and which plans there are.
class PlanList {
public:
  /// `arguments`: the options of the compilation, as they are passed to `tenon compile`.
  PlanList(const PathExplorer &explorer, const CompileOptions &options, std::string arguments, bool json)
      : explorer(explorer), options(options), arguments(std::move(arguments)), json(json) {}

  /// `count`: of all plans, in decimal digits.
  void printDecisions(const std::string &count);
  /// Lines of text appear at once. Options are told from those of the first plan that is added.
  void add(ListedPlan plan);
  /// What is known after the last plan: the chosen one and the fastest within the tolerance, where plans were timed.
  void finish();
  /// One plan in full, and how to compile it.
  void printPlan(const ListedPlan &plan) const;

  /// The plans that were timed, and the chosen one.
  std::vector<PlanPoint> listPoints() const;
  /// The fastest plan within the tolerance of those that were timed; null where there is none.
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
