//===- CompileOptions.cpp - the options of everything that compiles -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/CompileOptions.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/SizeProfiles.h"
#include "compiler/profiles/ProfileStore.h"
#include "passes/precision/WeightFormat.h"
#include "tools/tenon/CalibrationInputs.h"
#include "tools/tenon/ErrorInputs.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/ModelArtifact.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <cmath>

using namespace tenon;

CLI::Option *tenon::addBytes(CLI::App &command, const char *name, uint64_t &bytes, const char *description) {
  return command.add_option(name, bytes, description)
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
      ->check(CLI::Validator(
          [](std::string &text) {
            int64_t value;
            bool isGood = !llvm::StringRef(text).getAsInteger(10, value) && value > 0;
            return isGood ? std::string() : "expected a number of bytes above 0, got '" + text + "'";
          },
          ""))
      ->type_name("BYTES");
}

static void addSizeOptions(CLI::App &command, CompileArguments &arguments) {
  constexpr char kGroup[] = "Sizes";
  command.add_option("--shape", arguments.shapes, "fix or name the dimensions of an input; NAME=4 fixes a symbol")
      ->allow_extra_args(false)
      ->type_name("NAME=1x3xHxW")
      ->group(kGroup);
  command.add_option("--range", arguments.ranges, "bound a symbol")
      ->allow_extra_args(false)
      ->type_name("SYMBOL=MIN..MAX")
      ->group(kGroup);
  command
      .add_option("--specialize", arguments.specializations,
                  "also compile programs for these sizes: N=1,128,512 (least, best, most), N=1..4 (one a value) or "
                  "N=128; join symbols with ';'; repeatable")
      ->allow_extra_args(false)
      ->type_name("SYMBOL=SIZES")
      ->group(kGroup);
  command
      .add_option(
          "--context", arguments.options.import.context,
          "keep keys and values of up to TOKENS tokens from run to run, where the model is a language model in a "
          "Hugging Face folder: a run takes the tokens that are new, and gives the logits of the last one")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 30))
      ->type_name("TOKENS")
      ->group(kGroup);
  using ContextType = ImportOptions::ContextType;
  command
      .add_option_function<std::string>(
          "--context-type",
          [&type = arguments.options.import.contextType](const std::string &name) {
            type = name == "f16" ? ContextType::f16 : name == "bf16" ? ContextType::bf16 : ContextType::f32;
          },
          "keep them as f32, f16 or bf16: half the bytes, which attention reads for each token; default: f32")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->type_name("TYPE")
      ->group(kGroup);
  command
      .add_option("--sequences", arguments.options.import.sequences,
                  "with --context or --state, also compile a program for runs of so many sequences, each with states "
                  "of its own, "
                  "which reads the weights once for all of them; with --context it takes one token of each; repeatable")
      ->allow_extra_args(false)
      ->check(CLI::Range(int64_t(2), int64_t(256)))
      ->type_name("COUNT")
      ->group(kGroup);
  command
      .add_option("--state", arguments.options.states,
                  "keep an output as the input of the next run, in the memory of the session; a star in both names "
                  "matches several pairs; repeatable")
      ->allow_extra_args(false)
      ->type_name("INPUT=OUTPUT")
      ->group(kGroup);
  command
      .add_option("--state-capacity", arguments.options.stateCapacity,
                  "rows that there is memory for in states that grow from run to run")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40))
      ->type_name("ROWS")
      ->group(kGroup);
}

static void addTargetOptions(CLI::App &command, CompileArguments &arguments) {
  constexpr char kGroup[] = "Targets";
  CompileOptions &options = arguments.options;
  command
      .add_option("--target", arguments.targets,
                  "processor to compile for: host (default), x86-64-v2, x86-64-v3, x86-64-v4, aarch64, or a processor "
                  "as LLVM calls it (znver4, sapphirerapids, cortex-a76), with +FEATURE added; repeat it for an "
                  "artifact that picks at load")
      ->allow_extra_args(false)
      ->type_name("TARGET")
      ->group(kGroup);
  addBytes(command, "--l2-cache", options.l2Bytes,
           "L2 cache of a core of the target; default: this machine's for the target host, else a typical size")
      ->group(kGroup);
  addBytes(command, "--llc", options.llcBytes, "last-level cache that the cores share; default: as for --l2-cache")
      ->group(kGroup);
}

