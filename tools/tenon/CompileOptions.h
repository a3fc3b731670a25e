//===- CompileOptions.h - the options of everything that compiles ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_COMPILEOPTIONS_H
#define TENON_TOOLS_TENON_COMPILEOPTIONS_H

#include "compiler/driver/Compile.h"
#include "tools/tenon/RemoteOptions.h"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace tenon {

/// Options as they stand on the command line.
struct CompileArguments {
  CompileOptions options;
  std::vector<std::string> targets, shapes, ranges, specializations;
  std::string errorInputs;                   ///< a folder
  std::string tune;                          ///< seconds; empty where it is not asked for
  std::vector<std::string> forced, excluded; ///< paths, as PathPin has them
  std::string profiles;                      ///< a file or "none"; empty where nobody says
  RemoteArguments remotes;
};

/// An option for a number of bytes above 0, which may end in K, M or G.
CLI::Option *addBytes(CLI::App &command, const char *name, uint64_t &bytes, const char *description);

/// Adds them to a subcommand; `arguments` must live as long as that.
void addCompileOptions(CLI::App &command, CompileArguments &arguments);

/// Adds those that say which model is measured, and how: not its file, nor what a compilation writes.
void addTuneOptions(CLI::App &command, CompileArguments &arguments);

/// Fills `arguments.options` from the texts. Says what is wrong on standard error, and returns false.
bool resolveCompileOptions(CompileArguments &arguments);

/// Prepares the remote caches of a compilation, which come behind this machine's in the folder `cache`. Without one
/// there are none, and asking for them is wrong usage. Returns 0, or the exit code of what it said on standard error.
int openRemotes(CompileArguments &arguments, const std::string &cache);

} // namespace tenon

#endif // TENON_TOOLS_TENON_COMPILEOPTIONS_H
