//===- EstimatedPlan.cpp - the plan of the estimates beside that of the records -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/EstimatedPlan.h"
#include "compiler/driver/PlanRecords.h"

using namespace tenon;
using namespace tenon::phases;

llvm::Error tenon::measureEstimatedPlan(OpenedModel &model, PathExplorer &explorer, const Setup &setup,
                                        PhaseRunner &runner) {
  if (llvm::Error error = explorer.prepare())
    return error;
  llvm::Expected<Choice> choice = lowerWithinTolerance(model.graph, chooseByEstimates(model, setup), model.meter.get(),
                                                       setup, model.sourceHash, runner);
  if (!choice)
    return choice.takeError();
  if (explorer.isChosen(*choice))
    return llvm::Error::success();
  std::string own =
      nameSourcedPlan(PlanSource::estimates, *choice->selection, explorer.getTarget(), setup.options.tolerance);
  const std::string &recorded = explorer.getSourcedSchedule();
  if (explorer.isRecorded(own) && explorer.isRecorded(recorded))
    return llvm::Error::success();
  runner.announce("timing the estimates' plan");
  return explorer.measure(*choice, own, setup.tuning->getShare(TuningPhase::estimates), recorded).takeError();
}
