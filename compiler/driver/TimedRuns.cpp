//===- TimedRuns.cpp - models that run in turn, to be measured ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/TimedRuns.h"
#include "compiler/driver/RecordedTimes.h"
#include "compiler/errors/CompileError.h"
#include <chrono>

using namespace tenon;
using Clock = std::chrono::steady_clock;

llvm::Error tenon::runRounds(double seconds, llvm::function_ref<llvm::Error(bool counts)> run) {
  constexpr int kWarmups = 1, kMinRounds = 5, kMaxRounds = 500;
  auto begin = Clock::now();
  for (int round = -kWarmups; round < kMaxRounds; ++round) {
    if (round >= kMinRounds && std::chrono::duration<double>(Clock::now() - begin).count() > seconds)
      break;
    if (llvm::Error error = run(round >= 0))
      return error;
  }
  return llvm::Error::success();
}

std::optional<ProfileRecord> tenon::makeRecord(const std::string &region, const std::string &schedule,
                                               const Hardware &hardware, int64_t threads,
                                               std::vector<double> nanoseconds, std::optional<double> error) {
  ProfileRecord record;
  record.kernel = {region, schedule, getProfiledCompiler()};
  record.hardware = hardware;
  record.threads = threads;
  setTimes(record, std::move(nanoseconds));
  record.error = error;
  record.errorReference = error ? "f64" : "";
  record.time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  record.origin = "measured";
  return llvm::errorToBool(checkRecord(record)) ? std::nullopt : std::optional(std::move(record));
}

llvm::Expected<double> tenon::runWarm(const LoadedModel &model, InputSet &inputs, LaunchClock *clock) {
  if (llvm::Error error = model.bind(inputs, /*withData=*/true))
    return error;
  Clock::time_point start;
  for ([[maybe_unused]] bool counts : {false, true}) {
    if (clock)
      clock->reset();
    tenon_error error;
    start = Clock::now();
    if (model.run(&error) != TENON_OK)
      return makeError(CompileStatus::unsupported, LoadedModel::getText(error));
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

llvm::Expected<std::vector<std::vector<double>>> tenon::runInTurn(llvm::ArrayRef<std::unique_ptr<LoadedModel>> models,
                                                                  std::vector<InputSet> &sets, double seconds) {
  std::vector<std::vector<double>> samples(models.size());
  auto runAll = [&](bool counts) -> llvm::Error {
    for (auto [model, own] : llvm::zip(models, samples)) {
      if (!model)
        continue;
      double nanoseconds = 0;
      for (InputSet &set : sets) {
        llvm::Expected<double> time = runWarm(*model, set);
        if (!time)
          return time.takeError();
        nanoseconds += *time;
      }
      if (counts)
        own.push_back(nanoseconds);
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = runRounds(seconds, runAll))
    return error;
  for (auto [model, own] : llvm::zip(models, samples))
    if (!model)
      own = samples.front();
  return samples;
}
