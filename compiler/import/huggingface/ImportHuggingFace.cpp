//===- ImportHuggingFace.cpp - files, options, and the border that nothing is thrown across ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/ImportHuggingFace.h"
#include "compiler/errors/CompileError.h"
#include "compiler/graph/Programs.h"
#include "compiler/import/huggingface/Architectures.h"

#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::huggingface;

static constexpr char kConfigFile[] = "config.json";

static std::optional<Config> readConfig(ExternalFiles &files, Report &report) {
  llvm::Expected<std::shared_ptr<const MappedFile>> file = files.open(kConfigFile);
  if (!file) {
    report.add(ImportFault::invalidModel, "has no config.json that can be read (" + llvm::toString(file.takeError()) +
                                              "); a Hugging Face model is a folder with one");
    return std::nullopt;
  }
  llvm::Expected<Json> fields = parseJsonObject((*file)->getBytes());
  if (!fields) {
    report.add(prefixError(fields.takeError(), Twine(kConfigFile) + " "));
    return std::nullopt;
  }
  return Config(std::move(*fields), report);
}

static graph::DType getType(ImportOptions::ContextType type) {
  switch (type) {
  case ImportOptions::ContextType::f32:
    return graph::DType::f32;
  case ImportOptions::ContextType::f16:
    return graph::DType::f16;
  case ImportOptions::ContextType::bf16:
    return graph::DType::bf16;
  }
  llvm_unreachable("all types are listed");
}

namespace {
/// What all functions of a folder's module are built from.
struct Folder {
  const Config &config;
  const Architecture &architecture;
  Checkpoint &checkpoint;
  const Quantization &quantization;
  const std::optional<Pooling> &pooling;
  const TokenRules &tokenRules;
  const ImportOptions &options;
  Report &report;
};
} // namespace

/// Builds the model for runs of so many sequences. Its main takes the inputs that `inputShapes` declares.
static OwningOpRef<ModuleOp> buildModel(const Folder &folder, int64_t numSequences, ModelContext::Runs runs,
                                        InputShapes &inputShapes, MLIRContext *context) {
  Graph graph(context, folder.architecture.name);
  ModelContext model(graph, folder.config, folder.checkpoint, inputShapes);
  model.pooling = folder.pooling;
  model.quantization = folder.quantization;
  model.context = folder.options.context;
  model.contextType = getType(folder.options.contextType);
  model.tokenRules = folder.tokenRules;
  model.numSequences = numSequences;
  model.runs = runs;
  if (numSequences > 1)
    graph.setSequences(numSequences);
  folder.architecture.build(model);
  folder.checkpoint.reportFaults(folder.architecture.name);
  if (folder.report.hasFaults())
    return {};
  OwningOpRef<ModuleOp> module = graph.finish();
  if (module)
    inputShapes.setRanges(*module);
  return module;
}

/// Adds a program for some runs to `module`.
static LogicalResult addProgram(ModuleOp module, const Folder &folder, int64_t numSequences, ModelContext::Runs runs,
                                StringRef sizes) {
  // Options about the inputs are for those of the model.
  ImportOptions none;
  InputShapes inputShapes(none, folder.report, module.getContext());
  OwningOpRef<ModuleOp> other = buildModel(folder, numSequences, runs, inputShapes, module.getContext());
  if (!other)
    return failure();
  graph::addProgram(module, *other, sizes);
  return success();
}

/// Adds the programs that are not made from main: those of several sequences, each of which has one token, and those
/// for runs that go on with a text where they differ from its first run.
static LogicalResult addPrograms(ModuleOp module, const Folder &folder) {
  using Runs = ModelContext::Runs;
  // Without a context, states are those that --state makes, and so are programs for several sequences.
  if (!folder.options.context)
    return success();
  for (int64_t count : std::set<int64_t>(folder.options.sequences.begin(), folder.options.sequences.end()))
    if (failed(addProgram(module, folder, count, Runs::any, "sequences=" + std::to_string(count))))
      return failure();
  if (!folder.architecture.firstRunInput)
    return success();
  std::string later = std::string(folder.architecture.firstRunInput) + "=0";
  return success(succeeded(addProgram(module, folder, 1, Runs::single, later + ";length=1")) &&
                 succeeded(addProgram(module, folder, 1, Runs::later, later)));
}

/// Reports options about the context that are not for this architecture.
static void checkContext(const Architecture &architecture, const ImportOptions &options, Report &report) {
  if (options.context && !architecture.isDecoder)
    report.add(ImportFault::unsupported, Twine("--context: ") + architecture.name + " does not go on with a text");
  if (!options.sequences.empty() && architecture.firstRunInput)
    report.add(ImportFault::unsupported, Twine("--sequences: ") + architecture.name +
                                             " goes on with one text at a time, which begins with " +
                                             architecture.firstRunInput);
}

static OwningOpRef<ModuleOp> importFolder(ExternalFiles &files, const ImportOptions &options, Report &report,
                                          MLIRContext *context) {
  std::optional<Config> config = readConfig(files, report);
  if (!config)
    return {};
  const Architecture *architecture = findArchitecture(*config);
  Quantization quantization = readQuantization(*config);
  Checkpoint checkpoint(files, report, context);
  if (report.hasFaults() || !checkpoint.read())
    return {};
  std::optional<Pooling> pooling = readPooling(files, report);
  checkContext(*architecture, options, report);
  TokenRules tokenRules;
  if (options.context && architecture->firstRunInput)
    tokenRules = readTokenRules(files, *config, report);
  if (report.hasFaults())
    return {};
  Folder folder{*config, *architecture, checkpoint, quantization, pooling, tokenRules, options, report};
  InputShapes inputShapes(options, report, context);
  OwningOpRef<ModuleOp> module = buildModel(folder, 1, ModelContext::Runs::any, inputShapes, context);
  if (!module || failed(addPrograms(*module, folder)))
    return {};
  return module;
}

ImportedModel tenon::importHuggingFace(StringRef folder, const ImportOptions &options, uint64_t &sourceHash,
                                       MLIRContext *context) {
  Report report(folder.str());
  ImportedModel result;
  ExternalFiles files(folder.str(), options.onInputFile);
  files.setNames();
  result.module = importFolder(files, options, report, context);
  if (result.module)
    sourceHash = files.hash();
  else // Where the report says nothing, the graph has.
    result.fault = report.hasFaults() ? report.getKind() : ImportFault::invalidModel;
  report.emitAll(context);
  return result;
}
