//===- PlanPhase.cpp - launches to a plan, within a limit ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Phases.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/ExternalFiles.h"
#include "compiler/pipeline/Diagnostics.h"
#include "compiler/pipeline/PlanSearch.h"
#include "compiler/report/MemoryLimit.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/Plan.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Kernel.h"
#include "passes/kernel/schedules/KernelRegion.h"
#include "runtime/format/Layout.h"
#include "runtime/plan/ResidentWeights.h"
#include "runtime/plan/Verify.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

/// Returns {kernel: {"path": name, "cycles": {name: number, ...}, "nanoseconds": {name: number, ...}, "region": text},
/// ...}; the last two only if records of real runs are used.
static nlohmann::json listPaths(ModuleOp own) {
  nlohmann::json kernels = nlohmann::json::object();
  own.walk([&](func::FuncOp kernel) {
    auto path = kernel->getAttrOfType<StringAttr>(kPathAttr);
    auto cycles = kernel->getAttrOfType<DictionaryAttr>(kPathsAttr);
    if (!path || !cycles)
      return;
    nlohmann::json &entry = kernels[kernel.getName().str()];
    entry["path"] = path.str();
    for (NamedAttribute estimate : cycles)
      entry["cycles"][estimate.getName().str()] = cast<IntegerAttr>(estimate.getValue()).getInt();
    if (auto times = kernel->getAttrOfType<DictionaryAttr>(kPathTimesAttr))
      for (NamedAttribute time : times)
        entry["nanoseconds"][time.getName().str()] = cast<IntegerAttr>(time.getValue()).getInt();
    if (auto region = kernel->getAttrOfType<StringAttr>(kRegionAttr))
      entry["region"] = region.str();
  });
  return kernels;
}

/// Gives a merged kernel the entry of its first part that has one.
static void addMergedPaths(ModuleOp own, nlohmann::json &kernels) {
  for (auto merged : own.getOps<kernel::MergedOp>())
    for (kernel::PartAttr part : merged.listParts())
      if (auto it = kernels.find(part.getKernel().getValue().str()); it != kernels.end()) {
        nlohmann::json entry = *it;
        kernels.emplace(merged.getSymName().str(), std::move(entry));
      }
}

static std::map<std::string, std::string> listServed(ModuleOp own) {
  std::map<std::string, std::string> served;
  own.walk([&](func::FuncOp kernel) {
    if (auto region = kernel->getAttrOfType<StringAttr>(kServedRegionAttr))
      served.emplace(kernel.getName(), region.getValue());
  });
  return served;
}

/// Adds the plans of one target's module to `variant`, and their weights to `weights`.
static llvm::Error serialize(ModuleOp own, ModuleOp kernels, const Setup &setup, PhaseRunner &runner, Variant &variant,
                             WeightSection &weights) {
  variant.paths = listPaths(kernels);
  kernels.walk([&](ModuleOp module) { addMergedPaths(module, variant.paths); });
  variant.served = listServed(kernels);
  auto programs = own.getOps<plan::ProgramOp>();
  if (programs.empty())
    return makeError(CompileStatus::invalid, setup.options.input + ": has no public function to compile");
  llvm::StringSet<> known;
  for (plan::ProgramOp program : programs) {
    FailureOr<SerializedPlan> serialized =
        serializePlan(program, llvm::sys::path::filename(setup.options.input), weights);
    if (failed(serialized))
      return runner.getDiagnostics().getFailure();
    llvm::copy_if(serialized->kernels, std::back_inserter(variant.kernelNames),
                  [&](const std::string &name) { return known.insert(name).second; });
    variant.plans.push_back(std::move(*serialized));
    // The program for all sizes is the last one of its function.
    if (!program.getSizes())
      break;
  }
  return llvm::Error::success();
}

