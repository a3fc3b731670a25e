//===- ImportHuggingFace.cpp - files, options, and the border that nothing is thrown across ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/ImportHuggingFace.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/huggingface/Architectures.h"

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
  Graph graph(context, architecture->name);
  InputShapes inputShapes(options, report, context);
  ModelContext model(graph, *config, checkpoint, inputShapes);
  model.pooling = readPooling(files, report);
  model.quantization = quantization;
  model.context = options.context;
  model.contextType = getType(options.contextType);
  if (options.context && !architecture->isDecoder)
    report.add(ImportFault::unsupported, Twine("--context: ") + architecture->name + " does not go on with a text");
  if (!report.hasFaults())
    architecture->build(model);
  checkpoint.reportFaults(architecture->name);
  if (report.hasFaults())
    return {};
  OwningOpRef<ModuleOp> module = graph.finish();
  if (module)
    inputShapes.setRanges(*module);
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
