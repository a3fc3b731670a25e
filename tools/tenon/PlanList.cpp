//===- PlanList.cpp - plans of a model, as text or JSON ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/PlanList.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/Table.h"
#include "tools/tenon/debug/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using Json = nlohmann::ordered_json;

/// The digits of a region's fingerprint that suffice to distinguish the regions of a model.
static constexpr size_t kDigits = 8;

static std::string getShort(const PathDecision &decision) {
  return decision.region == kActivationsRegion ? decision.region : decision.fingerprint.substr(0, kDigits);
}

static std::string getErrorText(const std::optional<double> &error) {
  return error ? llvm::formatv("{0:e1}", *error).str() : "-";
}

/// The shortest text that is the number.
static std::string getNumberText(double number) { return nlohmann::json(number).dump(); }

static std::string plural(size_t count, const char *noun) {
  return groupDigits(count) + ' ' + noun + (count == 1 ? "" : "s");
}

/// Formats "14745600" as "14,745,600", and long numbers as "1.5e+35".
static std::string shortenCount(const std::string &count) {
  constexpr size_t kMaxDigits = 15;
  if (count.size() > kMaxDigits)
    return count.substr(0, 1) + "." + count.substr(1, 1) + "e" + std::to_string(count.size() - 1);
  return groupDigits(std::stoull(count));
}

/// Returns "panels 1.94 (4e-07)": costs relative to that of the cheapest path.
static std::string describePaths(const PathDecision &decision) {
  std::string text;
  for (const PathAlternative &alternative : decision.alternatives) {
    text += (text.empty() ? "" : ", ") + alternative.path;
    if (double cheapest = decision.alternatives.front().cost; cheapest > 0)
      text += llvm::formatv(" {0:F2}", alternative.cost / cheapest).str();
    if (alternative.largestError > 0)
      text += llvm::formatv(" ({0:e0})", alternative.largestError).str();
  }
  return text;
}

void PlanList::printDecisions(const std::string &all) {
  count = all;
  if (json)
    return;
  llvm::ArrayRef<PathDecision> decisions = explorer.getDecisions();
  size_t numOperations = 0, numSites = 0, numForms = explorer.getNumForms();
  for (const PathDecision &decision : decisions.take_front(numForms))
    numSites += decision.numOperations;
  for (const PathDecision &decision : decisions.drop_front(numForms))
    numOperations += decision.region == kActivationsRegion ? 0 : decision.numOperations;
  llvm::outs() << options.input << ": " << plural(numOperations, "operation") << " in "
               << plural(decisions.size() - numForms, "region") << " with several paths, " << explorer.getNumFixed()
               << " with one; " << (numForms ? plural(numSites, "site") + " with several forms; " : "")
               << shortenCount(count) << (count == "1" ? " plan" : " plans") << " for " << explorer.getTarget().name
               << "\n";
  if (decisions.empty())
    return;
  llvm::outs() << "\nregions, and what their " << (numForms ? "forms and paths" : "paths") << " cost by "
               << (llvm::any_of(decisions,
                                [](const PathDecision &decision) {
                                  return llvm::any_of(decision.alternatives, [](const PathAlternative &alternative) {
                                    return alternative.nanoseconds.has_value();
                                  });
                                })
                       ? "records and estimates"
                       : "estimate")
               << " (and their error)\n";
  Table table({"region", ">operations", "~paths", "~first node"});
  for (const PathDecision &decision : decisions)
    table.add({getShort(decision), std::to_string(decision.numOperations), describePaths(decision),
               decision.nodes.empty() ? "-" : getPrintable(decision.nodes.front())});
  constexpr size_t kWidth = 120;
  table.print(llvm::outs(), kWidth);
  llvm::outs() << '\n';
}

/// Describes how a plan differs from the first listed one.
std::string PlanList::describeOptions(const ListedPlan &plan) const {
  std::string text;
  const std::vector<size_t> &first = plans.empty() ? plan.options : plans.front().options;
  for (auto [decision, option, other] : llvm::zip(explorer.getDecisions(), plan.options, first))
    if (option != other && option != kNoOption)
      text += (text.empty() ? "" : " ") + getShort(decision) + "=" + decision.alternatives[option].path;
  return text.empty() ? "-" : text;
}

