//===- Compile.cpp - a model to an artifact -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/Codegen.h"
#include "compiler/backend/nvptx/Ptx.h"
#include "compiler/backend/spirv/Spirv.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/SourceHash.h"
#include "compiler/import/huggingface/ImportHuggingFace.h"
#include "compiler/import/onnx/ImportOnnx.h"
#include "compiler/pipeline/PassNames.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Reproducer.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Unsupported.h"
#include "runtime/format/Layout.h"
#include "runtime/plugin/Plugins.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  registerTranslations(registry);
  registerPtxTranslations(registry);
  registerSpirvDialects(registry);
  return registry;
}

Compilation::Compilation(const CompileOptions &options, llvm::raw_ostream &errors)
    : options(options), errors(errors),
      context(makeRegistry(), options.singleThread || !options.dumpDir.empty() || !options.dumpAfter.empty()
                                  ? MLIRContext::Threading::DISABLED
                                  : MLIRContext::Threading::ENABLED) {
  dumps.directory = options.dumpDir;
  dumps.afterPass = options.dumpAfter;
  sourceName = options.input;
  timing.setEnabled(options.timing);
  timing.setDisplayMode(DefaultTimingManager::DisplayMode::Tree);
  times = timing.getRootScope();
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
  sawInvalid |= isInvalid(diagnostic);
  sawExhausted |= isExhausted(diagnostic);
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
  for (const std::string &plugin : options.import.plugins)
    if (rt::Status status = rt::addPlugin(plugin.c_str()); status.failed())
      return fail(CompileStatus::unsupported, "--plugin: " + Twine(status.message()));
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
      return fail(CompileStatus::unsupported,
                  "no target '" + name + "'; known are " + llvm::join(getCpuTargetNames(), ", "));
    if (target->getSectionTarget().size() >= sizeof(fmt::Section::target))
      return fail(CompileStatus::fault, "the features of target '" + name + "' do not fit into an artifact");
    if (options.ownCacheBytes)
      target->machine.ownCacheBytes = options.ownCacheBytes;
    if (options.sharedCacheBytes)
      target->machine.sharedCacheBytes = options.sharedCacheBytes;
    targets.push_back(std::move(*target));
  }
  if (CompileStatus status = checkTargets(); status != CompileStatus::done)
    return status;
  sharePanels(targets);
  // The one that needs most of a processor makes most of it, so the runtime looks at it first.
  llvm::stable_sort(targets, [](const CpuTarget &a, const CpuTarget &b) {
    return StringRef(a.needed).count(',') > StringRef(b.needed).count(',');
  });
  return CompileStatus::done;
}

