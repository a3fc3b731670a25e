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

/// Adds an option for a positive number of bytes, which may end in K, M or G.
CLI::Option *addBytes(CLI::App &command, const char *name, uint64_t &bytes, const char *description);

/// Adds the options of a compilation to a subcommand; `arguments` must outlive it.
void addCompileOptions(CLI::App &command, CompileArguments &arguments);

/// Adds the options that determine the measured model and the measurement, without its file or outputs.
void addTuneOptions(CLI::App &command, CompileArguments &arguments);

/// Fills `arguments.options` from the texts. On failure prints an error and returns false.
bool resolveCompileOptions(CompileArguments &arguments);

/// Opens the remote caches of a compilation, which are used after the local one in the folder `cache`. Without a local
/// cache they are unavailable, and requesting them is misuse. Returns 0, or the exit code after printing an error.
int openRemotes(CompileArguments &arguments, const std::string &cache);

} // namespace tenon

#endif // TENON_TOOLS_TENON_COMPILEOPTIONS_H