void PlanList::add(ListedPlan plan) {
  if (!json) {
    bool isTimed = plan.measured && plan.measured->nanoseconds > 0;
    if (plans.empty())
      llvm::outs() << llvm::formatv("{0,7} {1,9} {2,9}", "plan", "estimate", "error")
                   << (plan.measured ? llvm::formatv(" {0,9}", "measured").str() : "")
                   << (isTimed ? llvm::formatv(" {0,11} {1,9}", "time", "to chosen").str() : "")
                   << "  paths unlike those of the first one\n";
    llvm::outs() << llvm::formatv("{0,7} {1,9:F3} {2,9}", plan.number, plan.estimate,
                                  getErrorText(plan.estimatedError));
    if (plan.measured)
      llvm::outs() << llvm::formatv(" {0,9}", getErrorText(plan.measured->error));
    if (isTimed)
      llvm::outs() << llvm::formatv(" {0,11} {1,9:F3}", timeText(plan.measured->nanoseconds), plan.measured->ratio);
    llvm::outs() << "  " << describeOptions(plan) << (plan.measured && plan.measured->isKnown ? " (recorded)" : "")
                 << '\n';
    llvm::outs().flush();
  }
  plans.push_back(std::move(plan));
}

const ListedPlan *PlanList::findFastest() const {
  const ListedPlan *fastest = nullptr;
  for (const ListedPlan &plan : plans) {
    if (!plan.measured || plan.measured->nanoseconds == 0 || !plan.measured->error ||
        *plan.measured->error > options.tolerance)
      continue;
    if (!fastest || plan.measured->ratio < fastest->measured->ratio)
      fastest = &plan;
  }
  return fastest;
}

std::vector<PlanPoint> PlanList::listPoints() const {
  std::vector<PlanPoint> points;
  double chosen = explorer.getChosen().nanoseconds;
  auto add = [&](const std::string &label, const std::string &paths, double nanoseconds, std::optional<double> error,
                 bool isChosen) {
    if (nanoseconds > 0 && error)
      points.push_back({label, paths, nanoseconds, *error, isChosen});
  };
  for (const ListedPlan &plan : plans)
    if (plan.measured)
      // Times that were measured in different rounds are compared through the plan that was measured in both.
      add("plan " + std::to_string(plan.number), describeOptions(plan),
          chosen > 0 ? plan.measured->ratio * chosen : plan.measured->nanoseconds, plan.measured->error, false);
  add("chosen", "the choice of tenon compile", chosen, explorer.getChosen().error, true);
  return points;
}

std::string PlanList::getCommand(const ListedPlan &plan) const {
  std::string text = "tenon compile " + debug::quote(options.input) + arguments;
  for (const PathPin &pin : explorer.getPins(plan.options))
    text += (pin.isForced ? " --force " : " --exclude ") +
            debug::quote((pin.where.size() == 32 ? pin.where.substr(0, kDigits) : pin.where) + "=" + pin.path);
  return text;
}

void PlanList::printPlan(const ListedPlan &plan) const {
  if (json) {
    llvm::outs() << toJson(plan).dump(2) << '\n';
    return;
  }
  llvm::outs() << llvm::formatv("plan {0}: estimate {1:F3} of the first plan's, error {2}\n", plan.number,
                                plan.estimate, getErrorText(plan.estimatedError));
  Table table({"region", ">operations", "path", ">cost", ">error", "~nodes"});
  for (auto [decision, option] : llvm::zip(explorer.getDecisions(), plan.options)) {
    if (option == kNoOption)
      continue;
    const PathAlternative &taken = decision.alternatives[option];
    double cheapest = decision.alternatives.front().cost;
    std::string nodes;
    for (const std::string &node : decision.nodes)
      nodes += (nodes.empty() ? "" : ", ") + getPrintable(node);
    table.add({getShort(decision), std::to_string(decision.numOperations),
               taken.path + (taken.isDefault ? " (default)" : ""),
               cheapest > 0 ? llvm::formatv("{0:F2}", taken.cost / cheapest).str() : "-",
               getErrorText(taken.largestError), nodes.empty() ? "-" : nodes});
  }
  constexpr size_t kWidth = 120;
  if (!plan.options.empty())
    table.print(llvm::outs(), kWidth);
  llvm::outs() << getCommand(plan) << '\n';
}

