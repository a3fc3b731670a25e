//===- Compile.cpp - a model to an artifact -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "compiler/pipeline/Compile.h"
#include "compiler/artifact/ArtifactFile.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/artifact/Plan.h"
#include "compiler/artifact/Weights.h"
#include "compiler/backend/llvm/Target.h"
#include "compiler/backend/nvptx/Ptx.h"
#include "compiler/backend/spirv/Spirv.h"
#include "compiler/import/huggingface/ImportHuggingFace.h"
#include "compiler/import/onnx/ImportOnnx.h"
#include "compiler/pipeline/Dump.h"
#include "compiler/pipeline/ErrorMeter.h"
#include "compiler/pipeline/Evaluate.h"
#include "compiler/pipeline/Kernels.h"
#include "compiler/pipeline/PassNames.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/pipeline/PlanSearch.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Reproducer.h"
#include "compiler/pipeline/SourceHash.h"
#include "compiler/report/MemoryLimit.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Unsupported.h"
#include "passes/Kernel.h"
#include "passes/paths/PathErrors.h"
#include "runtime/core/ResidentWeights.h"
#include "runtime/core/Verify.h"
#include "runtime/format/Layout.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;

namespace {

/// One way to run the launches of a target's module.
struct Variant {
  std::vector<SerializedPlan> plans;    ///< in the order in which the runtime tries them
  std::vector<std::string> kernelNames; ///< of all of them, each once
  nlohmann::json paths;                 ///< that kernels take, and those that they might have taken, for people
};

/// The same for all targets.
struct Planned {
  PlanOptions how;
  OwningOpRef<ModuleOp> modules; ///< one in it for each target, in their order
  std::vector<Variant> variants; ///< likewise
  WeightSection weights;
};

/// What a choice of paths led to.
struct Choice {
  Planned planned;
  std::vector<std::string> code; ///< for each target
  ErrorReport error;
  double largestTaken = 0; ///< of the errors of operations that are not computed in their own way
};

/// One compilation: each step needs the one before.
class Compilation {
public:
  Compilation(const CompileOptions &options, llvm::raw_ostream &errors);
  CompileStatus run();

private:
  CompileStatus checkOptions();
  CompileStatus resolveTargets();
  CompileStatus checkTargets();
  CompileStatus load();
  CompileStatus build();
  CompileStatus loadFile();
  CompileStatus adopt(ImportedModel imported);
  CompileStatus lowerGraph();
  void splitTargets();
  CompileStatus lowerWithinTolerance();
  CompileStatus lower();
  CompileStatus lowerToLaunches();
  CompileStatus makePlan();
  CompileStatus tryPlan(const PlanOptions &how, Planned &made);
  CompileStatus findPlanWithin(uint64_t limit);
  CompileStatus serialize(Planned &made);
  CompileStatus serialize(ModuleOp module, Variant &variant, WeightSection &weights);
  CompileStatus readPlans(const Planned &made, std::vector<rt::Plan> &plans);
  CompileStatus lowerKernels();
  CompileStatus lowerCode();
  bool isErrorAsked() const { return options.measuresError || options.readInputs; }
  std::string getWhyUnmeasured() const;
  CompileStatus measureError();
  CompileStatus writeResult();
  CompileStatus writeIR();
  CompileStatus writeCode();
  CompileStatus writeGpuCode();
  CompileStatus lowerFor(const CpuTarget &target, ModuleOp own);
  CompileStatus writeArtifactFile();
  std::string getMeta() const;
  CompileStatus writeFile(llvm::function_ref<void(llvm::raw_ostream &)> write);
  ArtifactParts getParts() const;
  CompileStatus fail(CompileStatus status, const llvm::Twine &message);
  void warn(const llvm::Twine &message);
  CompileStatus getFailure() const { return sawUnsupported ? CompileStatus::unsupported : CompileStatus::fault; }
  CompileStatus beginPhase(StringRef phase, ModuleOp input, StringRef pipeline);
  CompileStatus runPasses(StringRef phase, ModuleOp module, llvm::function_ref<void(OpPassManager &)> build);
  GraphOptions getGraphOptions() const;
  void report(Diagnostic &diagnostic);

