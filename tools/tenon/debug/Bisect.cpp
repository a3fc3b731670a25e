//===- Bisect.cpp - tenon debug bisect ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Bisector.h"
#include "tools/tenon/debug/CommandLine.h"
#include "tools/tenon/debug/Compare.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace tenon;
using namespace tenon::debug;

/// What shows the failure, compiled with a limit.
static std::string makeCommand(const DebugOptions &options, const Outcome &outcome, const StepLimit &limit) {
  std::string arguments = quote(options.compile.input) + options.arguments + " --opt-bisect-limit " + limit.toString();
  if (outcome.stage == Outcome::Stage::compile)
    return "tenon compile " + arguments;
  return "tenon debug compare " + arguments + options.comparison + " --outputs-only";
}

/// "error 3.8e-05", or how it fails.
static std::string describe(const Outcome &outcome) {
  return outcome.stage == Outcome::Stage::none && !outcome.worst ? "right" : outcome.describe();
}

static void printJson(const Bisector &bisector, const DebugOptions &options, const std::optional<Culprit> &culprit) {
  nlohmann::json json = {{"model", options.compile.input},
                         {"failure", describe(bisector.getWhole())},
                         {"steps", bisector.getStepCount()},
                         {"tries", bisector.getTries()},
                         {"without_steps", describe(bisector.getPlain())}};
  if (culprit) {
    json["culprit"] = {{"step", culprit->step},
                       {"limit", culprit->with.toString()},
                       {"with", describe(culprit->after)},
                       {"without", describe(culprit->before)},
                       {"command", makeCommand(options, culprit->after, culprit->with)}};
    if (!culprit->part.empty())
      json["culprit"].update({{"part", culprit->part}, {"parts", culprit->partCount}});
  }
  llvm::outs() << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

static void printText(const Bisector &bisector, const DebugOptions &options, const std::optional<Culprit> &culprit) {
  llvm::outs() << options.compile.input << ": " << describe(bisector.getWhole()) << '\n'
               << "without its " << bisector.getStepCount() << " optional steps: " << describe(bisector.getPlain())
               << '\n';
  if (!culprit) {
    llvm::outs()
        << "no optional step is to blame, but the import, a pass that cannot be left out, or code generation\n";
    return;
  }
  llvm::outs() << "culprit, after " << bisector.getTries() << " tries: step " << culprit->with.steps << ", "
               << culprit->step << '\n';
  if (!culprit->part.empty())
    llvm::outs() << "  part " << *culprit->with.parts << " of " << culprit->partCount << ": " << culprit->part << '\n';
  llvm::outs() << "  with it: " << describe(culprit->after) << '\n'
               << "  without it: " << describe(culprit->before) << "\n\n"
               << "  " << makeCommand(options, culprit->after, culprit->with) << '\n'
               << "  " << makeCommand(options, culprit->after, culprit->without) << '\n';
}

int debug::runBisect(const DebugOptions &options) {
  llvm::Expected<std::unique_ptr<Bisector>> created = Bisector::create(options);
  if (!created)
    return reportFailure(created.takeError());
  Bisector &bisector = **created;
  if (!bisector.isFailing())
    return reportFailure(makeError(CompileStatus::invalid, options.compile.input +
                                                               ": it compiles, runs and agrees with the reference, "
                                                               "so there is nothing to bisect"));
  std::optional<Culprit> culprit = bisector.find();
  (options.json ? printJson : printText)(bisector, options, culprit);
  return culprit ? 0 : run::kMismatch;
}
