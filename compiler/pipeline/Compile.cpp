//===- Compile.cpp - a model to an artifact -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "compiler/pipeline/Compile.h"
#include "compiler/artifact/ArtifactFile.h"
#include "compiler/artifact/Plan.h"
#include "compiler/artifact/Weights.h"
#include "compiler/backend/llvm/Target.h"
#include "compiler/pipeline/Dump.h"
#include "compiler/pipeline/Evaluate.h"
#include "compiler/pipeline/Kernels.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/pipeline/Registration.h"
#include "dialects/plan/Plan.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/format/Layout.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;

namespace {

/// One compilation: each step needs the one before.
class Compilation {
public:
  Compilation(const CompileOptions &options, llvm::raw_ostream &errors);
  CompileStatus run();

private:
  CompileStatus resolveTargets();
  CompileStatus load();
  CompileStatus lowerToPlan();
  CompileStatus lowerKernels();
  FailureOr<OwningOpRef<ModuleOp>> lowerFor(const CpuTarget &target);
  CompileStatus writeText();
  CompileStatus writeArtifactFile();
  CompileStatus writeFile(llvm::function_ref<void(llvm::raw_ostream &)> write);
  CompileStatus fail(CompileStatus status, const llvm::Twine &message);
  LogicalResult runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build);
  void report(Diagnostic &diagnostic);

  const CompileOptions &options;
  llvm::raw_ostream &errors;
  MLIRContext context;
  DumpSequence dumps;
  std::vector<CpuTarget> targets;
  uint64_t sourceHash = 0;
  std::string sourceName;
  OwningOpRef<ModuleOp> module, kernels;
  SerializedPlan plan;
  WeightSection weights;
};

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  registerTranslations(registry);
  return registry;
}

} // namespace

Compilation::Compilation(const CompileOptions &options, llvm::raw_ostream &errors)
    : options(options), errors(errors),
      context(makeRegistry(), options.singleThread || !options.dumpDir.empty() || !options.dumpAfter.empty()
                                  ? MLIRContext::Threading::DISABLED
                                  : MLIRContext::Threading::ENABLED) {
  dumps.directory = options.dumpDir;
  dumps.afterPass = options.dumpAfter;
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) { report(diagnostic); });
}

/// The ONNX name of the node that a location stands for.
static std::string getNodeName(Location loc) {
  std::string name;
  loc->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part)) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

void Compilation::report(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
    return;
  std::string text = diagnostic.str();
  // What a pass says of an operation does not name the node yet; what the import says does.
  std::string node = getNodeName(diagnostic.getLocation());
  errors << "tenon: " << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "warning: ");
  if (!StringRef(text).starts_with(sourceName)) {
    errors << sourceName << ": ";
    if (auto file = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      errors << "line " << file.getLine() << ": ";
    else if (!node.empty() && !StringRef(text).contains(node))
      errors << "node '" << node << "': ";
  }
  errors << text << '\n';
}

CompileStatus Compilation::fail(CompileStatus status, const llvm::Twine &message) {
  errors << "tenon: error: " << message << '\n';
  return status;
}

CompileStatus Compilation::resolveTargets() {
  for (const std::string &name : options.targets) {
    std::optional<CpuTarget> target = getCpuTarget(name);
    if (!target)
      return fail(CompileStatus::unsupported, "no target '" + name + "'; known are " +
                                                  llvm::join(getCpuTargetNames(), ", "));
    if (target->needed.size() >= sizeof(fmt::Section::target))
      return fail(CompileStatus::fault, "the features of target '" + name + "' do not fit into an artifact");
    targets.push_back(std::move(*target));
  }
  return CompileStatus::done;
}

