//===- PathExplorer.h - the plans that a model has ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is a form for each site of a model's graph, and a path for each region that the graph has then. Plans are
// listed by their estimated time, and any of them can be compiled, checked against the f64 reference and measured in
// turn with the plan that a compilation chooses.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_PATHEXPLORER_H
#define TENON_COMPILER_DRIVER_PATHEXPLORER_H

#include "compiler/driver/Choices.h"
#include "compiler/driver/OpenedModel.h"
#include "passes/paths/PlanFamilies.h"

namespace tenon {

/// What runs of a plan took.
struct PlanMeasurement {
  double nanoseconds = 0;      ///< of the fastest run; 0 where it was not timed
  double ratio = 1;            ///< to the chosen plan: the median of rounds in which both ran one after the other
  double spread = 0;           ///< distance of the quartiles, relative to the median
  std::optional<double> error; ///< of the worst output, against f64; nothing where no output can be bounded
  uint64_t differing = 0;      ///< elements of integer outputs that are not the reference's
  bool isKnown = false;        ///< from a record of an earlier run
};

/// A decision about a region that does not exist in the graph with the plan's forms has no option.
inline constexpr size_t kNoOption = std::numeric_limits<size_t>::max();

/// A plan with the options of all decisions.
struct ExploredPlan {
  double cost = 0;
  double error = 0; ///< by estimate, of all operations together
  std::vector<size_t> options;
};

class PathExplorer {
public:
  /// Lists the alternatives of a model's operations. Alternatives that exceed the tolerance in a single operation are
  /// left out. Fails if the options' target has no paths.
  static llvm::Expected<std::unique_ptr<PathExplorer>> create(OpenedModel &model, const phases::Setup &setup,
                                                              PhaseRunner &runner);
  ~PathExplorer();

  /// The decisions: first the sites of the graph with several forms, then the regions with several paths, the most
  /// expensive ones first. The costs of a region are from the family in which it has the most operations.
  llvm::ArrayRef<PathDecision> getDecisions() const { return decisions; }
  /// How many of the decisions are about forms.
  size_t getNumForms() const { return numForms; }
  /// Operations that can be computed in one way only.
  size_t getNumFixed() const { return numFixed; }
  const Target &getTarget() const { return target; }

  /// Lists the plans whose estimated error is within a budget, in ascending order of cost. Option i of decision k is
  /// its i-th alternative.
  PlanFamilies listPlans(double errorBudget) const;
  /// A plan that was listed.
  ExploredPlan getPlan(const FamilyPlan &plan) const;
  /// Returns a plan with random options, regardless of its error. The first plans of a seed together have each option
  /// at least once.
  ExploredPlan drawPlan(uint64_t seed, size_t number) const;
  /// Returns the forms that a compilation chooses, and the first option of each region that results.
  std::vector<size_t> getChosenForms() const;
  /// Returns the cheapest plan within the tolerance whose sites have the forms in `options`; none if this combination
  /// was not listed, or if no plan is exact enough.
  std::optional<ExploredPlan> findPlan(llvm::ArrayRef<size_t> options) const;
  /// What makes a compilation take a plan.
  std::vector<PathPin> getPins(llvm::ArrayRef<size_t> options) const;

  /// Compiles the plan that is chosen by default, with which all plans are compared, unless it is compiled already.
  llvm::Error prepare();
  /// The same if it is compiled already.
  llvm::Error prepare(const Choice &choice);
  /// Compiles a plan and checks its outputs; none if its forms exclude each other. This and the following functions
  /// fail if a plan cannot be run.
  llvm::Expected<std::optional<PlanMeasurement>> check(llvm::ArrayRef<size_t> options);
  /// Also runs the plan for `seconds`, in turn with the chosen one. With `resumes`, a plan with a record is not
  /// measured again.
  llvm::Expected<std::optional<PlanMeasurement>> measure(llvm::ArrayRef<size_t> options, double seconds, bool resumes);
  /// The same for another choice, of which there is always a measurement; its record is called `schedule`. The chosen
  /// plan's is called `chosenSchedule`, if that is set.
  llvm::Expected<PlanMeasurement> measure(const Choice &choice, const std::string &schedule, double seconds,
                                          const std::string &chosenSchedule = {});
  /// Whether there is a record of the model with that name.
  bool isRecorded(const std::string &schedule);
  /// Returns the name of a record of the chosen plan that can be compared with one of the estimates' plan.
  const std::string &getSourcedSchedule() const { return sourcedSchedule; }
  /// Whether a choice takes the paths of the chosen plan.
  bool isChosen(const Choice &choice) const;
  /// Returns the measurement of the chosen plan: its fastest run so far, and its error.
  const PlanMeasurement &getChosen() const { return chosenMeasurement; }

  /// Adds what a plan took to the records.
  llvm::Error record(const std::string &schedule, std::vector<double> nanoseconds, std::optional<double> error);

private:
  /// A plan that is compiled. The model is null if it is that of the chosen plan.
  struct Lowered {
    std::unique_ptr<LoadedModel> model;
    PlanMeasurement measurement; ///< not timed yet
  };

  /// The graph with a form for each site.
  struct Family {
    std::vector<size_t> forms;           ///< for each decision about forms
    std::vector<PathDecision> decisions; ///< about all regions, those with a single path, too
    std::vector<size_t> places;          ///< of each among all decisions; kNoOption for one with a single path
  };

  PathExplorer(OpenedModel &model, const phases::Setup &setup, PhaseRunner &runner);
  llvm::Error listDecisions();
  llvm::Error addFamily(std::vector<size_t> forms);
  llvm::Error listFamilies(std::vector<size_t> chosen);
  void setCosts();
  void joinDecisions();
  PlanFamily price(const Family &family) const;
  ExploredPlan makePlan(const Family &family, llvm::ArrayRef<size_t> options) const;
  llvm::Expected<std::optional<Choice>> lower(llvm::ArrayRef<size_t> options);
  llvm::Expected<Lowered> load(const Choice &choice);
  llvm::Error makeInputs();
  std::optional<PlanMeasurement> findRecord(const std::string &schedule);

  OpenedModel &model;
  const phases::Setup &setup;
  PhaseRunner &runner;
  Target target;
  std::vector<PathDecision> decisions;
  size_t numForms = 0, numFixed = 0;
  std::vector<Family> families; ///< the first one is what a compilation chooses
  PathRegion region;            ///< of the whole model

  std::unique_ptr<LoadedModel> chosenModel;
  std::string chosenPaths, ownSchedule, sourcedSchedule; ///< of the chosen plan
  PlanMeasurement chosenMeasurement;
  std::vector<InputSet> inputs;
};

/// Calls `use` with the explorer of a model. Every failure prints one line to `errors`.
CompileStatus explorePaths(const CompileOptions &options, llvm::raw_ostream &errors,
                           llvm::function_ref<llvm::Error(PathExplorer &)> use);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_PATHEXPLORER_H
