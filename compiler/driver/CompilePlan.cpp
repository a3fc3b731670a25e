//===- CompilePlan.cpp - launches to a plan, within a limit ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Compilation.h"
#include "compiler/pipeline/PlanSearch.h"
#include "compiler/report/MemoryLimit.h"
#include "dialects/plan/Plan.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Kernel.h"
#include "runtime/plan/ResidentWeights.h"
#include "runtime/plan/Verify.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tenon;

CompileStatus Compilation::tryPlan(const PlanOptions &how, Planned &made) {
  made.how = how;
  auto build = [&](OpPassManager &pm) {
    OpPassManager &nested = pm.nest<ModuleOp>();
    buildProgramPipeline(nested, how);
    buildPlacePipeline(nested, how);
  };
  if (CompileStatus status = runPasses("plan", *made.modules, build); status != CompileStatus::done || isReproduced)
    return status;
  return serialize(made);
}

CompileStatus Compilation::makePlan() {
  if (options.memoryLimit)
    return findPlanWithin(options.memoryLimit);
  chosen.planned.modules = std::move(variants);
  return tryPlan({}, chosen.planned);
}

/// The first plan that keeps the limit; where none does, says by how much the best one misses it.
CompileStatus Compilation::findPlanWithin(uint64_t limit) {
  PlanSearch search(limit);
  rt::Plan worst; ///< of the best way: the program that needs most
  while (std::optional<PlanOptions> how = search.getNext()) {
    Planned made;
    std::vector<rt::Plan> plans;
    made.modules = cast<ModuleOp>((*variants)->clone());
    if (CompileStatus status = tryPlan(*how, made); status != CompileStatus::done || isReproduced)
      return status;
    if (CompileStatus status = readPlans(made, plans); status != CompileStatus::done)
      return status;
    uint64_t section = made.weights.getSize();
    rt::Plan &most = *llvm::max_element(
        plans, [&](const rt::Plan &a, const rt::Plan &b) { return boundMemory(a, section) < boundMemory(b, section); });
    if (!search.report(boundMemory(most, section), rt::addUpWeights(most, section)))
      continue;
    chosen.planned = std::move(made);
    worst = std::move(most);
  }
  uint64_t section = chosen.planned.weights.getSize();
  if (boundMemory(worst, section) <= limit)
    return CompileStatus::done;
  return fail(CompileStatus::resources,
              options.input + ": " + explainMemoryLimit(worst, section, limit, search.getCount()));
}

CompileStatus Compilation::serialize(Planned &made) {
  if (CompileStatus status = beginPhase("serialize", *made.modules); status != CompileStatus::done || isReproduced)
    return status;
  for (auto own : made.modules->getOps<ModuleOp>())
    if (CompileStatus status = serialize(own, made.variants.emplace_back(), made.weights);
        status != CompileStatus::done)
      return status;
  return CompileStatus::done;
}

/// {kernel: {"path": name, "cycles": {name: number, ...}}, ...}
static nlohmann::json listPaths(ModuleOp own) {
  nlohmann::json kernels = nlohmann::json::object();
  for (auto kernel : own.getOps<func::FuncOp>()) {
    auto path = kernel->getAttrOfType<StringAttr>(kPathAttr);
    auto cycles = kernel->getAttrOfType<DictionaryAttr>(kPathsAttr);
    if (!path || !cycles)
      continue;
    nlohmann::json &entry = kernels[kernel.getName().str()];
    entry["path"] = path.str();
    for (NamedAttribute estimate : cycles)
      entry["cycles"][estimate.getName().str()] = cast<IntegerAttr>(estimate.getValue()).getInt();
  }
  return kernels;
}

CompileStatus Compilation::serialize(ModuleOp own, Variant &variant, WeightSection &weights) {
  variant.paths = listPaths(own);
  auto programs = own.getOps<plan::ProgramOp>();
  if (programs.empty())
    return fail(CompileStatus::invalid, options.input + ": has no public function to compile");
  llvm::StringSet<> known;
  for (plan::ProgramOp program : programs) {
    FailureOr<SerializedPlan> serialized = serializePlan(program, llvm::sys::path::filename(options.input), weights);
    if (failed(serialized))
      return getFailure();
    llvm::copy_if(serialized->kernels, std::back_inserter(variant.kernelNames),
                  [&](const std::string &name) { return known.insert(name).second; });
    variant.plans.push_back(std::move(*serialized));
    // The one for all sizes is the last of its function's.
    if (!program.getSizes())
      break;
  }
  return CompileStatus::done;
}

/// The plans as the runtime reads them.
CompileStatus Compilation::readPlans(const Planned &made, std::vector<rt::Plan> &plans) {
  for (const Variant &variant : made.variants)
    for (const SerializedPlan &plan : variant.plans)
      if (rt::Status status = rt::verifyPlan(plan.bytes.data(), plan.bytes.size(), &plans.emplace_back());
          status.failed())
        return fail(CompileStatus::fault, options.input + ": " + status.message());
  return CompileStatus::done;
}
