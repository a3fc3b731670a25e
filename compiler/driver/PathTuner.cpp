//===- PathTuner.cpp - measure the paths of a model's operations -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/PathTuner.h"
#include "compiler/driver/LaunchClock.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/TimedRuns.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;
using namespace tenon;

namespace {
/// A region with one of its paths.
using Option = std::pair<std::string, std::string>;
using Samples = std::map<Option, std::vector<double>>; // nanoseconds
} // namespace

/// A compiled model with its inputs, and which of its launches are measured.
struct PathTuner::Runner {
  Runner(std::unique_ptr<LoadedModel> model, TunedModel tuned)
      : model(std::move(model)), tuned(std::move(tuned)), clock(this->model->getSession()) {
    listLaunches();
  }

  llvm::Error run(InputSet &inputs) { return runWarm(*model, inputs, &clock).takeError(); }

  /// Adds the time of each measured launch of the last run, including its share of other launches that its path needs.
  void addSamples(Samples &samples) const {
    auto sum = [](ArrayRef<double> times) { return std::accumulate(times.begin(), times.end(), 0.0); };
    std::map<Option, std::vector<double>> measured, serving;
    for (auto [instruction, time] : clock.list()) {
      const Launch &launch = launches[instruction];
      if (!launch.option.first.empty())
        (launch.isServing ? serving : measured)[launch.option].push_back(time);
    }
    for (auto &[option, times] : measured)
      for (double time : times)
        samples[option].push_back(time + sum(serving[option]) / times.size());
  }

  std::unique_ptr<LoadedModel> model;
  TunedModel tuned;

private:
  void listLaunches() {
    std::map<Option, bool> isPicked;
    std::map<std::string, std::string> pathOf; // by region
    for (const RecordedTimes::Picked &picked : tuned.picked) {
      isPicked[{picked.region, picked.path}] = true;
      pathOf[picked.region] = picked.path;
    }
    launches.resize(model->getInfo().instruction_count);
    for (auto [i, launch] : llvm::enumerate(launches)) {
      tenon_instruction_info info;
      if (tenon_artifact_instruction(model->getArtifact(), i, &info, nullptr) != TENON_OK || !*info.kernel)
        continue;
      if (auto served = tuned.served.find(info.kernel); served != tuned.served.end() && pathOf.count(served->second)) {
        launch = {{served->second, pathOf[served->second]}, /*isServing=*/true};
        continue;
      }
      auto kernel = tuned.kernels.find(info.kernel);
      if (kernel == tuned.kernels.end() || !kernel->contains("region"))
        continue;
      Option own{(*kernel)["region"].get<std::string>(), (*kernel)["path"].get<std::string>()};
      if (isPicked.count(own))
        launch.option = own;
    }
  }

  struct Launch {
    Option option;          ///< empty where it is not measured
    bool isServing = false; ///< it computes what the option's launches need
  };
  std::vector<Launch> launches; ///< for each instruction
  LaunchClock clock;            ///< of the last run
};

llvm::Error PathTuner::add(const ArtifactParts &parts, TunedModel model) {
  llvm::Expected<std::unique_ptr<LoadedModel>> loaded = LoadedModel::load(parts);
  if (!loaded)
    return loaded.takeError();
  runners.push_back(std::make_shared<Runner>(std::move(*loaded), std::move(model)));
  return llvm::Error::success();
}

static std::vector<ProfileRecord> makeRecords(const TunedModel &tuned, const Hardware &hardware, int64_t threads,
                                              Samples &samples) {
  std::vector<ProfileRecord> records;
  for (const RecordedTimes::Picked &picked : tuned.picked) {
    auto it = samples.find({picked.region, picked.path});
    if (it == samples.end())
      continue;
    if (std::optional<ProfileRecord> record =
            makeRecord(picked.region, picked.path, hardware, threads, std::move(it->second), picked.error))
      records.push_back(std::move(*record));
    // An operation whose path was picked several times has only one record.
    samples.erase(it);
  }
  return records;
}

llvm::Error PathTuner::measure(ModuleOp simplified, llvm::ArrayRef<std::string> programs) {
  if (runners.empty())
    return llvm::Error::success();
  auto meter = [&](InputSet &shapes) { return runners.front()->model->measureActivations(shapes); };
  llvm::Expected<std::vector<InputSet>> sets = generateInputSets(
      simplified, programs, meter, [&](InputSet &inputs) { return !llvm::errorToBool(runners.front()->run(inputs)); });
  if (!sets)
    return sets.takeError();
  std::vector<Samples> samples(runners.size());
  auto runAll = [&](bool counts) -> llvm::Error {
    for (auto [runner, own] : llvm::zip(runners, samples))
      for (InputSet &set : *sets) {
        if (llvm::Error error = runner->run(set))
          return error;
        if (counts)
          runner->addSamples(own);
      }
    return llvm::Error::success();
  };
  {
    TuningBudget::Spending spending(&budget);
    if (llvm::Error error = runRounds(budget.getShare(TuningPhase::paths), runAll))
      return error;
  }
  for (auto [runner, own] : llvm::zip(runners, samples)) {
    const Hardware *hardware = times.getHardware(runner->tuned.target);
    assert(hardware && "models are measured on the machine that they are for");
    int64_t threads = tenon_session_threads(runner->model->getSession());
    if (llvm::Error error = times.add(runner->tuned.target, makeRecords(runner->tuned, *hardware, threads, own)))
      return error;
  }
  return llvm::Error::success();
}