/// Refuses targets of which one would never be picked. What this machine is like nobody knows beforehand, so that
/// another target may be for the same processors: of the two, the one that is named first is picked.
CompileStatus Compilation::checkTargets() {
  if (targets.size() > 1 && options.emit != EmitKind::artifact && options.emit != EmitKind::mlir)
    return fail(CompileStatus::misuse, "--target: only an artifact holds code for several processors; name one");
  for (auto [i, target] : llvm::enumerate(targets))
    for (const CpuTarget &before : ArrayRef(targets).take_front(i)) {
      if (before.name == target.name)
        return fail(CompileStatus::misuse, "--target " + target.name + " is given twice");
      bool hasHost = llvm::is_contained({before.name, target.name}, "host");
      if (before.needed == target.needed && !hasHost)
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

/// How deep brackets nest in MLIR text, strings and comments left out; no further than `limit` + 1.
static int64_t getNesting(StringRef text, int64_t limit) {
  int64_t depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size() && deepest <= limit; ++i) {
    char c = text[i];
    if (c == '"') {
      while (++i < text.size() && text[i] != '"' && text[i] != '\n')
        i += text[i] == '\\';
    } else if (c == '/' && text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (StringRef("([{<").contains(c)) {
      deepest = std::max(deepest, ++depth);
    } else if (StringRef(")]}>").contains(c) && !(c == '>' && i > 0 && text[i - 1] == '-')) {
      depth = std::max<int64_t>(depth - 1, 0);
    }
  }
  return deepest;
}

CompileStatus Compilation::loadText(StringRef text) {
  // MLIR's parser calls itself for each level.
  constexpr int64_t kMaxNesting = 256;
  if (getNesting(text, kMaxNesting) > kMaxNesting)
    return fail(CompileStatus::resources, options.input + ": its brackets nest deeper than the limit 'nesting' of " +
                                              std::to_string(kMaxNesting));
  module = parseSourceFile<ModuleOp>(options.input, &context);
  if (!module)
    return CompileStatus::invalid;
  WalkResult result = module->walk([&](Operation *op) {
    if (isa<ModuleOp, func::FuncOp, func::ReturnOp>(op) || isa_and_nonnull<TenonDialect>(op->getDialect()))
      return WalkResult::advance();
    emitUnsupported(op, "operation '" + op->getName().getStringRef() +
                            "' is none of a model; a file holds functions of the dialect 'tenon'");
    return WalkResult::interrupt();
  });
  return result.wasInterrupted() ? CompileStatus::unsupported : CompileStatus::done;
}

CompileStatus Compilation::loadFile() {
  auto buffer = llvm::MemoryBuffer::getFile(options.input, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(CompileStatus::invalid, options.input + ": " + buffer.getError().message());
  sourceHash = XXH3_64bits((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
  if (StringRef(options.input).ends_with(".mlir"))
    return loadText((*buffer)->getBuffer());
  buffer->reset();
  return adopt(importOnnxFile(options.input, options.import, &context));
}

CompileStatus Compilation::adopt(ImportedModel imported) {
  if (!imported)
    return imported.fault == ImportFault::Unsupported ? CompileStatus::unsupported
           : imported.fault == ImportFault::Limit     ? CompileStatus::resources
                                                      : CompileStatus::invalid;
  module = std::move(imported.module);
  return succeeded(verify(*module)) ? CompileStatus::done : CompileStatus::fault;
}

static std::string getText(OpPassManager &pm) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  return text;
}

CompileStatus Compilation::beginPhase(StringRef name, ModuleOp input, OpPassManager *pipeline) {
  std::string phase = name.str();
  if (numChoices > 1)
    phase += ", choice " + std::to_string(numChoices);
  if (options.onPhase)
    options.onPhase(phase);
  if (options.reproduce != phase)
    return CompileStatus::done;
  isReproduced = true;
  std::string title = ("tenon " TENON_VERSION ", phase '" + phase + "' of " + llvm::sys::path::filename(options.input) +
                       ", for tenon-opt --run-reproducer")
                          .str();
  return writeFile(
      [&](llvm::raw_ostream &os) { printReproducer(input, title, pipeline ? getText(*pipeline) : "", os); });
}

CompileStatus Compilation::runPasses(StringRef phase, ModuleOp op, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(&context);
  // Verified once a phase instead, which is enough to find a reproducer.
  pm.enableVerifier(false);
  if (dumps.isActive())
    pm.addInstrumentation(createDumpInstrumentation(dumps));
  build(pm);
  if (CompileStatus status = beginPhase(phase, op, &pm); status != CompileStatus::done || isReproduced)
    return status;
  TimingScope scope = times.nest(phase);
  pm.enableTiming(scope);
  if (failed(pm.run(op)))
    return getFailure();
  return succeeded(verify(op)) ? CompileStatus::done : CompileStatus::fault;
}

CompileStatus Compilation::run() {
  CompileStatus (Compilation::*const steps[])() = {
      &Compilation::checkOptions, &Compilation::resolveTargets,       &Compilation::load,
      &Compilation::lowerGraph,   &Compilation::lowerWithinTolerance, &Compilation::writeResult};
  for (auto step : steps)
    if (CompileStatus status = (this->*step)(); status != CompileStatus::done || isReproduced)
      return status;
  return CompileStatus::done;
}

CompileStatus tenon::compileModel(const CompileOptions &options, llvm::raw_ostream &errors) {
  return Compilation(options, errors).run();
}
