//===- RunCommand.cpp - tenon run -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "compiler/driver/ArtifactCache.h"
#include "compiler/driver/Depfile.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Progress.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tenon;

/// Bytes that the cache may have after a run.
static constexpr uint64_t kCacheLimit = uint64_t(10) << 30;

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

/// All that an artifact depends on, but the contents of files: the program that compiles, the options as they were
/// parsed, and the machines that the targets stand for.
static std::string getRequest(const CompileOptions &options, const CLI::App &command) {
  std::string request;
  llvm::raw_string_ostream os(request);
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findRunner));
  llvm::sys::fs::file_status program;
  if (!llvm::sys::fs::status(self, program))
    os << self << ' ' << program.getSize() << ' ' << program.getLastModificationTime().time_since_epoch().count();
  llvm::SmallString<128> model(options.input);
  std::error_code ignored = llvm::sys::fs::make_absolute(model);
  (void)ignored;
  os << "\nLLVM " LLVM_VERSION_STRING "\n" << model << '\n' << command.config_to_str(/*default_also=*/true) << '\n';
  for (const std::string &name : options.getTargets())
    if (std::optional<Target> target = getBackendRegistry().getTarget(name)) {
      os << target->name << ' ' << target->triple << ' ' << target->cpu << ' ' << target->features;
      for (auto [figure, value] : listFigures(target->machine))
        os << ' ' << figure << '=' << value;
      os << '\n';
    }
  // Records of real runs decide as well.
  llvm::sys::fs::file_status records;
  for (const char *suffix : {"", "-wal"})
    if (!options.profiles.empty() && !llvm::sys::fs::status(options.profiles + suffix, records))
      os << options.profiles << ' ' << records.getSize() << ' '
         << records.getLastModificationTime().time_since_epoch().count() << '\n';
  // Which files a folder has decides which of them are read.
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(options.input, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path());
  llvm::sort(names);
  for (const std::string &name : names)
    os << name << '\n';
  return request;
}

namespace {
/// The artifact to run: from the cache, put there, or a temporary file.
struct Compiled {
  int status = 0;
  std::string artifact;
  std::optional<llvm::FileRemover> remover;
};
} // namespace

static int compileTo(CompileOptions &options, const std::string &output) {
  options.output = output;
  Progress progress(options);
  return static_cast<int>(compileSupervised(options, errors()));
}

static void compileTemporary(CompileOptions &options, Compiled &compiled) {
  llvm::SmallString<128> file;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("tenon", "tenon", file)) {
    errors() << "tenon: error: cannot create a temporary file: " << error.message() << '\n';
    compiled.status = 4;
    return;
  }
  compiled.remover.emplace(file);
  compiled.artifact = file.str().str();
  compiled.status = compileTo(options, compiled.artifact);
}

/// Compiles into the cache, or finds what an earlier run has put there. Where the cache cannot be written, the artifact
/// is a temporary file.
static void compileCached(CompileOptions &options, llvm::StringRef request, const ArtifactCache &cache,
                          Compiled &compiled) {
  compiled.artifact = cache.find(request);
  if (!compiled.artifact.empty())
    return;
  auto begin = std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  std::string made = cache.reserve();
  if (made.empty())
    return compileTemporary(options, compiled);
  compiled.remover.emplace(made);
  options.depfile = made + ".d";
  llvm::FileRemover depfile(options.depfile);
  compiled.artifact = made;
  compiled.status = compileTo(options, made);
  auto rule = llvm::MemoryBuffer::getFile(options.depfile);
  if (compiled.status != 0 || !rule)
    return;
  std::string place = cache.store(request, made, parseDepfile((*rule)->getBuffer()), begin);
  if (place.empty())
    return;
  compiled.artifact = place;
  cache.trim(kCacheLimit);
}

static int runModel(CompileOptions &options, const ArtifactCache &cache, llvm::StringRef request,
                    const std::vector<std::string> &rest) {
  std::string runner = findRunner();
  if (runner.empty()) {
    errors() << "tenon: error: tenon-run is neither beside this program nor on PATH; install it there\n";
    return 4;
  }
  Compiled compiled;
  if (request.empty())
    compileTemporary(options, compiled);
  else
    compileCached(options, request, cache, compiled);
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
    const CompileOptions &options = arguments->options;
    // Who wants to look at the compilation wants one.
    bool isLookedAt = !options.dumpDir.empty() || !options.dumpAfter.empty() || options.timing;
    bool isCached = !*isUncached && !isLookedAt && !options.readInputs;
    ArtifactCache cache(ArtifactCache::getDefaultFolder());
    status = runModel(arguments->options, cache, isCached ? getRequest(options, *command) : "", rest);
  });
}
