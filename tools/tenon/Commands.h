//===- Commands.h - one function a subcommand -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_COMMANDS_H
#define TENON_TOOLS_TENON_COMMANDS_H

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tenon {

/// These functions add their subcommands to `app`; a subcommand runs when it is parsed, and sets the program's exit
/// code.
void addCacheCommand(CLI::App &app, int &status);
void addCompileCommand(CLI::App &app, int &status);
void addCompletionCommand(CLI::App &app, int &status);
/// Its commands have subcommands of their own.
void addDebugCommand(CLI::App &app, int &status);
void addEmbedCommand(CLI::App &app, int &status);
void addGenerateCommand(CLI::App &app, int &status);
void addInspectCommand(CLI::App &app, int &status);
void addDevicesCommand(CLI::App &app, int &status);
void addOperatorsCommand(CLI::App &app, int &status);
void addPathsCommand(CLI::App &app, int &status);
void addPerplexityCommand(CLI::App &app, int &status);
void addPlaceCommand(CLI::App &app, int &status);
void addProfilesCommand(CLI::App &app, int &status);
void addTokenizeCommand(CLI::App &app, int &status);
void addTuneCommand(CLI::App &app, int &status);
/// `passed` has the arguments for tenon-run, which are not interpreted.
void addRunCommand(CLI::App &app, int &status, const std::vector<std::string> &passed);

} // namespace tenon

#endif // TENON_TOOLS_TENON_COMMANDS_H
