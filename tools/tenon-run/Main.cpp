//===- Main.cpp - run a compiled model from the command line -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Benchmark.h"
#include "tools/tenon-run/Inputs.h"
#include "tools/tenon-run/Json.h"
#include "tools/tenon-run/Layers.h"
#include "tools/tenon-run/MemoryPlan.h"
#include "tools/tenon-run/Outputs.h"
#include "tools/tenon-run/Profile.h"
#include "tools/tenon-run/TestData.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

using namespace tenon::run;

static Status runOnce(const Options &options, Model &model) {
  OutputPlan outputs;
  TENON_TRY(planOutputs(options, model, &outputs));
  TENON_TRY(model.run());
  if (!options.saveState.empty())
    TENON_TRY(model.saveState(options.saveState));
  return writeOutputs(options, model, outputs);
}

static Status runModel(const Options &options) {
  if (options.device != "cpu")
    return Status::make(TENON_UNSUPPORTED, "device '%s' is not supported by this runtime, which has 'cpu'",
                        options.device.c_str());
  double begin = milliseconds();
  Model model;
  TENON_TRY(model.load(options));
  double loadMs = milliseconds() - begin;

  if (options.planOnly) {
    TENON_TRY(bindShapes(options, model));
    return printMemoryPlan(options, model);
  }
  if (options.testData.empty()) {
    std::vector<HostValue> inputs;
    TENON_TRY(makeInputs(options, model, &inputs));
    for (uint32_t i = 0; i < inputs.size(); ++i)
      TENON_TRY(model.bind(i, std::move(inputs[i])));
  }
  std::optional<Profile> profile;
  if (options.cold)
    profile.emplace(model);
  if (options.benchmark)
    TENON_TRY(benchmark(options, model, loadMs));
  if (options.layers)
    TENON_TRY(printLayers(options, model));
  if (!options.testData.empty())
    TENON_TRY(runTestData(options, model));
  else if (!options.benchmark && !options.layers)
    TENON_TRY(runOnce(options, model));
  if (options.profile.empty())
    return {};
  // The first run has page faults and size computations that later ones lack, and tracing would slow down the measured
  // runs: the trace is of an additional run.
  if (!profile) {
    TENON_TRY(model.rewind());
    profile.emplace(model);
    TENON_TRY(model.run());
  }
  return profile->write(options.profile.c_str());
}

static Status run(int count, char **arguments) {
  Options options;
  TENON_TRY(parseOptions(count, arguments, &options));
  if (options.help)
    fputs(helpText().c_str(), stdout);
  else if (options.version)
    printf("tenon-run %s\n", tenon_runtime_version());
  else
    return runModel(options);
  return {};
}

/// True if errors are printed as JSON, even if the command line is otherwise invalid.
static bool wantsJson(int count, char **arguments) {
  for (int i = 1; i < count; ++i)
    if (strcmp(arguments[i], "--json") == 0)
      return true;
  return false;
}

int main(int count, char **arguments) {
  Status status = run(count, arguments);
  if (!status.failed() && (fflush(stdout) != 0 || ferror(stdout)))
    status = Status::make(TENON_RESOURCES, "standard output: cannot be written: %s", strerror(errno));
  if (status.failed())
    printError(status.message());
  // A mismatch of outputs is part of the results, which are then printed as JSON.
  if (status.failed() && status.code() != kMismatch && wantsJson(count, arguments))
    printf("{\"exit_code\":%d,\"errors\":[%s]}\n", status.code(), jsonString(status.message()).c_str());
  return status.code();
}
