//===- InspectCommand.cpp - tenon inspect ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/HtmlReport.h"
#include "compiler/report/Inspect.h"
#include "tools/tenon/Commands.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tenon;

void tenon::addInspectCommand(CLI::App &app, int &status) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand("inspect", "what is in an artifact, for whichever processor");
  command->add_option("artifact", options->artifact, "file that tenon compile has written")->required();
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
  command->add_flag("--json", options->json, "print everything as JSON");
  auto report = std::make_shared<std::string>();
  command->add_option("--report", *report, "write a page with the memory map instead, drawn for these sizes")
      ->type_name("FILE.html");
  command->footer("Prints everything where no part is chosen.");
  command->callback([options, report, &status] {
    status = report->empty() ? inspectArtifact(*options, llvm::outs(), llvm::errs())
                             : writeHtmlReport(options->artifact, options->sizes, *report, llvm::errs());
  });
}
