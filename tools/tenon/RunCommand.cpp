//===- RunCommand.cpp - tenon run -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/CachedCompile.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tenon;

/// tenon-run, which stands beside this program.
static std::string findRunner() {
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findRunner));
  llvm::SmallString<128> beside(llvm::sys::path::parent_path(self));
  llvm::sys::path::append(beside, "tenon-run");
  if (llvm::sys::fs::can_execute(beside))
    return beside.str().str();
  auto onPath = llvm::sys::findProgramByName("tenon-run");
  return onPath ? *onPath : "";
}

static int runModel(CompileOptions &options, const ArtifactRequest *request, const std::string &cache,
                    const std::vector<std::string> &rest) {
  std::string runner = findRunner();
  if (runner.empty()) {
    errors() << "tenon: error: tenon-run is neither beside this program nor on PATH; install it there\n";
    return 4;
  }
  CompiledFile compiled = compileToCache(options, request, cache);
  if (compiled.status != 0)
    return compiled.status;
  std::vector<llvm::StringRef> arguments{runner, compiled.artifact};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  std::string error;
  int status = llvm::sys::ExecuteAndWait(runner, arguments, std::nullopt, {}, 0, 0, &error);
  if (status < 0)
    errors() << "tenon: error: " << runner << ": " << error << '\n';
  return status < 0 ? 70 : status;
}

void tenon::addRunCommand(CLI::App &app, int &status, const std::vector<std::string> &passed) {
  auto arguments = std::make_shared<CompileArguments>();
  CLI::App *command = app.add_subcommand("run", "compile a model, then run it with tenon-run");
  addCompileOptions(*command, *arguments);
  auto isUncached = std::make_shared<bool>(false);
  addRemoteOptions(*command, arguments->remotes);
  command->add_flag("--no-cache", *isUncached, "compile again, and keep nothing; see tenon cache");
  command->allow_extras();
  addExamples(*command, {"tenon run model.onnx --input x=x.npy --output y=y.npy", "tenon run model.onnx --benchmark"},
              "Every other option is tenon-run's; those after -- are, even if the compiler has one of the same name.");
  command->callback([arguments, command, passed, isUncached, &status] {
    if (!resolveCompileOptions(*arguments)) {
      status = 2;
      return;
    }
    std::vector<std::string> rest = command->remaining();
    llvm::append_range(rest, passed);
    std::string cache = *isUncached ? "" : CacheStore::getDefaultFolder();
    status = openRemotes(*arguments, cache);
    if (status)
      return;
    std::optional<ArtifactRequest> request =
        cache.empty() ? std::nullopt : makeArtifactRequest(arguments->options, *command);
    status = runModel(arguments->options, request ? &*request : nullptr, cache, rest);
  });
}
