//===- CompileCommand.cpp - tenon compile ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/HtmlReport.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tenon;

static constexpr std::pair<const char *, EmitKind> kEmitKinds[] = {
    {"artifact", EmitKind::artifact}, {"mlir", EmitKind::mlir},   {"llvm", EmitKind::llvm},
    {"asm", EmitKind::assembly},      {"obj", EmitKind::object},  {"so", EmitKind::sharedObject},
    {"ptx", EmitKind::ptx},           {"spirv", EmitKind::spirv},
};

static void setEmitKind(const std::string &text, EmitKind &kind) {
  std::string names;
  for (auto [name, value] : kEmitKinds) {
    if (text == name) {
      kind = value;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw CLI::ValidationError("--emit", "no kind '" + text + "'; there are " + names);
}

/// Where the result goes when nobody says: text to the terminal, an artifact beside its model.
static std::string getDefaultOutput(const CompileOptions &options) {
  switch (options.emit) {
  case EmitKind::mlir:
  case EmitKind::llvm:
  case EmitKind::assembly:
  case EmitKind::ptx:
    return "-";
  default:
    break;
  }
  const char *suffix = options.emit == EmitKind::artifact ? ".tenon"
                       : options.emit == EmitKind::object ? ".o"
                       : options.emit == EmitKind::spirv  ? ".spirv"
                                                          : ".so";
  return (llvm::sys::path::stem(options.input) + suffix).str();
}

void tenon::addCompileCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<CompileArguments>();
  CLI::App *command = app.add_subcommand("compile", "compile a model to an artifact");
  addCompileOptions(*command, *arguments);
  command->add_option("-o,--output", arguments->options.output, "file to write");
  command
      ->add_option_function<std::string>(
          "--emit", [arguments](const std::string &text) { setEmitKind(text, arguments->options.emit); },
          "what to write: artifact, mlir, llvm, asm, obj, so, ptx, spirv (a folder)")
      ->type_name("KIND");
  command->add_option("--chip", arguments->options.chip, "GPU that --emit ptx is for: sm_80, sm_90a...")
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
    if (!report->empty() && options.emit != EmitKind::artifact) {
      llvm::errs() << "tenon: error: --report is about an artifact, which --emit does not write here\n";
      status = 2;
      return;
    }
    if ((options.measuresError || options.readInputs) && options.emit != EmitKind::artifact) {
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
