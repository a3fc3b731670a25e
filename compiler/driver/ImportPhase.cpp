//===- ImportPhase.cpp - a model file to a module ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Calibration.h"
#include "compiler/driver/Choices.h"
#include "compiler/driver/NamedValues.h"
#include "compiler/driver/Phases.h"
#include "compiler/driver/SourceHash.h"
#include "compiler/driver/StatePairs.h"
#include "compiler/errors/CompileError.h"
#include "compiler/graph/Elements.h"
#include "compiler/import/huggingface/ImportHuggingFace.h"
#include "compiler/import/onnx/ImportOnnx.h"
#include "compiler/pipeline/Diagnostics.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/plan/Plan.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "passes/Unsupported.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

static llvm::Expected<Imported> buildModel(const CompileOptions &options, MLIRContext &context) {
  Imported imported{options.build(&context)};
  if (!imported.module)
    return makeReportedError(CompileStatus::invalid);
  imported.sourceHash = hashModule(*imported.module);
  if (failed(verify(*imported.module)))
    return makeReportedError(CompileStatus::invalid);
  return imported;
}

/// Returns the nesting depth of brackets in MLIR text, ignoring strings and comments; at most `limit` + 1.
static int64_t getNesting(StringRef text, int64_t limit) {
  int64_t depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size() && deepest <= limit; ++i) {
    char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
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

/// Printed IR stores weights as resources. As in the import, small ones become dense attributes, which folders read,
/// and so do all booleans.
template <typename Weight> static void makeSmallDense(Weight weight) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(weight.getValue());
  if (!resource)
    return;
  auto type = cast<RankedTensorType>(resource.getType());
  bool isBoolean = type.getElementType().isInteger(1);
  if (type.getNumElements() > kMaxDenseElements && !isBoolean)
    return;
  ArrayRef<char> bytes = resource.getRawHandle().getBlob()->getData();
  weight.setValueAttr(isBoolean ? makeElements(type, bytes, nullptr, "")
                                : DenseElementsAttr::getFromRawBuffer(type, bytes));
}

static void makeSmallWeightsDense(ModuleOp module) {
  module->walk([](WeightOp weight) { makeSmallDense(weight); });
  module->walk([](plan::WeightOp weight) { makeSmallDense(weight); });
}

/// What is fused is decided again.
static void inlineDispatchRegions(ModuleOp module) {
  module->walk([](DispatchOp dispatch) {
    Block &body = dispatch.getBody().front();
    Operation *yield = body.getTerminator();
    dispatch->getBlock()->getOperations().splice(dispatch->getIterator(), body.getOperations(), body.begin(),
                                                 yield->getIterator());
    dispatch->replaceAllUsesWith(yield->getOperands());
    dispatch->erase();
  });
}

/// Checks that a model only has functions in tenon operations.
static llvm::Error checkModel(ModuleOp module, const std::string &input) {
  if (!module.getOps<ModuleOp>().empty())
    return makeError(CompileStatus::unsupported, input + ": it holds several modules; a model is one");
  WalkResult result = module->walk([&](Operation *op) {
    if (isa<ModuleOp, func::FuncOp, func::ReturnOp>(op) || isa_and_nonnull<TenonDialect>(op->getDialect()))
      return WalkResult::advance();
    emitUnsupported(
        op, "operation '" + op->getName().getStringRef() +
                "' does not belong in a model; a file holds functions of the dialect 'tenon', or what a compilation "
                "made of them as long as it is a whole program");
    return WalkResult::interrupt();
  });
  return result.wasInterrupted() ? makeReportedError(CompileStatus::unsupported) : llvm::Error::success();
}

static llvm::Expected<Imported> parseText(StringRef text, const CompileOptions &options, MLIRContext &context) {
  // MLIR's parser calls itself for each level.
  constexpr int64_t kMaxNesting = 256;
  if (getNesting(text, kMaxNesting) > kMaxNesting)
    return makeError(CompileStatus::resources, options.input +
                                                   ": its brackets nest deeper than the limit 'nesting' of " +
                                                   std::to_string(kMaxNesting));
  Imported imported{parseSourceFile<ModuleOp>(options.input, &context)};
  if (!imported.module)
    return makeReportedError(CompileStatus::invalid);
  imported.stage = findStage(*imported.module);
  if (imported.stage == Stage::kernelsAlone)
    return makeError(CompileStatus::unsupported,
                     options.input +
                         ": it holds kernels, but no program that launches them; compile IR of the whole program, or "
                         "run passes on kernels with tenon-opt");
  makeSmallWeightsDense(*imported.module);
  if (imported.stage != Stage::model) {
    if (llvm::Error error = splitIR(imported, options.input))
      return error;
    return imported;
  }
  if (llvm::Error error = checkModel(*imported.module, options.input))
    return error;
  inlineDispatchRegions(*imported.module);
  return imported;
}