Json PlanList::toJson(const ListedPlan &plan) const {
  Json object = {{"plan", plan.number}, {"estimate", plan.estimate}, {"estimated_error", plan.estimatedError}};
  Json &paths = object["paths"] = Json::object();
  for (auto [decision, option] : llvm::zip(explorer.getDecisions(), plan.options))
    if (option != kNoOption)
      paths[decision.fingerprint] = decision.alternatives[option].path;
  if (const std::optional<PlanMeasurement> &measured = plan.measured) {
    object["error"] = measured->error ? Json(*measured->error) : Json();
    object["differing"] = measured->differing;
    if (measured->nanoseconds > 0) {
      object["nanoseconds"] = measured->nanoseconds;
      object["ratio_to_chosen"] = measured->ratio;
      object["spread"] = measured->spread;
      object["recorded"] = measured->isKnown;
    }
  }
  object["command"] = getCommand(plan);
  return object;
}

Json PlanList::describeDecisions() const {
  Json list = Json::array();
  for (const PathDecision &decision : explorer.getDecisions()) {
    Json alternatives = Json::array();
    for (const PathAlternative &alternative : decision.alternatives) {
      Json &one = alternatives.emplace_back(Json{{"path", alternative.path},
                                                 {"cycles", alternative.cycles},
                                                 {"cost", alternative.cost},
                                                 {"error", alternative.largestError},
                                                 {"default", alternative.isDefault}});
      if (alternative.nanoseconds)
        one["nanoseconds"] = *alternative.nanoseconds;
    }
    Json nodes = Json::array();
    for (const std::string &node : decision.nodes)
      nodes.push_back(getPrintable(node));
    list.push_back({{"region", decision.fingerprint},
                    {"text", getPrintable(decision.region)},
                    {"operations", decision.numOperations},
                    {"nodes", std::move(nodes)},
                    {"paths", std::move(alternatives)}});
  }
  return list;
}

void PlanList::finish() {
  const PlanMeasurement &chosen = explorer.getChosen();
  const ListedPlan *fastest = findFastest();
  if (json) {
    Json object = {{"model", options.input},
                   {"target", explorer.getTarget().name},
                   {"tolerance", options.tolerance},
                   {"count", count},
                   {"regions", describeDecisions()}};
    Json &list = object["plans"] = Json::array();
    for (const ListedPlan &plan : plans)
      list.push_back(toJson(plan));
    if (chosen.nanoseconds > 0)
      object["chosen"] = {{"nanoseconds", chosen.nanoseconds}, {"error", chosen.error ? Json(*chosen.error) : Json()}};
    if (fastest)
      object["fastest"] = fastest->number;
    llvm::outs() << object.dump(2) << '\n';
    return;
  }
  if (chosen.nanoseconds > 0)
    llvm::outs() << "\nchosen by tenon compile: " << timeText(chosen.nanoseconds) << " (error "
                 << getErrorText(chosen.error) << ")\n";
  if (!fastest)
    return;
  llvm::outs() << llvm::formatv("fastest of these within {0}: plan {1}, {2:F3} of that (error {3})\n",
                                getNumberText(options.tolerance), fastest->number, fastest->measured->ratio,
                                getErrorText(fastest->measured->error));
  if (fastest->measured->ratio < 1)
    llvm::outs() << getCommand(*fastest) << '\n';
  // If the model dampens errors, those of operations add up to less than the root of their squares.
  constexpr double kUnused = 0.5;
  if (fastest->estimatedError > 0 && *fastest->measured->error < kUnused * options.tolerance)
    llvm::outs() << "plans are more exact than estimated: --error-budget "
                 << llvm::formatv("{0:e1}", fastest->estimatedError * options.tolerance / *fastest->measured->error)
                 << " lists those that come to the tolerance\n";
}
