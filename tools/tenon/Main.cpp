//===- Main.cpp - the compiler's command line -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

/// Lists the commands if the first word is none of them. CLI11's message only says that one is required.
static bool isKnownCommand(const CLI::App &app, int argc, char **argv) {
  if (argc < 2 || argv[1][0] == '-')
    return true;
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  if (llvm::is_contained(names, argv[1]))
    return true;
  tenon::errors() << "tenon: error: unknown command '" << argv[1] << "'" << tenon::suggest(argv[1], names)
                  << "; the commands are " << llvm::join(names, ", ") << '\n';
  return false;
}

/// What is left to print, and whether all of it was.
static int finishOutput(int status) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return status;
  tenon::errors() << "tenon: error: cannot write to standard output: " << llvm::outs().error().message() << '\n';
  llvm::outs().clear_error();
  return 4;
}

/// Removes the arguments after "--" of `tenon run` from the command line: they are tenon-run's.
static std::vector<std::string> takePassed(int &argc, char **argv) {
  if (argc < 2 || llvm::StringRef(argv[1]) != "run")
    return {};
  char **end = argv + argc, **separator = std::find(argv, end, llvm::StringRef("--"));
  std::vector<std::string> passed(separator == end ? end : separator + 1, end);
  argc = static_cast<int>(separator - argv);
  return passed;
}

static int runCommandLine(int argc, char **argv) {
  std::vector<std::string> passed = takePassed(argc, argv);
  CLI::App app{"Tenon compiles neural networks ahead of time", "tenon"};
  app.set_version_flag("--version", "tenon " TENON_VERSION);
  app.require_subcommand(1);
  tenon::setHelpLayout(app);
  int status = 0;
  tenon::addCompileCommand(app, status);
  tenon::addInspectCommand(app, status);
  tenon::addDebugCommand(app, status);
  tenon::addDevicesCommand(app, status);
  tenon::addEmbedCommand(app, status);
  tenon::addGenerateCommand(app, status);
  tenon::addOperatorsCommand(app, status);
  tenon::addPathsCommand(app, status);
  tenon::addPerplexityCommand(app, status);
  tenon::addPlaceCommand(app, status);
  tenon::addRunCommand(app, status, passed);
  tenon::addCacheCommand(app, status);
  tenon::addProfilesCommand(app, status);
  tenon::addTuneCommand(app, status);
  tenon::addTokenizeCommand(app, status);
  tenon::addCompletionCommand(app, status);
  tenon::addExamples(
      app,
      {"tenon compile model.onnx -o model.tenon", "tenon inspect model.tenon", "tenon run model.onnx --input x=x.npy"},
      "'tenon COMMAND --help' describes a command.");
  if (argc < 2) {
    llvm::outs() << app.help();
    return finishOutput(0);
  }
  if (!isKnownCommand(app, argc, argv))
    return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // --help and --version are no errors; everything else is misuse.
    if (error.get_exit_code() == 0)
      return app.exit(error);
    tenon::errors() << "tenon: error: " << tenon::describeUsage(app, error) << '\n';
    return 2;
  }
  return finishOutput(status);
}

/// Returns the exit code of a command line, and handles all exceptions.
static int guardCommandLine(int argc, char **argv) {
  try {
    return runCommandLine(argc, argv);
  } catch (const std::bad_alloc &) {
    tenon::errors() << "tenon: error: there is not enough memory\n";
    return 4;
  } catch (const std::exception &e) {
    tenon::errors() << "tenon: error: internal error: " << e.what() << "; please report it with this command\n";
    return 70;
  }
}

int main(int argc, char **argv) {
  // Misuse is reported as JSON, too, so the option is searched before the command line is parsed.
  bool json = llvm::is_contained(llvm::ArrayRef(argv, argc), llvm::StringRef("--json"));
  if (json)
    tenon::keepErrors();
  int status = guardCommandLine(argc, argv);
  if (json && status != 0) {
    tenon::printKeptErrors(status, llvm::outs());
    // A closed standard output cannot be reported to anybody.
    llvm::outs().flush();
    llvm::outs().clear_error();
  }
  return status;
}
