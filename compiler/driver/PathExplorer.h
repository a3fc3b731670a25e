//===- PathExplorer.h - the plans that a model has ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is a path for each region of a model. Plans are listed by their estimated time, and any of them can be
// compiled, checked against the f64 reference and measured in turn with the plan that a compilation chooses.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_PATHEXPLORER_H
#define TENON_COMPILER_DRIVER_PATHEXPLORER_H

#include "compiler/driver/Choices.h"
#include "compiler/driver/OpenedModel.h"
#include "passes/paths/BudgetedPlans.h"

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

class PathExplorer {
public:
  /// Lists what the operations of a model may take. Alternatives that exceed the tolerance in one operation alone are
  /// left out. Fails where the options' target has no paths.
  static llvm::Expected<std::unique_ptr<PathExplorer>> create(OpenedModel &model, const phases::Setup &setup,
                                                              PhaseRunner &runner);
  ~PathExplorer();

  /// The regions that have a choice, the most expensive one first.
  llvm::ArrayRef<PathDecision> getDecisions() const { return decisions; }
  /// Operations that can be computed in one way only.
  size_t getNumFixed() const { return numFixed; }
  const Target &getTarget() const { return target; }

  /// The plans whose estimated error is within a budget. Option i of decision k is its i-th alternative.
  BudgetedPlans listPlans(double errorBudget) const;
  /// A plan of options drawn at random, whatever it is off by. The first plans of a generator have each option once.
  std::vector<size_t> drawPlan(uint64_t seed, size_t number) const;
  /// What makes a compilation take a plan.
  std::vector<PathPin> getPins(llvm::ArrayRef<size_t> options) const;

  /// Compiles what is chosen if nobody demands a plan, which all plans are compared with.
  llvm::Error prepare();
  /// The same if it is compiled already.
  llvm::Error prepare(const Choice &choice);
  /// Compiles a plan and checks its outputs. This and the following fail where a plan cannot be run.
  llvm::Expected<PlanMeasurement> check(llvm::ArrayRef<size_t> options);
  /// Runs it as well, for so many seconds, in turn with the chosen one. With `resumes`, a plan that has a record is not
  /// measured again.
  llvm::Expected<PlanMeasurement> measure(llvm::ArrayRef<size_t> options, double seconds, bool resumes);
  /// The same for another choice.
  llvm::Expected<PlanMeasurement> measure(const Choice &choice, double seconds);
  /// The chosen plan: its fastest run so far, and what it is off by.
  const PlanMeasurement &getChosen() const { return chosenMeasurement; }

  /// Adds what a plan took to the records.
  llvm::Error record(const std::string &schedule, std::vector<double> nanoseconds, std::optional<double> error);

private:
  /// A plan that is compiled. The model is null if it is that of the chosen plan.
  struct Lowered {
    std::unique_ptr<LoadedModel> model;
    PlanMeasurement measurement; ///< not timed yet
  };

  PathExplorer(OpenedModel &model, const phases::Setup &setup, PhaseRunner &runner);
  llvm::Error listDecisions();
  llvm::Expected<Choice> lower(llvm::ArrayRef<size_t> options);
  llvm::Expected<Lowered> load(const Choice &choice);
  llvm::Expected<Lowered> load(llvm::ArrayRef<size_t> options);
  llvm::Error makeInputs();
  std::optional<PlanMeasurement> findRecord(const std::string &schedule);
  llvm::Expected<PlanMeasurement> time(llvm::Expected<Lowered> lowered, const std::string &schedule, double seconds);

  OpenedModel &model;
  const phases::Setup &setup;
  PhaseRunner &runner;
  Target target;
  std::vector<PathDecision> decisions;
  size_t numFixed = 0;
  PathRegion region; ///< of the whole model

  std::unique_ptr<LoadedModel> chosenModel;
  std::string chosenPaths, chosenSchedule;
  PlanMeasurement chosenMeasurement;
  std::vector<InputSet> inputs;
};

/// Calls `use` with the explorer of a model. Every failure is one line on `errors`.
CompileStatus explorePaths(const CompileOptions &options, llvm::raw_ostream &errors,
                           llvm::function_ref<llvm::Error(PathExplorer &)> use);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_PATHEXPLORER_H