/// Lists the files of the model that weights may stay in: those whose names an artifact can refer to
/// (WeightPlaces.cpp).
static std::vector<WeightFile> listWeightFiles() {
  std::vector<WeightFile> files;
  for (auto &[name, bytes] : MappedFile::listNamed()) {
    llvm::SmallString<128> clean(name);
    llvm::sys::path::remove_dots(clean, /*remove_dot_dot=*/false);
    SmallVector<StringRef> parts;
    clean.str().split(parts, '/');
    bool isNamable = clean.size() < sizeof(fmt::ExternalFile::name) && !clean.empty() &&
                     llvm::none_of(
                         parts, [](StringRef part) { return part.empty() || part == ".."; }) &&
                     llvm::none_of(clean, [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (isNamable)
      files.push_back({clean.str().str(), bytes});
  }
  return files;
}

llvm::Expected<Plan> phases::serializePlans(OwningOpRef<ModuleOp> modules, const PlanOptions &how, ModuleOp kernels,
                                            const Setup &setup, PhaseRunner &runner) {
  Plan made{how, std::move(modules), {}, {}};
  if (setup.options.leavesWeights)
    made.weights.leaveIn(listWeightFiles());
  if (!kernels)
    kernels = *made.modules;
  if (llvm::Error error = runner.begin("serialize", *made.modules))
    return error;
  for (auto [own, ownKernels] : llvm::zip(made.modules->getOps<ModuleOp>(), kernels.getOps<ModuleOp>()))
    if (llvm::Error error = serialize(own, ownKernels, setup, runner, made.variants.emplace_back(), made.weights))
      return error;
  return made;
}

static llvm::Expected<Plan> tryPlan(OwningOpRef<ModuleOp> launches, PlanOptions how, Stage from, const Setup &setup,
                                    PhaseRunner &runner) {
  how.schedules = setup.schedules;
  // Merged launches would need the memory of all parts at the same time.
  how.mergesLaunches =
      setup.mergesLaunches && !setup.options.memoryLimit && llvm::all_of(setup.targets, [](const Target &target) {
        return target.backend->getCapabilities().hasMergedKernels;
      });
  how.pins = std::make_shared<PathPins>(setup.options.pins, /*areInsistedOn=*/false);
  // Kernels that are lowered have no text to look up.
  if (how.schedules && from <= Stage::launches)
    for (auto own : launches->getOps<ModuleOp>())
      markKernelRegions(own);
  if (llvm::Error error = runner.run("plan", *launches, [&](OpPassManager &pm) {
        OpPassManager &nested = pm.nest<ModuleOp>();
        buildProgramPipeline(nested, how, from);
        buildPlacePipeline(nested, how);
      }))
    return error;
  return serializePlans(std::move(launches), how, nullptr, setup, runner);
}

/// Returns the plan, among all targets and programs, with the largest memory bound, as the runtime decodes it.
static llvm::Expected<rt::Plan> findLargest(const Plan &made, const std::string &input) {
  std::vector<rt::Plan> plans;
  for (const Variant &variant : made.variants)
    for (const SerializedPlan &plan : variant.plans)
      if (rt::Status status = rt::verifyPlan(plan.bytes.data(), plan.bytes.size(), &plans.emplace_back());
          status.failed())
        return makeError(CompileStatus::fault, input + ": " + status.message());
  assert(!plans.empty() && "a plan was serialized for each target");
  uint64_t section = made.weights.getSize();
  return std::move(*llvm::max_element(
      plans, [&](const rt::Plan &a, const rt::Plan &b) { return boundMemory(a, section) < boundMemory(b, section); }));
}

llvm::Expected<Plan> phases::makePlan(Launches launches, const Setup &setup, PhaseRunner &runner) {
  uint64_t limit = setup.options.memoryLimit;
  if (!limit)
    return tryPlan(std::move(launches.modules), {}, launches.stage, setup, runner);
  PlanSearch search(limit);
  Plan best;
  rt::Plan worst; // of the best plan: the program that needs most
  size_t count = 0;
  while (std::optional<PlanOptions> how = search.getNext()) {
    llvm::Expected<Plan> made = tryPlan(launches.modules->clone(), *how, launches.stage, setup, runner);
    if (!made)
      return made.takeError();
    llvm::Expected<rt::Plan> largest = findLargest(*made, setup.options.input);
    if (!largest)
      return largest.takeError();
    ++count;
    uint64_t section = made->weights.getSize();
    bool isBest = search.report(boundMemory(*largest, section), rt::addUpWeights(*largest, section));
    if (isBest) {
      best = std::move(*made);
      worst = std::move(*largest);
    }
    // The decisions in which other plans would differ have been made.
    if (launches.stage > Stage::launches)
      break;
  }
  uint64_t section = best.weights.getSize();
  if (boundMemory(worst, section) <= limit)
    return best;
  return makeError(CompileStatus::resources,
                   setup.options.input + ": " + explainMemoryLimit(worst, section, limit, count));
}