  const CompileOptions &options;
  llvm::raw_ostream &errors;
  MLIRContext context;
  DumpSequence dumps;
  std::vector<CpuTarget> targets;
  uint64_t sourceHash = 0;
  std::string sourceName;
  OwningOpRef<ModuleOp> module;   ///< what all targets share, and each choice of paths begins with
  OwningOpRef<ModuleOp> variants; ///< a module for each target: launches
  OwningOpRef<ModuleOp> kernels;  ///< likewise: what they launch, a module each
  Choice chosen;
  double budget = 0; ///< largest error of an operation that is not computed in its own way
  std::shared_ptr<PathErrors> pathErrors = std::make_shared<PathErrors>();
  unsigned numChoices = 0;
  std::unique_ptr<ErrorMeter> meter; ///< null where no error can be measured
  bool sawUnsupported = false; ///< a pass has said that the model asks for what there is not
  bool isReproduced = false;   ///< the reproducer is written, and nothing is left to do
};

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  registerTranslations(registry);
  registerPtxTranslations(registry);
  registerSpirvDialects(registry);
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
  sourceName = options.input;
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
  sawUnsupported |= isUnsupported(diagnostic);
  std::string text = diagnostic.str();
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
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

void Compilation::warn(const llvm::Twine &message) {
  errors << "tenon: warning: " << options.input << ": " << message << '\n';
}

CompileStatus Compilation::checkOptions() {
  if (!options.dumpAfter.empty()) {
    std::vector<std::string> names = getPassNames();
    if (!llvm::is_contained(names, options.dumpAfter))
      return fail(CompileStatus::misuse, "--dump-after: no pass '" + options.dumpAfter + "'; the closest are " +
                                             llvm::join(getClosest(options.dumpAfter, names), ", "));
  }
  if (!options.dumpDir.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(options.dumpDir))
      return fail(CompileStatus::resources, "cannot create " + options.dumpDir + ": " + error.message());
  return CompileStatus::done;
}

CompileStatus Compilation::resolveTargets() {
  for (const std::string &name : options.targets) {
    std::optional<CpuTarget> target = getCpuTarget(name);
    if (!target)
      return fail(CompileStatus::unsupported, "no target '" + name + "'; known are " +
                                                  llvm::join(getCpuTargetNames(), ", "));
    if (target->getSectionTarget().size() >= sizeof(fmt::Section::target))
      return fail(CompileStatus::fault, "the features of target '" + name + "' do not fit into an artifact");
    targets.push_back(std::move(*target));
  }
  if (CompileStatus status = checkTargets(); status != CompileStatus::done)
    return status;
  // The one that needs most of a processor makes most of it, so the runtime looks at it first.
  llvm::stable_sort(targets, [](const CpuTarget &a, const CpuTarget &b) {
    return StringRef(a.needed).count(',') > StringRef(b.needed).count(',');
  });
  return CompileStatus::done;
}

/// Refuses targets of which one would never run.
CompileStatus Compilation::checkTargets() {
  if (targets.size() > 1 && options.emit != EmitKind::artifact && options.emit != EmitKind::mlir)
    return fail(CompileStatus::misuse, "--target: only an artifact holds code for several processors; name one");
  for (auto [i, target] : llvm::enumerate(targets))
    for (const CpuTarget &before : ArrayRef(targets).take_front(i)) {
      if (before.name == target.name)
        return fail(CompileStatus::misuse, "--target " + target.name + " is given twice");
      if (before.needed == target.needed)
        return fail(CompileStatus::misuse, "--target: '" + before.name + "' and '" + target.name +
                                               "' are for the same processors; name one of them");
    }
  return CompileStatus::done;
}

CompileStatus Compilation::load() {
  if (options.onPhase)
    options.onPhase(kImportPhase);
  if (options.build)
    return build();
  if (llvm::sys::fs::is_directory(options.input))
    return adopt(importHuggingFace(options.input, options.import, sourceHash, &context));
  return loadFile();
}

CompileStatus Compilation::build() {
  module = options.build(&context);
  if (!module)
    return CompileStatus::invalid;
  sourceHash = hashModule(*module);
  return succeeded(verify(*module)) ? CompileStatus::done : CompileStatus::invalid;
}

CompileStatus Compilation::loadFile() {
  auto buffer = llvm::MemoryBuffer::getFile(options.input, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(CompileStatus::invalid, options.input + ": " + buffer.getError().message());
  sourceHash = XXH3_64bits((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
  if (StringRef(options.input).ends_with(".mlir")) {
    module = parseSourceFile<ModuleOp>(options.input, &context);
    return module ? CompileStatus::done : CompileStatus::invalid;
  }
  buffer->reset();
  return adopt(importOnnxFile(options.input, options.import, &context));
}

CompileStatus Compilation::adopt(ImportedModel imported) {
  if (!imported)
    return imported.fault == ImportFault::Unsupported ? CompileStatus::unsupported : CompileStatus::invalid;
  module = std::move(imported.module);
  return succeeded(verify(*module)) ? CompileStatus::done : CompileStatus::fault;
}

/// Where this phase is the one to be reproduced, writes `input` and sets isReproduced.
CompileStatus Compilation::beginPhase(StringRef name, ModuleOp input, StringRef pipeline) {
  std::string phase = name.str();
  if (numChoices > 1)
    phase += ", choice " + std::to_string(numChoices);
  if (options.onPhase)
    options.onPhase(phase);
  if (options.reproduce != phase)
    return CompileStatus::done;
  isReproduced = true;
  std::string title = ("tenon " TENON_VERSION ", phase '" + phase + "' of " +
                       llvm::sys::path::filename(options.input) + ", for tenon-opt --run-reproducer")
                          .str();
  return writeFile([&](llvm::raw_ostream &os) { printReproducer(input, title, pipeline, os); });
}

static std::string getText(OpPassManager &pm) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  return text;
}

CompileStatus Compilation::runPasses(StringRef phase, ModuleOp op, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(&context);
  // Verified once a phase instead, which is enough to find a reproducer.
  pm.enableVerifier(false);
  if (dumps.isActive())
    pm.addInstrumentation(createDumpInstrumentation(dumps));
  build(pm);
  if (CompileStatus status = beginPhase(phase, op, getText(pm)); status != CompileStatus::done || isReproduced)
    return status;
  if (failed(pm.run(op)))
    return getFailure();
  return succeeded(verify(op)) ? CompileStatus::done : CompileStatus::fault;
}

GraphOptions Compilation::getGraphOptions() const {
  GraphOptions graph;
  graph.programs = options.programs;
  graph.hasPaths = options.emit != EmitKind::ptx && options.emit != EmitKind::spirv;
  graph.budget = budget;
  graph.errors = pathErrors;
  return graph;
}

CompileStatus Compilation::lowerGraph() {
  // What several operations add to the error of a result is about as much as four of them.
  constexpr double kShare = 0.25;
  budget = options.tolerance * kShare;
  bool runsHere = llvm::any_of(targets, [](const CpuTarget &target) { return target.runsHere; });
  if (options.emit == EmitKind::artifact && runsHere)
    meter = std::make_unique<ErrorMeter>(cast<ModuleOp>((*module)->clone()), options.readInputs);
  return runPasses("graph", *module,
                   [&](OpPassManager &pm) { buildSharedPipeline(pm, evaluateConstants, getGraphOptions()); });
}

/// Chooses paths, again where the model is not exact enough, and lowers what was chosen.
CompileStatus Compilation::lowerWithinTolerance() {
  // Then every operation is computed in its own way.
  constexpr unsigned kHalvings = 2;
  std::optional<Choice> best;
  for (;;) {
    ++numChoices;
    chosen = Choice();
    if (CompileStatus status = lower(); status != CompileStatus::done || isReproduced)
      return status;
    if (CompileStatus status = measureError(); status != CompileStatus::done || isReproduced)
      return status;
    if (!chosen.error.reason.empty() || chosen.error.getLargest() <= options.tolerance)
      return CompileStatus::done;
    double worst = chosen.largestTaken;
    // One path may be off by less than the operation's own, and it is faster: sums are shorter.
    if (!best || chosen.error.getLargest() < best->error.getLargest())
      best = std::move(chosen);
    if (worst == 0)
      break;
    budget = numChoices <= kHalvings ? worst / 2 : 0;
  }
  chosen = std::move(*best);
  warn("its error is more than --tolerance allows, whichever way operations are computed: " +
       chosen.error.describeLargest());
  return CompileStatus::done;
}

CompileStatus Compilation::lower() {
  CompileStatus (Compilation::*const steps[])() = {&Compilation::lowerToLaunches, &Compilation::makePlan,
                                                   &Compilation::lowerKernels, &Compilation::lowerCode};
  for (auto step : steps)
    if (CompileStatus status = (this->*step)(); status != CompileStatus::done || isReproduced)
      return status;
  return CompileStatus::done;
}

/// Gives each target a module of its own, which names its machine.
void Compilation::splitTargets() {
  variants = ModuleOp::create(module->getLoc());
  for (const CpuTarget &target : targets) {
    OwningOpRef<ModuleOp> own(module->clone());
    own->setName(target.name);
    setMachine(*own, target.machine);
    variants->push_back(own.release());
  }
}

/// From here on, what is done for one target is done for all at the same time.
CompileStatus Compilation::lowerToLaunches() {
  splitTargets();
  pathErrors->forgetTaken();
  auto build = [&](OpPassManager &pm) { buildLaunchPipeline(pm.nest<ModuleOp>(), getGraphOptions()); };
  CompileStatus status = runPasses("launches", *variants, build);
  chosen.largestTaken = pathErrors->getLargestTaken();
  return status;
}

/// Why the error of this choice is not measured; empty where it is.
std::string Compilation::getWhyUnmeasured() const {
  if (!meter)
    return "no code of the artifact runs on the machine that compiled it";
  // What an earlier choice was measured for, this one is.
  if (isErrorAsked() || chosen.largestTaken > 0 || numChoices > 1)
    return "";
  return "every operation is computed in its own way, with the error of sums in its type; --measure-error measures "
         "that";
}

CompileStatus Compilation::measureError() {
  if (options.emit != EmitKind::artifact)
    return CompileStatus::done;
  if (std::string why = getWhyUnmeasured(); !why.empty()) {
    chosen.error = ErrorReport::none(why);
  } else {
    PassManager reference(&context);
    buildReferencePipeline(reference, nullptr);
    ModuleOp model = meter->getImported() ? meter->getImported() : *module;
    CompileStatus status = beginPhase("error", model, getText(reference));
    if (status != CompileStatus::done || isReproduced)
      return status;
    chosen.error = meter->measure(getParts(), *module, options.programs);
  }
  const ErrorReport &error = chosen.error;
  if (error.isInputAtFault)
    return fail(CompileStatus::invalid, options.input + ": " + error.reason);
  if (isErrorAsked() && !error.reason.empty())
    warn("its error is not measured: " + error.reason);
  return CompileStatus::done;
}

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
    rt::Plan &most = *llvm::max_element(plans, [&](const rt::Plan &a, const rt::Plan &b) {
      return boundMemory(a, section) < boundMemory(b, section);
    });
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

CompileStatus Compilation::serialize(Planned &made) {
  if (CompileStatus status = beginPhase("serialize", *made.modules, ""); status != CompileStatus::done || isReproduced)
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
    if (!program->hasAttr("sizes"))
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
  if (CompileStatus status = beginPhase("code", own, ""); status != CompileStatus::done || isReproduced)
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
      return CompileStatus::fault;
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
      return CompileStatus::fault;
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

CompileStatus Compilation::run() {
  CompileStatus (Compilation::*const steps[])() = {
      &Compilation::checkOptions, &Compilation::resolveTargets, &Compilation::load,
      &Compilation::lowerGraph, &Compilation::lowerWithinTolerance, &Compilation::writeResult};
  for (auto step : steps)
    if (CompileStatus status = (this->*step)(); status != CompileStatus::done || isReproduced)
      return status;
  return CompileStatus::done;
}

CompileStatus tenon::compileModel(const CompileOptions &options, llvm::raw_ostream &errors) {
  return Compilation(options, errors).run();
}
