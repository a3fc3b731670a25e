//===- ModelSession.cpp - how commands load and run an artifact -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/ModelSession.h"
#include "tools/tenon/CompileOptions.h"
#include <CLI/CLI.hpp>

using namespace tenon;

void tenon::addModelOptions(CLI::App &command, ModelOptions &options) {
  command.add_option("--threads", options.threads, "threads that compute; default: all of this process")
      ->check(CLI::Range(1U, 1U << 16))
      ->type_name("N");
  addBytes(command, "--weight-budget", options.weightBudget,
           "have no more weights in memory than that; the others are read from the artifact in each run, ahead of "
           "their use");
  command
      .add_option("--weights-dir", options.weightsFolder,
                  "folder with the files that weights of an artifact are in; default: that of the artifact")
      ->type_name("FOLDER");
}

Status ModelSession::load(const std::string &path, const ModelOptions &options) {
  tenon_error error;
  tenon_artifact *loaded = nullptr;
  tenon_load_options loadOptions{};
  loadOptions.weights_dir = options.weightsFolder.empty() ? nullptr : options.weightsFolder.c_str();
  TENON_TRY(check(tenon_artifact_load_file(path.c_str(), &loadOptions, &loaded, &error), error));
  artifact.reset(loaded);
  return {};
}

Status ModelSession::start(const ModelOptions &options, uint32_t slots) {
  tenon_error error;
  tenon_session_options sessionOptions{};
  sessionOptions.threads = options.threads;
  sessionOptions.weight_budget = options.weightBudget;
  sessionOptions.slots = slots;
  tenon_session *created = nullptr;
  TENON_TRY(check(tenon_session_create(artifact.get(), &sessionOptions, &created, &error), error));
  session.reset(created);
  return {};
}
