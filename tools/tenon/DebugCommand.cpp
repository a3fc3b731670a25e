//===- DebugCommand.cpp - tenon debug -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/OutputWidth.h"
#include "tools/tenon/Usage.h"
#include "tools/tenon/debug/Bisector.h"
#include "tools/tenon/debug/CommandLine.h"
#include "tools/tenon/debug/Compare.h"
#include "tools/tenon/debug/Reduce.h"
#include "llvm/ADT/STLExtras.h"
#include <CLI/CLI.hpp>

using namespace tenon;

namespace {
struct DebugArguments {
  CompileArguments compile;
  debug::DebugOptions debug;
  double maxError = -1; ///< negative: not given
  bool outputsOnly = false, isWide = false;
  std::string output;
};
} // namespace

static void addRunOptions(CLI::App &command, DebugArguments &arguments) {
  constexpr char kGroup[] = "Comparison";
  debug::DebugOptions &options = arguments.debug;
  command
      .add_option(
          "--against", options.against,
          "what is right: f64 (the model itself, computed in f64), another model, an artifact, a folder of test "
          "data, onnxruntime, or onnx (ONNX's evaluator)")
      ->type_name("REFERENCE")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--max-error", arguments.maxError,
                  "largest error allowed in a value of floats, relative to its largest element; default: --tolerance, "
                  "or what types of few bits round by, and 1e-4 where the reference is in f32 itself")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("R")
      ->group(kGroup);
  command
      .add_option("--input", options.run.inputs,
                  "value of an input: NAME=FILE (.npy, .pb), zeros, ones or random:SEED; default: random")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE")
      ->group(kGroup);
  command.add_option("--input-shape", options.run.inputShapes, "shape of an input that is made: NAME=1x3x32")
      ->allow_extra_args(false)
      ->type_name("NAME=SHAPE")
      ->group(kGroup);
  command
      .add_option("--size", options.run.sizes,
                  "value of a symbol in the shapes of inputs that are made; default: 1 for a first dimension, and 64")
      ->allow_extra_args(false)
      ->type_name("SYMBOL=N")
      ->group(kGroup);
  command.add_option("--seed", options.run.seed, "of random inputs")
      ->type_name("N")
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--python", options.python, "interpreter that has the packages of a reference in Python")
      ->type_name("PROGRAM")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--keep-limit", options.keepBytes,
                  "bytes of values that are kept in one run; where there are more, there are several runs")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
      ->type_name("BYTES")
      ->group(kGroup);
}

/// Options that all debugging commands have.
static void addCommonOptions(CLI::App &command, DebugArguments &arguments) {
  arguments.debug.run.seed = 1;
  addCompileOptions(command, arguments.compile);
  addRunOptions(command, arguments);
  command.add_flag("--json", arguments.debug.json, "print JSON");
  command.add_flag("--wide", arguments.isWide,
                   "do not shorten names; default: the terminal's width, or 100 columns in a pipe");
}

/// Returns the given options of some groups for a printed command line. `names` are additional options of other groups.
static std::string listOptions(const CLI::App &command, llvm::ArrayRef<llvm::StringRef> groups,
                               llvm::ArrayRef<llvm::StringRef> names = {}) {
  std::string text;
  for (const CLI::Option *option : command.get_options()) {
    bool isKept = llvm::is_contained(groups, option->get_group()) || llvm::is_contained(names, option->get_name());
    if (!isKept || option->count() == 0)
      continue;
    for (const std::string &value : option->results())
      text += " " + option->get_name() + (option->get_expected_max() == 0 ? "" : " " + debug::quote(value));
  }
  return text;
}

/// `keepsInputs` is set if printed command lines refer to the model itself, and not to a part with other inputs.
static bool resolve(const CLI::App &command, DebugArguments &arguments, bool keepsInputs = true) {
  if (!resolveCompileOptions(arguments.compile))
    return false;
  std::string sizes = keepsInputs ? listOptions(command, {"Sizes"}) : "";
  arguments.debug.arguments = sizes + listOptions(command, {"Targets", "Accuracy", "Limits"}, {"--plugin"});
  arguments.debug.comparison = listOptions(command, {"Comparison"});
  arguments.debug.compile = arguments.compile.options;
  arguments.debug.run.plugins = arguments.compile.options.import.plugins;
  arguments.debug.width = arguments.isWide ? 0 : getOutputWidth();
  if (arguments.maxError >= 0)
    arguments.debug.maxError = arguments.maxError;
  return true;
}

static void addCompare(CLI::App &debug, int &status) {
  auto arguments = std::make_shared<DebugArguments>();
  CLI::App *command =
      debug.add_subcommand("compare", "compare outputs and all named values of a model with a reference");
  addCommonOptions(*command, *arguments);
  command->add_flag("--outputs-only", arguments->outputsOnly, "compare only the outputs of the model")
      ->group("Comparison");
  addExamples(*command,
              {"tenon debug compare model.onnx", "tenon debug compare model.onnx --input x=x.npy --against onnxruntime",
               "tenon debug compare model.onnx --tolerance 1e-2 --max-error 1e-4"},
              "Exit code 5: something diverges. Values in loops are compared for each iteration.");
  command->callback([arguments, command, &status] {
    status = resolve(*command, *arguments) ? debug::runCompare(arguments->debug, arguments->outputsOnly) : 2;
  });
}

static void addReduce(CLI::App &debug, int &status) {
  auto arguments = std::make_shared<DebugArguments>();
  CLI::App *command = debug.add_subcommand("reduce", "find the smallest part of a model that still fails");
  addCommonOptions(*command, *arguments);
  command->add_option("-o,--output", arguments->output, "model to write; its test data is written beside it")
      ->type_name("FILE.onnx")
      ->required();
  addExamples(
      *command,
      {"tenon debug reduce model.onnx -o small.onnx",
       "tenon debug reduce model.onnx --against onnxruntime -o small.onnx"},
      "A model fails where it does not compile, its run ends in an error, or values diverge from the reference.");
  command->callback([arguments, command, &status] {
    bool isGood = resolve(*command, *arguments, /*keepsInputs=*/false);
    status = isGood ? debug::runReduce(arguments->debug, arguments->output) : 2;
  });
}

static void addBisect(CLI::App &debug, int &status) {
  auto arguments = std::make_shared<DebugArguments>();
  CLI::App *command = debug.add_subcommand("bisect", "find the pass, pattern or path that breaks a model");
  addCommonOptions(*command, *arguments);
  addExamples(*command,
              {"tenon debug bisect model.onnx --against onnxruntime",
               "tenon debug bisect model.onnx --tolerance 1e-2 --max-error 1e-4"},
              "Exit code 5: the model fails without any step that can be left out, too.");
  command->callback([arguments, command, &status] {
    status = resolve(*command, *arguments) ? debug::runBisect(arguments->debug) : 2;
  });
}

void tenon::addDebugCommand(CLI::App &app, int &status) {
  CLI::App *command = app.add_subcommand("debug", "find out why a model computes something wrong");
  command->require_subcommand(1);
  addCompare(*command, status);
  addReduce(*command, status);
  addBisect(*command, status);
  addExamples(*command,
              {"tenon debug compare model.onnx --against onnxruntime",
               "tenon debug bisect model.onnx --against onnxruntime",
               "tenon debug reduce model.onnx --against onnxruntime -o small.onnx"},
              "'tenon debug COMMAND --help' describes a command.");
}