/// Returns the module of an importer, or an error with its category.
static llvm::Expected<Imported> adopt(ImportedModel imported, uint64_t sourceHash) {
  if (!imported)
    return makeReportedError(imported.fault == ImportFault::unsupported ? CompileStatus::unsupported
                             : imported.fault == ImportFault::limit     ? CompileStatus::resources
                                                                        : CompileStatus::invalid);
  if (failed(verify(*imported.module)))
    return makeReportedError(CompileStatus::fault);
  return Imported{std::move(imported.module), sourceHash};
}

static llvm::Expected<Imported> importFile(const CompileOptions &options, MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFile(options.input, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError(CompileStatus::invalid, options.input + ": " + buffer.getError().message());
  uint64_t sourceHash = XXH3_64bits((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
  if (StringRef(options.input).ends_with(".mlir")) {
    if (options.import.onInputFile)
      options.import.onInputFile(options.input, (*buffer)->getBufferSize());
    llvm::Expected<Imported> imported = parseText((*buffer)->getBuffer(), options, context);
    if (imported)
      imported->sourceHash = sourceHash;
    return imported;
  }
  buffer->reset();
  return adopt(importOnnxFile(options.input, options.import, &context), sourceHash);
}

/// Options of importers that IR has no use for.
static llvm::Error checkOptions(const CompileOptions &options) {
  const ImportOptions &import = options.import;
  for (auto [option, isGiven] : {std::pair("--shape", !import.shapes.empty()),
                                 {"--range", !import.ranges.empty()},
                                 {"--constant", !import.constants.empty()}})
    if (isGiven)
      return makeError(CompileStatus::misuse,
                       Twine(option) + ": the sizes of " + options.input + " are those that its text has");
  return llvm::Error::success();
}

static llvm::Expected<Imported> import(const CompileOptions &options, MLIRContext &context) {
  if (options.build)
    return buildModel(options, context);
  if (!llvm::sys::fs::is_directory(options.input))
    return importFile(options, context);
  uint64_t sourceHash = 0;
  ImportedModel imported = importHuggingFace(options.input, options.import, sourceHash, &context);
  return adopt(std::move(imported), sourceHash);
}

/// Lists the names of the arguments or results of main.
static std::vector<std::string> listNames(unsigned count, llvm::function_ref<DictionaryAttr(unsigned)> getAttributes) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < count; ++i) {
    DictionaryAttr attributes = getAttributes(i);
    auto name = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr();
    names.push_back(name ? name.str() : "");
  }
  return names;
}

/// Makes states of the pairs that --state names.
static llvm::Error pairStates(Imported &imported, const CompileOptions &options, PhaseRunner &runner) {
  auto main = imported.module->lookupSymbol<func::FuncOp>("main");
  if (imported.stage != Stage::model || !main)
    return makeError(CompileStatus::misuse, "--state: " + options.input + " is no model with a function 'main'");
  llvm::Expected<std::vector<std::string>> pairs = expandStatePairs(
      options.states, listNames(main.getNumArguments(), [&](unsigned i) { return main.getArgAttrDict(i); }),
      listNames(main.getNumResults(), [&](unsigned i) { return main.getResultAttrDict(i); }));
  if (!pairs)
    return pairs.takeError();
  std::vector<int64_t> sequences(options.import.sequences.begin(), options.import.sequences.end());
  return runner.run("states", *imported.module,
                    [&](OpPassManager &pm) { buildStatePipeline(pm, *pairs, options.stateCapacity, sequences); });
}

static llvm::Expected<Imported> importMarked(const Setup &setup, PhaseRunner &runner) {
  const CompileOptions &options = setup.options;
  bool isFolder = llvm::sys::fs::is_directory(options.input);
  bool isIR = !options.build && !isFolder && StringRef(options.input).ends_with(".mlir");
  if (options.import.context && !isFolder)
    return makeError(CompileStatus::misuse, "--context: " + options.input +
                                                " is no Hugging Face folder; --state keeps outputs of other models");
  if (options.import.contextType != ImportOptions::ContextType::f32 && !options.import.context)
    return makeError(CompileStatus::misuse, "--context-type: nothing is kept from run to run without --context");
  if (!options.import.sequences.empty() && !options.import.context && options.states.empty())
    return makeError(CompileStatus::misuse,
                     "--sequences: nothing is kept from run to run without --context or --state");
  if (!options.import.sequences.empty() && !options.import.marked.empty())
    return makeError(CompileStatus::misuse, "--sequences: --mark-output adds outputs to one program alone");
  if (isIR)
    if (llvm::Error error = checkOptions(options))
      return error;
  llvm::Expected<Imported> imported = import(options, runner.getContext());
  // The ONNX importer marks values itself, by their ONNX names.
  if (!imported || options.import.marked.empty() || !(options.build || isFolder || isIR))
    return imported;
  if (imported->stage != Stage::model)
    return makeError(CompileStatus::misuse,
                     "--mark-output: " + options.input + " is IR of kernels, which has no values of a model");
  if (llvm::Error error = markValues(*imported->module, options.import.marked, options.input))
    return error;
  return imported;
}

/// Chooses the integers of matrices for the inputs of --calibrate.
static llvm::Expected<CalibratedWeights> calibrate(ModuleOp imported, const Setup &setup, PhaseRunner &runner) {
  if (!setup.options.import.context)
    return calibrateWeights(OwningOpRef<ModuleOp>(imported.clone()), setup, runner);
  // A model that keeps its context computes the logits of the last token alone: the same one without it has all.
  CompileOptions options = setup.options;
  options.import.context = 0;
  options.import.sequences.clear();
  llvm::Expected<Imported> whole = import(options, runner.getContext());
  if (!whole)
    return whole.takeError();
  return calibrateWeights(std::move(whole->module), setup, runner);
}

/// Gives matrices the formats that --weights asks for.
static llvm::Error storeWeights(Imported &imported, const Setup &setup, PhaseRunner &runner,
                                const CalibratedWeights &calibrated) {
  const CompileOptions &options = setup.options;
  if (imported.stage != Stage::model)
    return makeError(CompileStatus::misuse,
                     "--weights: " + options.input + " is IR of kernels, whose weights have their formats already");
  if (isErrorAsked(options) && setup.makesArtifact)
    imported.original = imported.module->clone();
  imported.weights = std::make_shared<WeightPrecision>();
  imported.weights->calibration = calibrated.data;
  imported.weights->numCalibrationRuns = calibrated.numRuns;
  return runner.run("weights", *imported.module, [&](OpPassManager &pm) {
    buildWeightsPipeline(pm, options.weights, imported.weights, calibrated.matrices);
  });
}

llvm::Expected<Imported> phases::importModel(const Setup &setup, PhaseRunner &runner) {
  if (setup.options.readCalibration && setup.options.weights.empty())
    return makeError(CompileStatus::misuse, "--calibrate: --weights asks for no format");
  runner.announce(kImportPhase);
  llvm::Expected<Imported> imported = importMarked(setup, runner);
  CalibratedWeights calibrated;
  // Before there are states: runs begin without any.
  if (imported && imported->stage == Stage::model && setup.options.readCalibration) {
    llvm::Expected<CalibratedWeights> made = calibrate(*imported->module, setup, runner);
    if (!made)
      return made.takeError();
    calibrated = std::move(*made);
  }
  if (imported && !setup.options.states.empty())
    if (llvm::Error error = pairStates(*imported, setup.options, runner))
      return error;
  if (imported && !setup.options.weights.empty())
    if (llvm::Error error = storeWeights(*imported, setup, runner, calibrated))
      return error;
  return imported;
}

static llvm::Error setUpAndUse(const CompileOptions &options, PhaseRunner &runner,
                               llvm::function_ref<llvm::Error(Setup &, PhaseRunner &)> use) {
  llvm::Expected<Setup> setup = setUp(options, getBackendRegistry());
  return setup ? use(*setup, runner) : setup.takeError();
}

CompileStatus phases::withSetup(const CompileOptions &options, llvm::raw_ostream &errors,
                                llvm::function_ref<llvm::Error(Setup &, PhaseRunner &)> use) {
  MLIRContext context(makeRegistry(options, getBackendRegistry()));
  DiagnosticPrinter diagnostics(context, options.input, errors);
  PhaseOptions phases;
  phases.sourceName = options.input;
  PhaseRunner runner(context, diagnostics, phases);
  return diagnostics.report(setUpAndUse(options, runner, use));
}

CompileStatus phases::useImported(const CompileOptions &options, llvm::raw_ostream &errors,
                                  llvm::function_ref<llvm::Error(Imported &)> use) {
  return withSetup(options, errors, [&](Setup &setup, PhaseRunner &runner) -> llvm::Error {
    llvm::Expected<Imported> imported = importModel(setup, runner);
    return imported ? use(*imported) : imported.takeError();
  });
}