static void addToleranceOption(CLI::App &command, CompileOptions &options, const char *group) {
  command
      .add_option("--tolerance", options.tolerance,
                  "largest error allowed in an output, relative to its largest element; faster algorithms must stay "
                  "within it")
      ->check(CLI::Validator(
          [](std::string &text) {
            double value;
            bool isGood = !llvm::StringRef(text).getAsDouble(value) && value >= 0 && std::isfinite(value);
            return isGood ? std::string() : "expected a number that is not negative, got '" + text + "'";
          },
          ""))
      ->capture_default_str()
      ->type_name("R")
      ->group(group);
}

static void addAccuracyOptions(CLI::App &command, CompileArguments &arguments) {
  constexpr char kGroup[] = "Accuracy";
  CompileOptions &options = arguments.options;
  addToleranceOption(command, options, kGroup);
  CLI::Option *asked = command
                           .add_flag("--measure-error", options.measuresError,
                                     "compare outputs with an f64 reference even if only exact algorithms were chosen")
                           ->group(kGroup);
  CLI::Option *skipped =
      command
          .add_flag("--no-measure-error", options.skipsError,
                    "never compare; then only algorithms are chosen that are as exact as sums in their type")
          ->excludes(asked)
          ->group(kGroup);
  command
      .add_option("--error-inputs", arguments.errorInputs,
                  "inputs to measure the error with: NAME.npy files, or a folder of them for each input set; default: "
                  "random inputs")
      ->type_name("DIR")
      ->excludes(skipped)
      ->group(kGroup);
}

static void addWeightsOption(CLI::App &command, CompileOptions &options) {
  command
      .add_option("--weights", options.weights,
                  "store constant matrices as f32, bf16, f16, int8 or int4, all large ones or those whose names match "
                  "a pattern with * and ?; integers take suboptions: int4:group=64,asymmetric; the last one counts; "
                  "repeatable")
      ->allow_extra_args(false)
      ->type_name("[PATTERN=]FORMAT")
      ->group("Weights");
  command
      .add_option("--calibrate", options.calibration,
                  "choose the integers of --weights so that the model computes little else with these inputs (GPTQ): a "
                  "text, where the model takes tokens and its folder has a tokenizer, or NAME.npy files in a folder, "
                  "as for --error-inputs; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE|DIR")
      ->group("Weights");
  command
      .add_flag("--calibrate-at-once", options.calibratesAtOnce,
                "run the inputs through the model's own weights alone, once, and not again after each matrix is "
                "quantized: faster, and less exact")
      ->group("Weights");
}

static void addProfilesOption(CLI::App &command, CompileArguments &arguments, const char *group) {
  command
      .add_option("--profiles", arguments.profiles,
                  "records of real runs that paths and schedules are chosen by (tenon profiles), or none; default: "
                  "TENON_PROFILES, or tenon/profiles.db in XDG_DATA_HOME")
      ->type_name("FILE")
      ->group(group);
}

static void addMeasuringOptions(CLI::App &command, CompileArguments &arguments) {
  constexpr char kGroup[] = "Measured choices";
  // A flag with an optional value: the next word is the model.
  command
      .add_flag("--tune{10}", arguments.tune,
                "measure what decides how this model is compiled and has no record, for SECONDS in all (10), "
                "besides the time to compile it; the records decide, and are kept; see tenon tune")
      ->type_name("[=SECONDS]")
      ->group(kGroup);
  addProfilesOption(command, arguments, kGroup);
  command
      .add_option("--profiles-lock", arguments.options.profilesLock,
                  "records that decide alone, so that named targets get equal bytes on any machine; where FILE is not "
                  "there, or with --tune, the records that decided are written to it")
      ->type_name("FILE")
      ->group(kGroup);
}

