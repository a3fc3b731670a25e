//===- TuneCommand.cpp - tenon tune ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/Table.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/OutputWidth.h"
#include "tools/tenon/Progress.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace tenon;

namespace {
struct TuneArguments {
  CompileArguments compile;
  std::vector<std::string> models;
  bool json = false, quiet = false;
};
} // namespace

static std::string getTimeText(double nanoseconds) {
  return nanoseconds < 1e6 ? llvm::formatv("{0:F1} us", nanoseconds / 1e3).str()
                           : llvm::formatv("{0:F2} ms", nanoseconds / 1e6).str();
}

static std::string getRatioText(double before, double after) {
  return llvm::formatv("{0:F2}x", after > 0 ? before / after : 1);
}

/// Prints the measured kernels, those with the longest times first.
static void printKernels(const nlohmann::json &tuning) {
  Table table({"kernel", ">launches", ">default", ">best", ">ratio", "differs in", "~node"});
  size_t count = 0;
  for (const nlohmann::json &kernel : tuning["kernels"]) {
    double own = kernel["default_ns"], best = kernel["best_ns"];
    if (best <= 0)
      continue;
    ++count;
    std::string what = kernel["differs_in"];
    table.add({getPrintable(kernel["kernel"].get<std::string>()), std::to_string(kernel["launches"].get<size_t>()),
               getTimeText(own), getTimeText(best), getRatioText(own, best), what.empty() ? "-" : what,
               getPrintable(kernel["node"].get<std::string>())});
  }
  if (count)
    table.print(llvm::outs(), getOutputWidth());
}

static void printTuning(const std::string &model, const nlohmann::json &tuning) {
  printKernels(tuning);
  llvm::outs() << model << ": ";
  size_t kernels = tuning["kernels"].size();
  if (kernels == 0)
    llvm::outs() << "no kernel without a record was measured\n";
  else if (!tuning.contains("tuned_ns"))
    llvm::outs() << kernels << (kernels == 1 ? " kernel" : " kernels")
                 << " measured, no schedule is faster than the default\n";
  else
    llvm::outs() << getTimeText(tuning["default_ns"]) << " before, " << getTimeText(tuning["tuned_ns"]) << " after ("
                 << getRatioText(tuning["default_ns"], tuning["tuned_ns"]) << ")"
                 << (tuning["kept"].get<bool>() ? "" : "; not confirmed: the defaults are kept") << '\n';
  if (tuning.contains("estimate_error"))
    llvm::outs() << llvm::formatv("estimates of schedules are off by {0:F2}x (geometric mean), {1:F2}x when fitted\n",
                                  tuning["estimate_error"].get<double>(), tuning["fitted_error"].get<double>());
  llvm::outs() << llvm::formatv("measured for {0:F1} s\n", tuning["measured_seconds"].get<double>());
}

/// Reads the measurements that the compilation wrote; null if there are none.
static nlohmann::json readTuning(const std::string &file) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text = llvm::MemoryBuffer::getFile(file);
  nlohmann::json tuning =
      text ? nlohmann::json::parse((*text)->getBuffer().str(), nullptr, /*allow_exceptions=*/false) : nlohmann::json();
  return tuning.is_object() ? tuning : nlohmann::json();
}

static int tuneModel(const TuneArguments &arguments, const std::string &model, nlohmann::ordered_json &all) {
  CompileArguments own = arguments.compile;
  own.options.input = model;
  if (!resolveCompileOptions(own))
    return 2;
  if (own.options.profiles.empty()) {
    errors() << "tenon: error: tune keeps its measurements in a profile database, and there is none; pass --profiles "
                "FILE\n";
    return 2;
  }
  llvm::SmallString<128> report;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("tenon-tune", "json", report)) {
    errors() << "tenon: error: cannot write a temporary file: " << code.message() << '\n';
    return 4;
  }
  llvm::scope_exit remove([&] { (void)llvm::sys::fs::remove(report); });
  own.options.tuneReport = report.str().str();
  int status = 0;
  {
    Progress progress(own.options);
    status = static_cast<int>(compileSupervised(own.options, errors()));
  }
  if (status != 0)
    return status;
  nlohmann::json tuning = readTuning(own.options.tuneReport);
  if (arguments.json && tuning.is_object()) {
    nlohmann::ordered_json entry = {{"model", model}};
    entry.update(tuning);
    all.push_back(std::move(entry));
  }
  // A model that cannot be run has been warned about.
  if (!arguments.json && !arguments.quiet && tuning.is_object())
    printTuning(model, tuning);
  return 0;
}

static int tune(const TuneArguments &arguments) {
  if (arguments.models.empty()) {
    errors() << "tenon: error: no model is given; see 'tenon tune --help'\n";
    return 2;
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string &model : arguments.models)
    if (int status = tuneModel(arguments, model, all))
      return status;
  if (arguments.json)
    llvm::outs() << all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  return 0;
}

void tenon::addTuneCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App *command =
      app.add_subcommand("tune", "measure on this machine which paths and schedules make models faster");
  command->add_option("models", arguments->models, "models, as tenon compile takes them")->type_name("MODEL...");
  arguments->compile.tune = "60";
  command
      ->add_option("--budget", arguments->compile.tune,
                   "seconds to measure each model for in all, besides the time to compile it")
      ->check(CLI::Validator(
          [](std::string &text) {
            double value;
            bool isGood = llvm::to_float(text, value) && value > 0 && std::isfinite(value);
            return isGood ? std::string() : "expected a number of seconds above 0, got '" + text + "'";
          },
          ""))
      ->capture_default_str()
      ->type_name("SECONDS");
  addTuneOptions(*command, arguments->compile);
  command->add_flag("--json", arguments->json, "say what was measured as JSON");
  command->add_flag("-q,--quiet", arguments->quiet, "say nothing but errors and warnings");
  addExamples(*command, {"tenon tune model.onnx", "tenon tune a.onnx b.onnx --budget 300 --profiles records.db"},
              "Compilations with the same records take the fastest paths and schedules; those with a record are not "
              "measured again. "
              "Interrupted by Ctrl-C, it keeps what it has measured, and goes on from there the next time.");
  command->callback([arguments, &status] { status = tune(*arguments); });
}
