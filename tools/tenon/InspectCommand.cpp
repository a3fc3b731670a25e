//===- InspectCommand.cpp - tenon inspect ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/report/Compare.h"
#include "compiler/report/HtmlReport.h"
#include "compiler/report/Inspect.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/OutputWidth.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tenon;

namespace {
struct InspectArguments {
  InspectOptions options;
  std::string other; // a second artifact
  std::string report, measured;
  bool wide = false;
};
} // namespace

/// Fails if options conflict.
static llvm::Error checkArguments(const InspectArguments &arguments) {
  if (arguments.other.empty())
    return llvm::Error::success();
  if (arguments.options.show.isAnyChosen())
    return makeError(
        CompileStatus::misuse,
        "--all, --kernels and others that choose a part are about one artifact; --json shows all that differs");
  if (!arguments.measured.empty())
    return makeError(CompileStatus::misuse, "--measured needs exactly one artifact");
  return llvm::Error::success();
}

static int inspect(InspectArguments &arguments) {
  InspectOptions &options = arguments.options;
  if (llvm::Error error = checkArguments(arguments))
    return finish(std::move(error));
  options.width = arguments.wide ? 0 : getOutputWidth();
  if (!arguments.other.empty())
    return compareArtifacts({options.artifact, arguments.other, arguments.report, options.json, options.verify,
                             options.width, options.sizes, options.choice},
                            llvm::outs(), errors());
  if (arguments.report.empty())
    return inspectArtifact(options, llvm::outs(), errors());
  return writeHtmlReport({options.artifact, arguments.report, options.sizes, options.choice, arguments.measured},
                         errors());
}

static void addPartOptions(CLI::App &command, InspectSections &show) {
  command.add_flag("--all", show.all, "everything that the following options show");
  command.add_flag("--sections", show.sections, "the parts of the file, their hashes and the CPU features they need");
  command.add_flag("--symbols", show.symbols, "dynamic dimensions and their ranges");
  command.add_flag("--kernels", show.kernels, "entry points and what they compute");
  command.add_flag("--instructions", show.instructions, "what a run executes, in order");
  command.add_flag("--memory", show.memory,
                   "bytes of each kind of memory, and where activations lie in the arena, and when");
  command.add_flag("--weights", show.weights, "every weight, the largest first");
}

static void addReportOptions(CLI::App &command, InspectArguments &arguments) {
  CLI::Option *json = command.add_flag("--json", arguments.options.json, "print everything as JSON");
  CLI::Option *report =
      command
          .add_option("--report", arguments.report,
                      "write a page with graph, roofline, memory map and code instead, for these sizes")
          ->excludes(json)
          ->type_name("FILE.html");
  command
      .add_option("--measured", arguments.measured,
                  "what 'tenon-run --layers --json' has printed, for times of kernels in the page, or 'tenon devices "
                  "--json', for limits of the machine")
      ->needs(report)
      ->type_name("FILE.json");
}

void tenon::addInspectCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<InspectArguments>();
  InspectOptions &options = arguments->options;
  CLI::App *command =
      app.add_subcommand("inspect", "show what an artifact contains, for any processor, or compare two");
  command->add_option("artifact", options.artifact, "file that tenon compile has written")
      ->required()
      ->type_name("ARTIFACT");
  command->add_option("other", arguments->other, "a second artifact: show how it differs from the first")
      ->type_name("ARTIFACT");
  addPartOptions(*command, options.show);
  command
      ->add_option("--size,--symbol", options.sizes.sizes,
                   "value of a dynamic dimension: all sizes that depend on it are shown as numbers")
      ->type_name("SYMBOL=N")
      ->allow_extra_args(false);
  command->add_option("--input-shape", options.sizes.shapes, "the same, by the shape of an input")
      ->type_name("NAME=1x3x32")
      ->allow_extra_args(false);
  command->add_option("--target", options.choice.target, "name of the target whose plans to show; default: the first")
      ->type_name("TARGET");
  command
      ->add_option("--program", options.choice.program, "number of the program to show; default: the one for all sizes")
      ->type_name("K");
  command->add_flag("--verify", options.verify, "check the hash of the weights, too");
  command->add_flag("--wide", arguments->wide,
                    "do not shorten names and formulas; default: the terminal's width, or 100 columns in a pipe");
  addReportOptions(*command, *arguments);
  command->footer("Without an option that chooses a part, a summary is printed.");
  command->callback([arguments, &status] { status = inspect(*arguments); });
}
