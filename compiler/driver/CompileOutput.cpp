//===- CompileOutput.cpp - what a compilation writes ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "compiler/backend/nvptx/Ptx.h"
#include "compiler/backend/spirv/Spirv.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Kernels.h"
#include "mlir/Pass/PassManager.h"
#include "passes/paths/PathErrors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tenon;

CompileStatus Compilation::lowerKernels() {
  kernels = ModuleOp::create(chosen.planned.modules->getLoc());
  for (auto own : chosen.planned.modules->getOps<ModuleOp>())
    kernels->push_back(isolateKernels(own).release());
  return runPasses("kernels", *kernels,
                   [](OpPassManager &pm) { buildBufferPipeline(pm.nest<ModuleOp>().nest<ModuleOp>()); });
}

/// Lowers the kernels in `own` to the LLVM dialect for their target.
CompileStatus Compilation::lowerFor(const CpuTarget &target, ModuleOp own) {
  return runPasses("code for " + target.name, own, [&](OpPassManager &pm) {
    OpPassManager &nested = pm.nest<ModuleOp>();
    buildLoopPipeline(nested, target.machine);
    buildLLVMPipeline(nested);
  });
}

CompileStatus Compilation::writeFile(llvm::function_ref<void(llvm::raw_ostream &)> write) {
  if (llvm::Error error = writeOutputFile(options.output, write))
    return fail(CompileStatus::resources, "cannot write " +
                                              (options.output == "-" ? "to standard output" : options.output) + ": " +
                                              llvm::toString(std::move(error)));
  return CompileStatus::done;
}

CompileStatus Compilation::writeResult() {
  if (options.emit == EmitKind::mlir)
    return writeIR();
  if (options.emit == EmitKind::ptx || options.emit == EmitKind::spirv)
    return writeGpuCode();
  return options.emit == EmitKind::artifact ? writeArtifactFile() : writeCode();
}

CompileStatus Compilation::writeIR() {
  return writeFile([&](llvm::raw_ostream &os) {
    OpPrintingFlags flags;
    flags.elideLargeElementsAttrs(64).elideLargeResourceString(0);
    chosen.planned.modules->print(os, flags);
    kernels->print(os, flags);
  });
}

CompileStatus Compilation::writeGpuCode() {
  ModuleOp own = *kernels->getOps<ModuleOp>().begin();
  if (CompileStatus status = beginPhase("code", own); status != CompileStatus::done || isReproduced)
    return status;
  for (const std::string &name : chosen.planned.variants.front().kernelNames)
    if (!own.lookupSymbol(name))
      return fail(CompileStatus::unsupported,
                  options.input + ": needs the library kernel '" + name + "', which there is for CPUs alone");
  std::string error;
  if (options.emit == EmitKind::ptx) {
    FailureOr<std::string> ptx = emitPtx(own, options.chip, error);
    if (failed(ptx))
      return fail(CompileStatus::unsupported, options.input + ": " + error);
    return writeFile([&](llvm::raw_ostream &os) { os << *ptx; });
  }
  FailureOr<std::vector<SpirvKernel>> modules = emitSpirv(own, error);
  if (failed(modules))
    return fail(CompileStatus::unsupported, options.input + ": " + error);
  // One module a kernel, so the output is a folder.
  if (std::error_code code = llvm::sys::fs::create_directories(options.output))
    return fail(CompileStatus::resources, "cannot create " + options.output + ": " + code.message());
  for (const SpirvKernel &kernel : *modules) {
    std::string path = options.output + "/" + kernel.name + ".spv";
    auto write = [&](llvm::raw_ostream &os) {
      os.write(reinterpret_cast<const char *>(kernel.words.data()), kernel.words.size() * sizeof(uint32_t));
    };
    if (llvm::Error failure = writeOutputFile(path, write))
      return fail(CompileStatus::resources, "cannot write " + path + ": " + llvm::toString(std::move(failure)));
  }
  return CompileStatus::done;
}

CompileStatus Compilation::writeCode() {
  ModuleOp own = *kernels->getOps<ModuleOp>().begin();
  const CpuTarget &target = targets.front();
  if (CompileStatus status = lowerFor(target, own); status != CompileStatus::done || isReproduced)
    return status;
  if (options.emit == EmitKind::sharedObject || options.emit == EmitKind::object) {
    LinkKind kind = options.emit == EmitKind::object ? LinkKind::relocatable : LinkKind::shared;
    FailureOr<std::string> bytes = buildObject(own, target, chosen.planned.variants.front().kernelNames, kind);
    if (failed(bytes))
      return getFailure();
    return writeFile([&](llvm::raw_ostream &os) { os << *bytes; });
  }
  CodeKind kind = options.emit == EmitKind::llvm ? CodeKind::llvm : CodeKind::assembly;
  FailureOr<std::vector<std::string>> texts = compileEach(own, target, kind);
  if (failed(texts))
    return CompileStatus::fault;
  return writeFile([&](llvm::raw_ostream &os) {
    for (const std::string &text : *texts)
      os << text << '\n';
  });
}

/// The code of an artifact; what else is written has none, or its own.
CompileStatus Compilation::lowerCode() {
  if (options.emit != EmitKind::artifact)
    return CompileStatus::done;
  for (auto [target, own, variant] : llvm::zip(targets, kernels->getOps<ModuleOp>(), chosen.planned.variants)) {
    if (CompileStatus status = lowerFor(target, own); status != CompileStatus::done || isReproduced)
      return status;
    FailureOr<std::string> code = buildObject(own, target, variant.kernelNames, LinkKind::shared);
    if (failed(code))
      return getFailure();
    chosen.code.push_back(std::move(*code));
  }
  return CompileStatus::done;
}

/// All but what the artifact says of itself.
ArtifactParts Compilation::getParts() const {
  ArtifactParts parts;
  parts.weights = &chosen.planned.weights;
  parts.sourceHash = sourceHash;
  for (auto [target, variant, code] : llvm::zip(targets, chosen.planned.variants, chosen.code)) {
    parts.variants.push_back({target.getSectionTarget(), {}, code});
    for (const SerializedPlan &plan : variant.plans)
      parts.variants.back().plans.push_back(plan.bytes);
  }
  return parts;
}

CompileStatus Compilation::writeArtifactFile() {
  ArtifactParts parts = getParts();
  parts.meta = getMeta();
  if (llvm::Error error = writeArtifact(parts, options.output))
    return fail(CompileStatus::resources, "cannot write " + options.output + ": " + llvm::toString(std::move(error)));
  return CompileStatus::done;
}

std::string Compilation::getMeta() const {
  nlohmann::json meta;
  meta["source"] = llvm::sys::path::filename(options.input).str();
  meta["source_xxh3"] = llvm::utohexstr(sourceHash, /*LowerCase=*/true, 16);
  meta["compiler"] = "tenon " TENON_VERSION;
  for (const CpuTarget &target : targets)
    for (auto [name, value] : listFigures(target.machine))
      meta["targets"][target.name][name.str()] = value;
  meta["tolerance"] = options.tolerance;
  meta["error"] = nlohmann::json::parse(chosen.error.toJson());
  meta["paths"] = {{"choices", numChoices}, {"largest_error", chosen.largestTaken}};
  for (auto [target, variant] : llvm::zip(targets, chosen.planned.variants))
    meta["paths"]["kernels"][target.name] = variant.paths;
  if (chosen.planned.how.recomputed)
    meta["recomputed"] = chosen.planned.how.recomputed;
  if (chosen.planned.how.weightBudget)
    meta["weight_budget"] = *chosen.planned.how.weightBudget;
  return meta.dump();
}
