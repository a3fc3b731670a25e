//===- CompileCommand.cpp - tenon compile ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "compiler/report/HtmlReport.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tenon;

/// What --emit takes, in the order of --help.
static std::vector<CodeFormat> listOutputs() {
  std::vector<CodeFormat> outputs = {{kArtifactOutput, ".tenon"}, {kIROutput, ""}};
  for (const std::unique_ptr<Backend> &backend : getBackendRegistry().getBackends())
    llvm::append_range(outputs, backend->getFormats());
  return outputs;
}

static void checkOutput(const std::string &text) {
  std::string names;
  for (const CodeFormat &output : listOutputs()) {
    if (text == output.name)
      return;
    names += (names.empty() ? "" : ", ") + output.name;
  }
  throw CLI::ValidationError("--emit", "no kind '" + text + "'; there are " + names);
}

static std::string describeOutputs() {
  std::string text = "what to write: ";
  for (auto [i, output] : llvm::enumerate(listOutputs()))
    text += (i ? ", " : "") + output.name + (output.isFolder ? " (a folder)" : "");
  return text;
}

/// Where the result goes when nobody says: text to the terminal, an artifact beside its model.
static std::string getDefaultOutput(const CompileOptions &options) {
  for (const CodeFormat &output : listOutputs())
    if (output.name == options.emit && !output.suffix.empty())
      return (llvm::sys::path::stem(options.input) + output.suffix).str();
  return "-";
}

void tenon::addCompileCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<CompileArguments>();
  CLI::App *command = app.add_subcommand("compile", "compile a model to an artifact");
  addCompileOptions(*command, *arguments);
  command->add_option("-o,--output", arguments->options.output, "file to write");
  command
      ->add_option_function<std::string>(
          "--emit",
          [arguments](const std::string &text) {
            checkOutput(text);
            arguments->options.emit = text;
          },
          describeOutputs())
      ->type_name("KIND");
  arguments->options.backendSettings = getBackendRegistry().getDefaultSettings();
  for (const std::unique_ptr<Backend> &backend : getBackendRegistry().getBackends())
    for (const BackendOption &option : backend->getOptions())
      command->add_option(option.name, arguments->options.backendSettings[option.name], option.description)
          ->capture_default_str();
  auto report = std::make_shared<std::string>();
  command->add_option("--report", *report, "also write a page about the artifact, with its memory map")
      ->type_name("FILE.html");
  command->callback([arguments, report, &status] {
    if (!resolveCompileOptions(*arguments)) {
      status = 2;
      return;
    }
    CompileOptions &options = arguments->options;
    if (!report->empty() && options.emit != kArtifactOutput) {
      llvm::errs() << "tenon: error: --report is about an artifact, which --emit does not write here\n";
      status = 2;
      return;
    }
    if ((options.measuresError || options.readInputs) && options.emit != kArtifactOutput) {
      llvm::errs() << "tenon: error: --measure-error and --calibrate are about an artifact, which --emit does not "
                      "write here\n";
      status = 2;
      return;
    }
    if (options.output.empty())
      options.output = getDefaultOutput(options);
    status = static_cast<int>(compileSupervised(options, llvm::errs()));
    if (status == 0 && !report->empty())
      status = writeHtmlReport(options.output, {}, *report, llvm::errs());
  });
}
