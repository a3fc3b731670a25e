//===- CompileCommand.cpp - tenon compile ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "compiler/driver/PassList.h"
#include "compiler/errors/CompileError.h"
#include "tools/tenon/CachedCompile.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Progress.h"
#include "tools/tenon/Usage.h"
#include "llvm/Support/FileSystem.h"
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
  throw CLI::ValidationError("--emit", "expected one of " + names + ", got '" + text + "'");
}

static std::string describeOutputs() {
  std::string text = "what to write: ";
  for (auto [i, output] : llvm::enumerate(listOutputs()))
    text += (i ? ", " : "") + output.name + (output.isFolder ? " (a folder)" : "");
  return text;
}

/// Returns the default output: standard output for text, and a file with the model's name in the current folder for an
/// artifact. If only IR is dumped, no artifact is written.
static std::string getDefaultOutput(const CompileOptions &options) {
  if (options.emit == kArtifactOutput && options.report.empty() &&
      (!options.dumpDir.empty() || !options.dumpAfter.empty()))
    return "";
  for (const CodeFormat &output : listOutputs())
    if (output.name == options.emit && !output.suffix.empty())
      return (llvm::sys::path::stem(options.input) + output.suffix).str();
  return "-";
}

namespace {
/// Options that are handled outside of the compiler.
struct CommandArguments {
  CompileArguments compile;
  bool json = false, quiet = false, isUncached = false;
};
} // namespace

/// Fails if options conflict, or if the output cannot be written.
static llvm::Error checkArguments(const CommandArguments &arguments) {
  const CompileOptions &options = arguments.compile.options;
  bool makesArtifact = options.emit == kArtifactOutput;
  if (!options.report.empty() && !makesArtifact)
    return makeError(CompileStatus::misuse, "--report needs an artifact, which --emit does not write here");
  if ((options.measuresError || options.readInputs) && !makesArtifact)
    return makeError(CompileStatus::misuse,
                     "--measure-error and --error-inputs need an artifact, which --emit does not write here");
  if (options.leavesWeights && !makesArtifact)
    return makeError(CompileStatus::misuse, "--external-weights needs an artifact, which --emit does not write here");
  if (options.tuneSeconds > 0 && !makesArtifact)
    return makeError(CompileStatus::misuse, "--tune needs an artifact, which --emit does not write here");
  for (auto [name, isGiven] : {std::pair("--json", arguments.json),
                               {"--report", !options.report.empty()},
                               {"--depfile", !options.depfile.empty()}})
    if (options.output == "-" && isGiven)
      return makeError(CompileStatus::misuse, llvm::Twine(name) + " needs a file to write to: pass --output FILE");
  if (options.output.empty() || options.output == "-")
    return llvm::Error::success();
  bool isFolder =
      llvm::any_of(listOutputs(), [&](const CodeFormat &o) { return o.name == options.emit && o.isFolder; });
  if (!isFolder && llvm::sys::fs::is_directory(options.output))
    return makeError(CompileStatus::misuse, "--output: '" + options.output + "' is a folder");
  llvm::StringRef folder = llvm::sys::path::parent_path(options.output);
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return makeError(CompileStatus::misuse, "--output: there is no folder '" + folder.str() + "'");
  return llvm::Error::success();
}

static int listPasses() {
  for (const std::string &name : listPassNames(getBackendRegistry()))
    llvm::outs() << name << '\n';
  return 0;
}

static void printDumps(const std::string &folder) {
  std::error_code error;
  size_t count = 0;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    count += llvm::sys::path::extension(it->path()) == ".mlir";
  llvm::outs() << folder << ": " << count << " files of IR, and index.html to compare them\n";
}

static int compile(CommandArguments &arguments, const CLI::App &command) {
  CompileOptions &options = arguments.compile.options;
  if (options.dumpAfter == "list")
    return listPasses();
  if (!resolveCompileOptions(arguments.compile))
    return 2;
  if (options.output.empty())
    options.output = getDefaultOutput(options);
  if (llvm::Error error = checkArguments(arguments))
    return finish(std::move(error));
  std::string cache = arguments.isUncached ? "" : CacheStore::getDefaultFolder();
  if (int status = openRemotes(arguments.compile, cache))
    return status;
  std::optional<ArtifactRequest> request =
      cache.empty() || options.output.empty() ? std::nullopt : makeArtifactRequest(options, command);
  CompileOutcome outcome = compileToFile(options, request ? &*request : nullptr, cache);
  if (outcome.status != 0 || arguments.quiet)
    return outcome.status;
  printResult(options, outcome.origin, outcome.seconds, arguments.json);
  if (!options.dumpDir.empty() && !arguments.json)
    printDumps(options.dumpDir);
  if (arguments.compile.targets.empty() && !arguments.json && options.emit == kArtifactOutput &&
      !options.output.empty())
    noteHostTarget(options);
  return 0;
}

void tenon::addCompileCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<CommandArguments>();
  CompileOptions &options = arguments->compile.options;
  CLI::App *command = app.add_subcommand("compile", "compile a model to an artifact");
  addCompileOptions(*command, arguments->compile);
  command->add_option("-o,--output", options.output, "file to write; default: the model's name in the current folder")
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--emit",
          [&options](const std::string &text) {
            checkOutput(text);
            options.emit = text;
          },
          describeOutputs())
      ->type_name("KIND");
  options.backendSettings = getBackendRegistry().getDefaultSettings();
  for (const std::unique_ptr<Backend> &backend : getBackendRegistry().getBackends())
    for (const BackendOption &option : backend->getOptions())
      command->add_option(option.name, options.backendSettings[option.name], option.description)
          ->capture_default_str()
          ->type_name("NAME")
          ->group("Targets");
  command
      ->add_option("--report", options.report,
                   "also write a page about the artifact and its compilation, with graphs and a memory map")
      ->type_name("FILE.html");
  command
      ->add_option("--depfile", options.depfile,
                   "also write a rule for make and ninja: the output, and the files that were read")
      ->type_name("FILE");
  command->add_flag(
      "--external-weights", options.leavesWeights,
      "leave large weights that kernels read as they are in the files of the model, where tenon-run looks for "
      "them: in the folder of the artifact, or that of --weights-dir");
  addRemoteOptions(*command, arguments->compile.remotes);
  command->add_flag("--no-cache", arguments->isUncached,
                    "compile again, kernels included, and keep nothing; see tenon cache");
  command->add_flag("--json", arguments->json, "say what was written as JSON");
  command->add_flag("-q,--quiet", arguments->quiet, "say nothing but errors and warnings");
  addExamples(*command, {"tenon compile model.onnx -o model.tenon",
                         "tenon compile model.onnx --target x86-64-v3 --target aarch64",
                         "tenon compile model.onnx --shape x=1x3xHxW --range H=32..640 --specialize H=32,224,640"});
  command->callback([arguments, command, &status] { status = compile(*arguments, *command); });
}