static void addPathOptions(CLI::App &command, CompileArguments &arguments) {
  constexpr char kGroup[] = "Paths";
  command
      .add_option("--force", arguments.forced,
                  "path that operations have to take: REGION is the beginning of a fingerprint that tenon paths lists, "
                  "or a node's name with * and ?; the last one counts; repeatable")
      ->allow_extra_args(false)
      ->type_name("REGION=PATH")
      ->group(kGroup);
  command
      .add_option("--exclude", arguments.excluded,
                  "path that operations must not take, all of them or those of a region or node; repeatable")
      ->allow_extra_args(false)
      ->type_name("[REGION=]PATH")
      ->group(kGroup);
}

/// Returns the records to use: those that are named, otherwise the user's own, if there are any or some will be made.
static std::string resolveProfiles(const CompileArguments &arguments) {
  if (!arguments.profiles.empty())
    return arguments.profiles == "none" ? "" : arguments.profiles;
  std::string file = ProfileStore::getDefaultFile();
  bool isMade = arguments.options.tuneSeconds > 0;
  return file != "none" && (isMade || llvm::sys::fs::exists(file)) ? file : "";
}

static void addLimitOptions(CLI::App &command, CompileOptions &options) {
  constexpr char kGroup[] = "Limits";
  addBytes(command, "--memory-limit", options.memoryLimit,
           "limit run-time memory to BYTES (K, M, G) for every size in range; exit 4 if no plan fits")
      ->group(kGroup);
  addBytes(command, "--compile-weight-budget", options.weightBudget,
           "keep up to BYTES (K, M, G) of packed weights in memory while compiling, and others in a file beside the "
           "output; default: an eighth of the free memory, and 64M or more")
      ->group(kGroup);
  addBytes(command, "--import-memory-limit", options.importMemoryLimit,
           "limit the memory of the import, which reads untrusted files; default: 4 times the files and 1 GB")
      ->group(kGroup);
  command
      .add_option("--import-time-limit", options.importTimeLimit,
                  "limit the time of the import to SECONDS; 0: no limit")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(kGroup);
}

static void addDebugOptions(CLI::App &command, CompileOptions &options) {
  constexpr char kGroup[] = "Looking inside";
  command
      .add_option("--dump-ir", options.dumpDir,
                  "write the IR after each pass that changed it to DIR, one numbered file per pass")
      ->type_name("DIR")
      ->group(kGroup);
  command
      .add_option("--dump-after", options.dumpAfter,
                  "print the IR after this pass to standard error; 'list' prints the passes")
      ->type_name("PASS")
      ->group(kGroup);
  command
      .add_option("--mark-output", options.import.marked,
                  "make a value an output, after those of the model; of other models than ONNX's main graphs, a node "
                  "as dumps call it; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->group(kGroup);
  command
      .add_flag("--keep-results", options.keepsResults,
                "make the results of kernels outputs, after those of the model; nothing is fused otherwise for that")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--opt-bisect-limit",
          [&options](const std::string &text) {
            llvm::Expected<StepLimit> limit = StepLimit::parse(text);
            if (!limit)
              throw CLI::ValidationError("--opt-bisect-limit", llvm::toString(limit.takeError()));
            options.bisect = *limit;
          },
          "take no more than so many steps that are optional, and of the last one, if a part is given, no more than so "
          "many patterns or paths; lists them on standard error")
      ->type_name("STEP[.PART]")
      ->group(kGroup);
  command.add_flag("--timing", options.timing, "print the time of each phase and pass to standard error")
      ->group(kGroup);
}

