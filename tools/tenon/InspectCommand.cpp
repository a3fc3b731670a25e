//===- InspectCommand.cpp - tenon inspect ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/HtmlReport.h"
#include "compiler/report/Inspect.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace tenon;

/// Columns of the terminal that standard output is, or of a page where it is none.
static size_t getOutputWidth() {
  constexpr size_t kPageWidth = 100, kMinWidth = 60;
  winsize size{};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kPageWidth;
  return std::max<size_t>(size.ws_col, kMinWidth);
}

void tenon::addInspectCommand(CLI::App &app, int &status) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand("inspect", "show what an artifact contains, whatever processor it is for");
  command->add_option("artifact", options->artifact, "file that tenon compile has written")->required();
  command->add_flag("--all", options->show.all, "everything that the following options show");
  command->add_flag("--sections", options->show.sections,
                    "the parts of the file, their hashes and the CPU features they need");
  command->add_flag("--symbols", options->show.symbols, "open dimensions and their ranges");
  command->add_flag("--kernels", options->show.kernels, "entry points and what they compute");
  command->add_flag("--instructions", options->show.instructions, "what a run executes, in order");
  command->add_flag("--memory", options->show.memory,
                    "bytes of each kind of memory, and where activations lie in the arena, and when");
  command->add_flag("--weights", options->show.weights, "every weight, the largest first");
  command
      ->add_option("--size,--symbol", options->sizes.sizes,
                   "value of an open dimension: all sizes that follow are shown as numbers")
      ->type_name("SYMBOL=N")
      ->allow_extra_args(false);
  command->add_option("--input-shape", options->sizes.shapes, "the same, by the shape of an input")
      ->type_name("NAME=1x3x32")
      ->allow_extra_args(false);
  command->add_option("--target", options->choice.target,
                      "name of the target whose plans to show; the first without it");
  command->add_option("--program", options->choice.program,
                      "number of the program to show; the one for all sizes without it");
  command->add_flag("--verify", options->verify, "check the hash of the weights, too");
  auto wide = std::make_shared<bool>(false);
  command->add_flag("--wide", *wide,
                    "do not shorten names and formulas; default: the terminal's width, or 100 columns in a pipe");
  command->add_flag("--json", options->json, "print everything as JSON");
  auto report = std::make_shared<std::string>(), measured = std::make_shared<std::string>();
  CLI::Option *reportOption =
      command->add_option("--report", *report, "write a page with graph and memory map instead, drawn for these sizes")
          ->type_name("FILE.html");
  command
      ->add_option("--measured", *measured,
                   "what 'tenon-run --layers --json' has printed, for times of kernels in the page, or 'tenon devices "
                   "--json', for limits of the machine")
      ->needs(reportOption)
      ->type_name("FILE.json");
  command->footer("Without an option that chooses a part, a summary is printed.");
  command->callback([options, report, measured, wide, &status] {
    options->width = *wide ? 0 : getOutputWidth();
    status = report->empty() ? inspectArtifact(*options, llvm::outs(), errors())
                             : writeHtmlReport({options->artifact, *report, options->sizes, options->choice, *measured},
                                               errors());
  });
}