CompileStatus Compilation::load() {
  sourceName = options.input;
  auto buffer = llvm::MemoryBuffer::getFile(options.input, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(CompileStatus::invalid, options.input + ": " + buffer.getError().message());
  sourceHash = XXH3_64bits((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
  if (StringRef(options.input).ends_with(".mlir")) {
    module = parseSourceFile<ModuleOp>(options.input, &context);
    return module ? CompileStatus::done : CompileStatus::invalid;
  }
  buffer->reset();
  ImportedModel imported = importOnnxFile(options.input, options.import, &context);
  if (!imported)
    return imported.fault == ImportFault::Unsupported ? CompileStatus::unsupported : CompileStatus::invalid;
  module = std::move(imported.module);
  return CompileStatus::done;
}

LogicalResult Compilation::runPasses(ModuleOp op, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(&context);
  pm.enableVerifier(false);
  if (dumps.isActive())
    pm.addInstrumentation(createDumpInstrumentation(dumps));
  build(pm);
  return pm.run(op);
}

CompileStatus Compilation::lowerToPlan() {
  if (failed(runPasses(*module, [](OpPassManager &pm) { buildGraphPipeline(pm, evaluateConstants); })))
    return CompileStatus::unsupported;
  return CompileStatus::done;
}

CompileStatus Compilation::lowerKernels() {
  kernels = isolateKernels(*module);
  LogicalResult result =
      runPasses(*kernels, [](OpPassManager &pm) { buildBufferPipeline(pm.nest<ModuleOp>()); });
  return succeeded(result) ? CompileStatus::done : CompileStatus::unsupported;
}

/// The kernels in the LLVM dialect, for one target.
FailureOr<OwningOpRef<ModuleOp>> Compilation::lowerFor(const CpuTarget &target) {
  OwningOpRef<ModuleOp> lowered(cast<ModuleOp>((*kernels)->clone()));
  LogicalResult result = runPasses(*lowered, [&](OpPassManager &pm) {
    OpPassManager &nested = pm.nest<ModuleOp>();
    buildLoopPipeline(nested, {target.vectorBytes, target.vectorRegisters});
    buildLLVMPipeline(nested);
  });
  if (failed(result))
    return failure();
  return lowered;
}

CompileStatus Compilation::writeFile(llvm::function_ref<void(llvm::raw_ostream &)> write) {
  if (options.output == "-") {
    write(llvm::outs());
    return CompileStatus::done;
  }
  llvm::Error error = llvm::writeToOutput(options.output, [&](llvm::raw_ostream &os) {
    write(os);
    return llvm::Error::success();
  });
  if (error)
    return fail(CompileStatus::resources, "cannot write " + options.output + ": " + llvm::toString(std::move(error)));
  return CompileStatus::done;
}

CompileStatus Compilation::writeText() {
  if (options.emit == EmitKind::mlir)
    return writeFile([&](llvm::raw_ostream &os) {
      OpPrintingFlags flags;
      flags.elideLargeElementsAttrs(64).elideLargeResourceString(0);
      module->print(os, flags);
      kernels->print(os, flags);
    });
  FailureOr<OwningOpRef<ModuleOp>> lowered = lowerFor(targets.front());
  if (failed(lowered))
    return CompileStatus::unsupported;
  if (options.emit == EmitKind::sharedObject || options.emit == EmitKind::object) {
    // An object is what remains when everything that a kernel calls is in it.
    FailureOr<std::string> bytes = buildSharedObject(**lowered, targets.front(), plan.kernels);
    if (failed(bytes))
      return CompileStatus::fault;
    return writeFile([&](llvm::raw_ostream &os) { os << *bytes; });
  }
  CodeKind kind = options.emit == EmitKind::llvm ? CodeKind::llvm : CodeKind::assembly;
  FailureOr<std::vector<std::string>> texts = compileEach(**lowered, targets.front(), kind);
  if (failed(texts))
    return CompileStatus::fault;
  return writeFile([&](llvm::raw_ostream &os) {
    for (const std::string &text : *texts)
      os << text << '\n';
  });
}

CompileStatus Compilation::writeArtifactFile() {
  ArtifactParts parts;
  parts.plan = std::move(plan.bytes);
  parts.weights = &weights;
  parts.sourceHash = sourceHash;
  for (const CpuTarget &target : targets) {
    FailureOr<OwningOpRef<ModuleOp>> lowered = lowerFor(target);
    if (failed(lowered))
      return CompileStatus::unsupported;
    FailureOr<std::string> code = buildSharedObject(**lowered, target, plan.kernels);
    if (failed(code))
      return CompileStatus::fault;
    parts.code.push_back({target.needed, std::move(*code)});
  }
  nlohmann::json meta;
  meta["source"] = llvm::sys::path::filename(options.input).str();
  meta["source_xxh3"] = llvm::utohexstr(sourceHash, /*LowerCase=*/true, 16);
  meta["compiler"] = "tenon " TENON_VERSION;
  meta["targets"] = options.targets;
  meta["tolerance"] = options.tolerance;
  parts.meta = meta.dump();
  if (llvm::Error error = writeArtifact(parts, options.output))
    return fail(CompileStatus::resources, "cannot write " + options.output + ": " + llvm::toString(std::move(error)));
  return CompileStatus::done;
}

CompileStatus Compilation::run() {
  if (!options.dumpDir.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(options.dumpDir))
      return fail(CompileStatus::resources, "cannot create " + options.dumpDir + ": " + error.message());
  CompileStatus (Compilation::*const steps[])() = {&Compilation::resolveTargets, &Compilation::load,
                                                  &Compilation::lowerToPlan, &Compilation::lowerKernels};
  for (auto step : steps)
    if (CompileStatus status = (this->*step)(); status != CompileStatus::done)
      return status;
  auto programs = module->getOps<plan::ProgramOp>();
  if (programs.empty())
    return fail(CompileStatus::invalid, options.input + ": has no public function to compile");
  FailureOr<SerializedPlan> serialized =
      serializePlan(*programs.begin(), llvm::sys::path::filename(options.input), weights);
  if (failed(serialized))
    return CompileStatus::unsupported;
  plan = std::move(*serialized);
  return options.emit == EmitKind::artifact ? writeArtifactFile() : writeText();
}

CompileStatus tenon::compileModel(const CompileOptions &options, llvm::raw_ostream &errors) {
  return Compilation(options, errors).run();
}
