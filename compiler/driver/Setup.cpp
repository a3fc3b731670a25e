//===- Setup.cpp - options of a compilation, checked ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/PassList.h"
#include "compiler/driver/Phases.h"
#include "compiler/driver/SpilledWeights.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/WeightReferences.h"
#include "compiler/pipeline/DumpIndex.h"
#include "compiler/pipeline/PassNames.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/format/Layout.h"
#include "runtime/plugin/Plugins.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

DialectRegistry phases::makeRegistry(const CompileOptions &options, const BackendRegistry &backends) {
  DialectRegistry registry;
  registerDialects(registry);
  backends.registerDialects(registry);
  registerWeightReferences(registry, options.import.onInputFile);
  // The output's file system has room for weights, while temporary files may be in memory.
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(options.output));
  if (options.output.empty() || options.output == "-")
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/false, folder);
  registerSpilledWeights(registry, folder.empty() ? "." : folder.str().str(), options.weightBudget,
                         options.onWeightBytes);
  return registry;
}

static llvm::Error loadPlugins(const CompileOptions &options) {
  for (const std::string &plugin : options.import.plugins)
    if (rt::Status status = rt::addPlugin(plugin.c_str()); status.failed())
      return makeError(CompileStatus::unsupported, "--plugin: " + Twine(status.message()));
  return llvm::Error::success();
}

std::vector<std::string> tenon::listPassNames(const BackendRegistry &backends) {
  std::vector<std::string> names = getPassNames([&](OpPassManager &pm) {
    for (const std::unique_ptr<Backend> &backend : backends.getBackends())
      if (!backend->getCapabilities().artifactFormat.empty())
        backend->buildPipeline(pm, Target());
  });
  names.insert(names.begin(), kImportDump);
  return names;
}

/// True if a file is named like a dump: `0012-tenon-fuse.mlir`.
static bool isDump(StringRef name) {
  bool isNumbered = name.size() > 5 && llvm::all_of(name.take_front(4), llvm::isDigit) && name[4] == '-';
  return isNumbered && name.ends_with(".mlir");
}

/// Deletes the dumps of an earlier compilation. A folder with other files is rejected: they may be valuable, and old
/// dumps among new ones would be misleading. Auxiliary files beside dumps are deleted if there are dumps.
static llvm::Error clearDumps(const std::string &folder) {
  std::error_code error;
  std::vector<std::string> files;
  std::string foreign;
  bool hasDumps = false;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = llvm::sys::path::filename(it->path()).str();
    hasDumps |= isDump(name);
    if (!isDump(name) && (foreign.empty() || foreign == kDumpIndex || foreign == kDumpedWeights))
      foreign = name;
    files.push_back(it->path());
  }
  bool isOurs = hasDumps && (foreign == kDumpIndex || foreign == kDumpedWeights);
  if (!foreign.empty() && !isOurs)
    return makeError(CompileStatus::misuse, "--dump-ir: the folder '" + folder + "' holds other files, such as '" +
                                                foreign + "'; name one that is empty or does not exist");
  for (const std::string &file : files)
    if (std::error_code code = llvm::sys::fs::remove(file))
      return makeError(CompileStatus::resources, "cannot remove " + file + ": " + code.message());
  return llvm::Error::success();
}

/// Checks that the named passes are among those of the backends that generate code for artifacts.
static llvm::Error checkDumps(const CompileOptions &options, const BackendRegistry &backends) {
  if (!options.dumpAfter.empty()) {
    std::vector<std::string> names = listPassNames(backends);
    if (!llvm::is_contained(names, options.dumpAfter))
      return makeError(CompileStatus::misuse, "--dump-after: no pass '" + options.dumpAfter + "'; the closest are " +
                                                  llvm::join(getClosest(options.dumpAfter, names), ", "));
  }
  if (options.dumpDir.empty())
    return llvm::Error::success();
  if (std::error_code code = llvm::sys::fs::create_directories(options.dumpDir))
    return makeError(CompileStatus::resources, "cannot create " + options.dumpDir + ": " + code.message());
  return clearDumps(options.dumpDir);
}

