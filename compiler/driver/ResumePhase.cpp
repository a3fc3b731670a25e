//===- ResumePhase.cpp - where a compilation of IR resumes -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Phases.h"
#include "compiler/errors/CompileError.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/Plan.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Kernel.h"
#include "passes/Unsupported.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

static bool isOfProgram(Operation &op) {
  auto function = dyn_cast<func::FuncOp>(op);
  return isa<plan::ProgramOp>(op) || (function && !function->hasAttr(kKernelAttr));
}

static bool isOfKernels(Operation &op) {
  auto inner = dyn_cast<ModuleOp>(op);
  return inner && isKernelModule(inner);
}

/// Moves the modules that contain an operation for which `isWanted` holds into one module.
static OwningOpRef<ModuleOp> gather(ModuleOp module, llvm::function_ref<bool(Operation &)> isWanted) {
  SmallVector<ModuleOp> found;
  module.walk<WalkOrder::PreOrder>([&](ModuleOp inner) {
    if (llvm::none_of(*inner.getBody(), isWanted))
      return WalkResult::advance();
    found.push_back(inner);
    return WalkResult::skip();
  });
  OwningOpRef<ModuleOp> gathered = ModuleOp::create(module.getLoc());
  for (ModuleOp inner : found) {
    inner->remove();
    gathered->push_back(inner);
  }
  return gathered;
}

/// Lists the names of a target's kernels, which are in its own module or in one module each.
static llvm::StringSet<> listKernels(ModuleOp own) {
  llvm::StringSet<> names;
  own.walk([&](func::FuncOp function) {
    if (function->hasAttr(kKernelAttr))
      names.insert(function.getName());
  });
  own.walk([&](kernel::MergedOp merged) { names.insert(merged.getSymName()); });
  return names;
}

/// Unlike launches of the tenon dialect, launches of plans may name library functions, which an operation's verifier
/// does not know.
static LogicalResult checkLaunches(ModuleOp own, ModuleOp kernels) {
  constexpr StringLiteral kLibraryPrefix = "tenon_";
  llvm::StringSet<> names = listKernels(kernels);
  WalkResult result = own.walk([&](plan::LaunchOp launch) -> WalkResult {
    StringRef name = launch.getKernel();
    if (names.contains(name) || name.starts_with(kLibraryPrefix))
      return WalkResult::advance();
    return emitInvalid(launch.getLoc(), "launches '" + name + "', but the module has no kernel of this name");
  });
  return failure(result.wasInterrupted());
}

static size_t countModules(ModuleOp module) { return llvm::range_size(module.getOps<ModuleOp>()); }

llvm::Error phases::splitIR(Imported &imported, const std::string &input) {
  // What is gathered may be the module itself.
  OwningOpRef<ModuleOp> holder = ModuleOp::create(imported.module->getLoc());
  holder->push_back(imported.module.release());
  imported.kernels = gather(*holder, isOfKernels);
  imported.module = gather(*holder, isOfProgram);
  ModuleOp kernels = imported.stage == Stage::buffers ? *imported.kernels : *imported.module;
  if (countModules(kernels) != countModules(*imported.module))
    return makeError(CompileStatus::invalid, input + ": it has kernels on buffers for " + Twine(countModules(kernels)) +
                                                 " targets and programs for " + Twine(countModules(*imported.module)));
  for (auto [own, ownKernels] : llvm::zip(imported.module->getOps<ModuleOp>(), kernels.getOps<ModuleOp>())) {
    if (own.getName() != ownKernels.getName())
      return makeError(CompileStatus::invalid,
                       input + ": its kernels on buffers are for other targets than its programs");
    if (failed(checkLaunches(own, ownKernels)))
      return makeReportedError(CompileStatus::invalid);
  }
  return llvm::Error::success();
}

/// Rejects options that concern decisions before the stage that the IR has reached.
static llvm::Error checkOptions(const CompileOptions &options, Stage stage) {
  std::pair<const char *, bool> decided[] = {
      {"--specialize", !options.programs.empty()},
      {"--state", !options.states.empty()},
      {"--tune", options.tuneSeconds > 0},
      {"--force and --exclude", !options.pins.empty()},
      {"--l2-cache", options.l2Bytes != 0},
      {"--llc", options.llcBytes != 0},
      {"--keep-results", options.keepsResults && stage > Stage::launches},
  };
  for (auto [option, isGiven] : decided)
    if (isGiven)
      return makeError(CompileStatus::misuse, Twine(option) + ": " + options.input +
                                                  " is IR in which that is decided already; compile the model again");
  return llvm::Error::success();
}