static void addPluginOption(CLI::App &command, CompileOptions &options) {
  command
      .add_option("--plugin", options.import.plugins,
                  "shared library with operators (tenon/plugin.h) that ONNX does not define; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

void tenon::addCompileOptions(CLI::App &command, CompileArguments &arguments) {
  CompileOptions &options = arguments.options;
  command
      .add_option("model", options.input,
                  "ONNX file, Hugging Face folder, or IR as .mlir: a model in the tenon dialect, a dump of --dump-ir, "
                  "or what --emit mlir wrote")
      ->type_name("MODEL");
  addTargetOptions(command, arguments);
  addSizeOptions(command, arguments);
  addWeightsOption(command, options);
  addAccuracyOptions(command, arguments);
  addMeasuringOptions(command, arguments);
  addPathOptions(command, arguments);
  addLimitOptions(command, options);
  addPluginOption(command, options);
  addDebugOptions(command, options);
}

void tenon::addTuneOptions(CLI::App &command, CompileArguments &arguments) {
  addTargetOptions(command, arguments);
  addSizeOptions(command, arguments);
  addWeightsOption(command, arguments.options);
  addToleranceOption(command, arguments.options, "Accuracy");
  addProfilesOption(command, arguments, "Measured choices");
  addPluginOption(command, arguments.options);
}

bool tenon::resolveCompileOptions(CompileArguments &arguments) {
  CompileOptions &options = arguments.options;
  if (options.input.empty()) {
    errors() << "tenon: error: no model is given; see 'tenon --help'\n";
    return false;
  }
  // The name of a folder is the same with and without a trailing slash.
  while (options.input.size() > 1 && options.input.back() == '/')
    options.input.pop_back();
  if (!arguments.targets.empty())
    options.targets = arguments.targets;
  // The prompt is processed many tokens at a time, and later tokens one by one, so a single token gets a program of its
  // own.
  if (options.import.context && arguments.specializations.empty() && arguments.shapes.empty())
    arguments.specializations.push_back("length=1");
  auto report = [&](const char *option, const std::string &text, llvm::Error error) {
    errors() << "tenon: error: " << option << ' ' << text << ": " << llvm::toString(std::move(error)) << '\n';
    return false;
  };
  for (const std::string &text : arguments.shapes)
    if (llvm::Error error = ImportOptions::parseShape(text, options.import))
      return report("--shape", text, std::move(error));
  for (const std::string &text : arguments.ranges)
    if (llvm::Error error = ImportOptions::parseRange(text, options.import))
      return report("--range", text, std::move(error));
  for (auto [option, texts, isForced] :
       {std::tuple("--force", &arguments.forced, true), {"--exclude", &arguments.excluded, false}})
    for (const std::string &text : *texts) {
      llvm::Expected<PathPin> pin = PathPin::parse(text, isForced);
      if (!pin)
        return report(option, text, pin.takeError());
      options.pins.push_back(std::move(*pin));
    }
  for (const std::string &text : options.weights)
    if (llvm::Expected<WeightRule> rule = WeightRule::parse(text); !rule)
      return report("--weights", text, rule.takeError());
  if (options.calibratesAtOnce && options.calibration.empty()) {
    errors() << "tenon: error: --calibrate-at-once: there are no inputs; --calibrate says which\n";
    return false;
  }
  if (!options.calibration.empty())
    options.readCalibration = [paths = options.calibration, model = options.input](const tenon_artifact *artifact) {
      return readCalibration(paths, getModelFolder(model), artifact);
    };
  SizePrograms programs;
  for (const std::string &text : arguments.specializations)
    if (llvm::Error error = addProfile(text, programs, options.import.profiled))
      return report("--specialize", text, std::move(error));
  options.programs = programs.list();
  if (!arguments.tune.empty() && !(llvm::to_float(arguments.tune, options.tuneSeconds) && options.tuneSeconds > 0 &&
                                   std::isfinite(options.tuneSeconds))) {
    errors() << "tenon: error: --tune: expected a number of seconds above 0, got '" << arguments.tune << "'\n";
    return false;
  }
  options.profiles = resolveProfiles(arguments);
  // A user who has not requested records compiles without them if they cannot be read.
  options.needsProfiles = !arguments.profiles.empty() || options.tuneSeconds > 0;
  if (!arguments.errorInputs.empty())
    options.readInputs = [folder = arguments.errorInputs](const tenon_artifact *artifact) {
      return readErrorInputs(folder, artifact);
    };
  return true;
}

int tenon::openRemotes(CompileArguments &arguments, const std::string &cache) {
  const RemoteArguments &remotes = arguments.remotes;
  bool isAsked = !remotes.from.empty() || !remotes.to.empty();
  if (cache.empty() && !isAsked)
    return 0;
  llvm::Expected<std::shared_ptr<CacheExchange>> exchange =
      cache.empty()
          ? makeError(CompileStatus::misuse, "--cache-from and --cache-to need the cache of this machine, which "
                                             "--no-cache or TENON_CACHE_DIR=none goes without")
          : openExchange(remotes);
  if (exchange) {
    arguments.options.exchange = std::move(*exchange);
    return 0;
  }
  return finish(exchange.takeError());
}
