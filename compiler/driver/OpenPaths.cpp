//===- OpenPaths.cpp - what is known before paths are chosen ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Choices.h"
#include "compiler/driver/ProfilesLock.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Diagnostics.h"
#include "llvm/Support/FileSystem.h"

using namespace tenon;
using namespace tenon::phases;

/// A file of locked records decides where there is one. Who tunes writes another.
static bool isLockRead(const CompileOptions &options) {
  return !options.profilesLock.empty() && options.tuneSeconds == 0 && llvm::sys::fs::exists(options.profilesLock);
}

/// Takes the user's demands into account.
static llvm::Error setPins(const Setup &setup, PathChoice &paths) {
  if (setup.options.pins.empty())
    return llvm::Error::success();
  if (!setup.backend->getCapabilities().hasPaths)
    return makeError(CompileStatus::misuse, "--force and --exclude: kernels for GPUs have no paths");
  paths.pins = std::make_shared<PathPins>(setup.options.pins);
  return llvm::Error::success();
}

/// Takes records of real runs into account, if there are any or some are to be made.
static llvm::Error openProfiles(const Setup &setup, PathChoice &paths, PhaseRunner &runner) {
  const CompileOptions &options = setup.options;
  bool isTuning = options.tuneSeconds > 0;
  if (!setup.backend->getCapabilities().hasPaths)
    return options.profilesLock.empty()
               ? llvm::Error::success()
               : makeError(CompileStatus::misuse, "--profiles-lock: kernels for GPUs are not chosen by records");
  if (isLockRead(options)) {
    llvm::Expected<std::vector<ProfileRecord>> locked = readProfilesLock(options.profilesLock);
    if (!locked)
      return locked.takeError();
    if (options.import.onInputFile)
      options.import.onInputFile(options.profilesLock, 0);
    paths.times = std::make_shared<RecordedTimes>(setup.targets, std::move(*locked));
    return llvm::Error::success();
  }
  if (options.profiles.empty() && options.profilesLock.empty() && !isTuning)
    return llvm::Error::success();
  std::unique_ptr<ProfileStore> store;
  if (!options.profiles.empty()) {
    llvm::Expected<std::unique_ptr<ProfileStore>> opened =
        ProfileStore::open(options.profiles, isTuning ? ProfileStore::Access::write : ProfileStore::Access::read);
    if (!opened && options.needsProfiles)
      return opened.takeError();
    if (!opened) {
      runner.getDiagnostics().warn("records of real runs do not count: " + llvm::toString(opened.takeError()));
      return llvm::Error::success();
    }
    store = std::move(*opened);
  }
  paths.times = std::make_shared<RecordedTimes>(setup.targets, std::move(store));
  return llvm::Error::success();
}

llvm::Expected<PathChoice> phases::openPaths(const Setup &setup, PhaseRunner &runner) {
  PathChoice paths;
  paths.budget.each = setup.options.skipsError ? 0 : getFirstBudget(setup.options.tolerance);
  if (llvm::Error error = setPins(setup, paths))
    return error;
  if (llvm::Error error = openProfiles(setup, paths, runner))
    return error;
  return paths;
}
