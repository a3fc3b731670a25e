//===- Main.cpp - the compiler's command line -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "tools/tenon/Commands.h"
#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
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
  tenon::addRunCommand(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // 0 after --help and --version; everything else is wrong usage.
    return app.exit(error) == 0 ? 0 : 2;
  }
  return status;
}
