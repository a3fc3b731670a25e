//===- PathTuner.h - measure the paths of a model's operations -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Paths are measured where they are used: in the whole model, with the neighbours, the layouts and the state of the
// caches that an operation has there. The model is compiled once for each option of the operation with most of them; in
// the n-th compilation each operation takes its n-th option. The compiled models then run in turn, so that other work
// on the machine meets all of them, and each launch counts for the operation that it computes.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_PATHTUNER_H
#define TENON_COMPILER_DRIVER_PATHTUNER_H

#include "compiler/driver/InputSets.h"
#include "compiler/driver/RecordedTimes.h"
#include "compiler/driver/TuningBudget.h"
#include <nlohmann/json.hpp>

namespace tenon {

struct ArtifactParts;

/// A model that was compiled with the options of one round.
struct TunedModel {
  std::string target;                        ///< that this machine picks
  nlohmann::json kernels;                    ///< paths of its kernels, as phases::Variant has them
  std::map<std::string, std::string> served; ///< regions whose paths its other kernels are part of, likewise
  std::vector<RecordedTimes::Picked> picked; ///< that nothing is known of
};

class PathTuner {
public:
  /// `budget` limits the time of all runs together. At least a few rounds of runs are made.
  PathTuner(RecordedTimes &times, TuningBudget &budget) : times(times), budget(budget) {}

  /// Adds a compiled model. Fails if the runtime rejects it.
  llvm::Error add(const ArtifactParts &parts, TunedModel model);

  /// Runs the models in turn on inputs that match `simplified`, and records the times of the picked options.
  llvm::Error measure(mlir::ModuleOp simplified, llvm::ArrayRef<std::string> programs);

private:
  struct Runner;
  RecordedTimes &times;
  TuningBudget &budget;
  std::vector<std::shared_ptr<Runner>> runners;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_PATHTUNER_H