/// Rejects kernels that were made for instructions that the target lacks.
static llvm::Error checkMachine(const Target &target, const Machine &machine, const std::string &input) {
  auto describe = [](const Machine &of) {
    return std::make_tuple(of.vectorBytes, of.vectorRegisters, of.int8Dot, of.amxInt8, of.amxBf16, of.bf16Pairs,
                           of.f16Fma);
  };
  if (describe(target.machine) == describe(machine))
    return llvm::Error::success();
  return makeError(CompileStatus::unsupported,
                   input + ": its kernels are for other vector instructions than the target '" + target.name +
                       "' has here; compile the model again, or the IR where it was made");
}

/// Lists the names of the modules' targets, without duplicates. Empty if no module names one.
static llvm::Expected<std::vector<std::string>> listTargets(ModuleOp modules, const std::string &input) {
  std::vector<std::string> names;
  for (auto own : modules.getOps<ModuleOp>())
    if (own.getName() && own->hasAttr(kMachineAttr)) {
      if (llvm::is_contained(names, *own.getName()))
        return makeError(CompileStatus::invalid, input + ": it holds several modules for the target '" +
                                                     *own.getName() + "'; leave all but one of them out");
      names.push_back(own.getName()->str());
    }
  if (names.size() == countModules(modules) || (names.empty() && countModules(modules) == 1))
    return names;
  return makeError(CompileStatus::invalid,
                   input + ": of several modules each needs the name of its target and '" + kMachineAttr + "'");
}

/// Keeps the modules of the given targets, in this order.
static void pickModules(ModuleOp modules, ArrayRef<Target> targets) {
  SmallVector<ModuleOp> others(modules.getOps<ModuleOp>());
  for (const Target &target : targets) {
    auto own = modules.lookupSymbol<ModuleOp>(target.name);
    assert(own && "each target has a module of its name");
    own->moveBefore(modules.getBody(), modules.getBody()->end());
    llvm::erase(others, own);
  }
  for (ModuleOp own : others)
    own->erase();
}

/// Clones a module without a target for each of the targets.
static llvm::Error nameTargets(Imported &imported, const Setup &setup) {
  if (imported.stage == Stage::buffers && setup.targets.size() > 1)
    return makeError(CompileStatus::misuse,
                     "--target: " + setup.options.input + " has kernels for one target; name no more than that");
  imported.module = splitTargets(*imported.module->getOps<ModuleOp>().begin(), setup.targets);
  if (imported.stage == Stage::buffers)
    (*imported.kernels->getOps<ModuleOp>().begin()).setSymName(setup.targets.front().name);
  return llvm::Error::success();
}

llvm::Error phases::takeTargets(Imported &imported, Setup &setup, const BackendRegistry &backends) {
  const CompileOptions &options = setup.options;
  if (llvm::Error error = checkOptions(options, imported.stage))
    return error;
  llvm::Expected<std::vector<std::string>> names = listTargets(*imported.module, options.input);
  if (!names)
    return names.takeError();
  if (names->empty())
    return nameTargets(imported, setup);
  for (const std::string &wanted : options.targets)
    if (!llvm::is_contained(*names, wanted))
      return makeError(CompileStatus::misuse, "--target " + wanted + ": " + options.input + " is IR for " +
                                                  llvm::join(*names, ", ") +
                                                  "; leave the option out, or compile the model again");
  if (llvm::Error error = resolveTargets(options.targets.empty() ? *names : options.targets, setup, backends))
    return error;
  pickModules(*imported.module, setup.targets);
  if (imported.stage == Stage::buffers)
    pickModules(*imported.kernels, setup.targets);
  for (auto [target, own] : llvm::zip(setup.targets, imported.module->getOps<ModuleOp>())) {
    Machine machine = getMachine(own);
    if (llvm::Error error = checkMachine(target, machine, options.input))
      return error;
    target.machine = machine;
  }
  return llvm::Error::success();
}
