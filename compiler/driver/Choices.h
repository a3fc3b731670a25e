//===- Choices.h - choices of paths, measured and compared -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_CHOICES_H
#define TENON_COMPILER_DRIVER_CHOICES_H

#include "compiler/driver/ErrorMeter.h"
#include "compiler/driver/Phases.h"
#include "compiler/driver/Record.h"

namespace tenon {

/// What a choice of paths led to.
struct Choice {
  unsigned number = 1;
  bool isWidened = false;                  ///< the choice before was within the tolerance, and left most of it unused
  double largestTaken = 0, totalTaken = 0; ///< as in Launches
  ErrorBudget budget;                      ///< with which its paths were chosen
  std::shared_ptr<PathSelection> selection;
  std::string schedule;  ///< of the record of a whole model that prefers this plan; empty without one
  bool isPinned = false; ///< that record gives the path of each region
  phases::Plan plan;
  phases::Kernels kernels;
  phases::Code code;                        ///< of an artifact
  ErrorReport error;                        ///< likewise
  KernelIRs kernelIRs;                      ///< of the first target, for a page
  std::shared_ptr<WeightPrecision> weights; ///< null where --weights asked for no formats
  std::optional<ErrorReport>
      weightsError; ///< outputs against those of the model's own weights, where that was measured
};

/// Returns the initial error budget of one operation.
double getFirstBudget(double tolerance);

/// Distributes the tolerance by the measured sensitivities of outputs to the errors of regions.
void useSensitivities(phases::PathChoice &paths, std::shared_ptr<const Sensitivities> sensitivities, double tolerance);

/// True if errors are to be measured wherever that is possible, with a warning where it is not.
bool isErrorAsked(const CompileOptions &options);

/// Lowers launches to what the output needs: code for an artifact, kernels otherwise.
llvm::Expected<Choice> lowerLaunches(phases::Launches launches, const phases::Setup &setup, PhaseRunner &runner);

/// From kernels on buffers to what the output needs.
llvm::Expected<Choice> finishKernels(Choice choice, const phases::Setup &setup, PhaseRunner &runner);

/// Loads the code of one target.
llvm::Expected<std::unique_ptr<LoadedModel>> loadTarget(const Choice &choice, const Target &target,
                                                        const phases::Setup &setup, uint64_t sourceHash);

/// Compares the compiled model with a reference. The error for all targets is the largest one.
ErrorReport measureChoice(const Choice &choice, const phases::Graph &graph, ErrorMeter &meter,
                          const phases::Setup &setup, uint64_t sourceHash);

/// Chooses paths, repeatedly if the model is not exact enough, and lowers the model. Fails with `inexact` if the
/// tolerance is exceeded even with the most exact paths. `meter` is not null if the output is an artifact.
llvm::Expected<Choice> lowerWithinTolerance(const phases::Graph &graph, phases::PathChoice paths, ErrorMeter *meter,
                                            const phases::Setup &setup, uint64_t sourceHash, PhaseRunner &runner);

/// True if the measured error of launches that `paths` led to may lead to other ones: paths were taken that need a part
/// of the tolerance, `totalTaken` in all, or faster ones would be within it.
llvm::Expected<bool> mayChooseAgain(const phases::Graph &graph, phases::PathChoice paths, double totalTaken,
                                    const phases::Setup &setup, PhaseRunner &runner);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_CHOICES_H
