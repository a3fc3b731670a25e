//===- CodePhases.cpp - a plan to code -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "compiler/driver/Phases.h"
#include "compiler/driver/WeightPlaces.h"
#include "compiler/errors/CompileError.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Kernel.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

/// Lists the kernels that are parts of merged ones, and that nothing launches by themselves.
static llvm::StringSet<> listParts(ModuleOp module) {
  llvm::StringSet<> parts;
  for (auto merged : module.getOps<kernel::MergedOp>())
    for (kernel::PartAttr part : merged.listParts())
      parts.insert(part.getKernel().getValue());
  module.walk([&](plan::LaunchOp launch) { parts.erase(launch.getKernel()); });
  return parts;
}

OwningOpRef<ModuleOp> phases::isolateKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> kernels(ModuleOp::create(module.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  // A merged kernel has copies of its parts.
  llvm::StringSet<> parts = listParts(module);
  for (auto merged : llvm::make_early_inc_range(module.getOps<kernel::MergedOp>())) {
    auto own = ModuleOp::create(builder, merged.getLoc(), merged.getSymName());
    llvm::StringSet<> copied;
    for (kernel::PartAttr part : merged.listParts())
      if (copied.insert(part.getKernel().getValue()).second)
        own.push_back(merged.lookUp(part).clone());
    merged->moveBefore(own.getBody(), own.getBody()->end());
  }
  for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!kernel->hasAttr(kKernelAttr))
      continue;
    if (parts.contains(kernel.getName())) {
      kernel.erase();
      continue;
    }
    auto own = ModuleOp::create(builder, kernel.getLoc(), kernel.getName());
    kernel->moveBefore(own.getBody(), own.getBody()->end());
  }
  return kernels;
}

llvm::Expected<Kernels> phases::lowerKernels(Plan &plan, const Setup &setup, PhaseRunner &runner) {
  Kernels kernels{ModuleOp::create(plan.modules->getLoc()), {}};
  for (auto [target, own] : llvm::zip(setup.targets, plan.modules->getOps<ModuleOp>())) {
    OwningOpRef<ModuleOp> isolated = isolateKernels(own);
    isolated->setSymName(own.getName());
    if (setup.kernels)
      kernels.objects.push_back(setup.kernels->take(*isolated, target, CodeEffort::most, listNodes(own)));
    kernels.modules->push_back(isolated.release());
  }
  if (llvm::Error error = runner.run("kernels", *kernels.modules, [](OpPassManager &pm) {
        buildBufferPipeline(pm.nest<ModuleOp>().nest<ModuleOp>());
      }))
    return error;
  return kernels;
}

/// Generates the code of one target's kernels in a format of `backend`.
static llvm::Expected<std::vector<CodeFile>> emit(const Backend &backend, StringRef format, const Target &target,
                                                  ModuleOp own, const Variant &variant, KernelObjects *objects,
                                                  const Setup &setup, PhaseRunner &runner) {
  auto runPasses = [&](StringRef phase, ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
    return runner.run(phase, module, build);
  };
  llvm::Expected<std::vector<CodeFile>> files =
      backend.emit(own, {target, format, variant.kernelNames, setup.settings, runPasses, CodeEffort::most, objects});
  if (!files)
    return prefixError(files.takeError(), setup.options.input + ": ");
  return files;
}

llvm::Expected<Code> phases::generateCode(Kernels &kernels, const Plan &plan, const Setup &setup, PhaseRunner &runner) {
  Code code;
  size_t index = 0;
  for (auto [target, own, variant] : llvm::zip(setup.targets, kernels.modules->getOps<ModuleOp>(), plan.variants)) {
    KernelObjects *objects = kernels.objects.empty() ? nullptr : &kernels.objects[index++];
    llvm::Expected<std::vector<CodeFile>> files =
        emit(*target.backend, target.backend->getCapabilities().artifactFormat, target, own, variant, objects, setup,
             runner);
    if (!files)
      return files.takeError();
    assert(files->size() == 1 && "the code section of an artifact is one file");
    code.sections.push_back(std::move(files->front().bytes));
  }
  if (setup.kernels)
    setup.kernels->commit();
  return code;
}

ArtifactParts phases::assemble(const Plan &plan, const Code &code, const Setup &setup, uint64_t sourceHash) {
  assert(plan.variants.size() == setup.targets.size() && code.sections.size() == setup.targets.size() &&
         "each target has plans and code");
  ArtifactParts parts;
  parts.weights = &plan.weights;
  parts.sourceHash = sourceHash;
  for (auto [target, variant, section] : llvm::zip(setup.targets, plan.variants, code.sections)) {
    parts.variants.push_back({target.getSectionTarget(), {}, section});
    for (const SerializedPlan &serialized : variant.plans)
      parts.variants.back().plans.push_back(serialized.bytes);
  }
  return parts;
}

llvm::Error phases::writeFile(const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> write) {
  if (llvm::Error error = writeOutputFile(path, write))
    return makeError(CompileStatus::resources, "cannot write " + (path == "-" ? "to standard output" : path) + ": " +
                                                   llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Error phases::writeIR(const Plan &plan, const Kernels &kernels, const Setup &setup) {
  const std::string &output = setup.options.output;
  std::string folder = llvm::sys::path::parent_path(output).str();
  WeightPlaces places = output == "-" ? WeightPlaces(setup.options.input, !llvm::sys::Process::StandardOutIsDisplayed())
                                      : WeightPlaces(setup.options.input, folder.empty() ? "." : folder,
                                                     llvm::sys::path::filename(output).str() + ".weights");
  return writeFile(output, [&](llvm::raw_ostream &os) {
    ReadableIR readable([&](ArrayRef<char> bytes) { return places.locate(bytes); });
    readable.print({plan.modules.get(), kernels.modules.get()}, os);
  });
}

llvm::Error phases::writeCode(Kernels &kernels, const Plan &plan, const Setup &setup, PhaseRunner &runner) {
  assert(!kernels.modules->getOps<ModuleOp>().empty() && "each target has a module of kernels");
  ModuleOp own = *kernels.modules->getOps<ModuleOp>().begin();
  // A backend without an artifact format does not run its passes through the runner, so the phase begins here.
  if (setup.backend->getCapabilities().artifactFormat.empty())
    if (llvm::Error error = runner.begin("code", own))
      return error;
  llvm::Expected<std::vector<CodeFile>> files =
      emit(*setup.backend, setup.format, setup.targets.front(), own, plan.variants.front(), nullptr, setup, runner);
  if (!files)
    return files.takeError();
  const std::string &output = setup.options.output;
  if (setup.isFolder)
    if (std::error_code code = llvm::sys::fs::create_directories(output))
      return makeError(CompileStatus::resources, "cannot create " + output + ": " + code.message());
  for (const CodeFile &file : *files)
    if (llvm::Error error = writeFile(setup.isFolder ? output + "/" + file.name : output,
                                      [&](llvm::raw_ostream &os) { os << file.bytes; }))
      return error;
  return llvm::Error::success();
}