/// Rejects targets that would never be picked. What the host target supports is unknown beforehand, so a named target
/// may be for the same processors; of the two, the first one is picked.
static llvm::Error checkTargets(const CompileOptions &options, ArrayRef<Target> targets) {
  if (targets.size() > 1 && options.emit != kArtifactOutput && options.emit != kIROutput)
    return makeError(CompileStatus::misuse, "--target: only an artifact holds code for several processors; name one");
  for (auto [i, target] : llvm::enumerate(targets))
    for (const Target &before : targets.take_front(i)) {
      if (before.name == target.name)
        return makeError(CompileStatus::misuse, "--target " + target.name + " is given twice");
      bool hasHost = llvm::is_contained({before.name, target.name}, kHostTarget);
      if (before.needed == target.needed && !hasHost)
        return makeError(CompileStatus::misuse, "--target: '" + before.name + "' and '" + target.name +
                                                    "' are for the same processors; name one of them");
    }
  return llvm::Error::success();
}

static void setCaches(const CompileOptions &options, Machine &machine) {
  if (options.l2Bytes)
    machine.l2Bytes = options.l2Bytes;
  if (options.llcBytes)
    machine.llcBytes = options.llcBytes;
}

llvm::Error phases::resolveTargets(ArrayRef<std::string> names, Setup &setup, const BackendRegistry &backends) {
  const CompileOptions &options = setup.options;
  setup.targets.clear();
  for (const std::string &name : names) {
    std::optional<Target> target = backends.getTarget(name);
    if (!target)
      return makeError(CompileStatus::unsupported,
                       "no target '" + name + "'; known are " + llvm::join(backends.getTargetNames(), ", "));
    if (target->getSectionTarget().size() >= sizeof(fmt::Section::target))
      return makeError(CompileStatus::fault, "the features of target '" + name + "' do not fit into an artifact");
    setCaches(options, target->machine);
    setup.targets.push_back(std::move(*target));
  }
  if (llvm::Error error = checkTargets(options, setup.targets))
    return error;
  for (const std::unique_ptr<Backend> &backend : backends.getBackends())
    backend->unifyLayouts(setup.targets);
  // The target that requires the most features comes first, because the runtime picks the first one that the processor
  // supports.
  llvm::stable_sort(setup.targets, [](const Target &a, const Target &b) {
    return StringRef(a.needed).count(',') > StringRef(b.needed).count(',');
  });
  if (setup.format.empty())
    setup.backend = setup.targets.front().backend;
  return llvm::Error::success();
}

llvm::Expected<Setup> phases::setUp(const CompileOptions &options, const BackendRegistry &backends) {
  if (options.keepsResults && (!options.programs.empty() || options.targets.size() > 1))
    return makeError(CompileStatus::misuse, "--keep-results is for one program: it goes with neither --specialize nor "
                                            "several targets, whose kernels differ");
  if (llvm::Error error = loadPlugins(options))
    return error;
  if (llvm::Error error = checkDumps(options, backends))
    return error;
  Setup setup{options, {}, nullptr, "", false, false, options.backendSettings, nullptr};
  for (auto &[name, value] : backends.getDefaultSettings())
    setup.settings.try_emplace(name, value);
  if (llvm::Error error = resolveTargets(options.getTargets(), setup, backends))
    return error;
  setup.makesArtifact = options.emit == kArtifactOutput;
  if (setup.makesArtifact || options.emit == kIROutput)
    return setup;
  auto [backend, format] = backends.findFormat(options.emit);
  if (!backend)
    return makeError(CompileStatus::misuse, "no output '" + options.emit + "'");
  setup.backend = backend;
  if (std::optional<Target> target = backend->getFormatTarget(setup.settings)) {
    if (options.targets != CompileOptions().targets)
      return makeError(CompileStatus::misuse,
                       "--target is for processors, and --emit " + options.emit + " for GPUs: leave it out");
    setup.targets = {std::move(*target)};
    setCaches(options, setup.targets.front().machine);
  }
  setup.format = format->name;
  setup.isFolder = format->isFolder;
  return setup;
}
