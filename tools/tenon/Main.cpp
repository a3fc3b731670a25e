//===- Main.cpp - the compiler's command line -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Commands.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

/// Says which subcommands there are, where the first word is none of them. CLI11 only says that it wants one.
static bool isKnownCommand(const CLI::App &app, int argc, char **argv) {
  if (argc < 2 || argv[1][0] == '-')
    return true;
  std::string names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    if (command->get_name() == argv[1])
      return true;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  llvm::errs() << "tenon: error: no subcommand '" << argv[1] << "'; there are " << names << '\n';
  return false;
}

/// What is left to print, and whether all of it was.
static int finishOutput(int status) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return status;
  llvm::errs() << "tenon: error: cannot write to standard output: " << llvm::outs().error().message() << '\n';
  llvm::outs().clear_error();
  return 4;
}

static int runCommandLine(int argc, char **argv) {
  CLI::App app{"Tenon compiles neural networks ahead of time", "tenon"};
  app.set_version_flag("--version", "tenon " TENON_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App *, const CLI::Error &error) {
    return std::string("tenon: error: ") + error.what() + "; see 'tenon --help'\n";
  });
  int status = 0;
  tenon::addCompileCommand(app, status);
  tenon::addInspectCommand(app, status);
  tenon::addDevicesCommand(app, status);
  tenon::addOperatorsCommand(app, status);
  tenon::addPlaceCommand(app, status);
  tenon::addRunCommand(app, status);
  if (!isKnownCommand(app, argc, argv))
    return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // 0 after --help and --version; everything else is wrong usage.
    return app.exit(error) == 0 ? 0 : 2;
  }
  return finishOutput(status);
}

int main(int argc, char **argv) {
  try {
    return runCommandLine(argc, argv);
  } catch (const std::bad_alloc &) {
    llvm::errs() << "tenon: error: there is not enough memory\n";
    return 4;
  } catch (const std::exception &e) {
    llvm::errs() << "tenon: error: a fault of Tenon's: " << e.what() << "; please report it with this command\n";
    return 70;
  }
}
