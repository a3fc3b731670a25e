//===- ImportPhase.cpp - a model file to a module ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Phases.h"
#include "compiler/driver/SourceHash.h"
#include "compiler/errors/CompileError.h"
#include "compiler/graph/Elements.h"
#include "compiler/import/huggingface/ImportHuggingFace.h"
#include "compiler/import/onnx/ImportOnnx.h"
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

/// Printed IR has all weights as resources. As in the import, those of few elements are dense, which folds look into,
/// and so are all booleans.
static void makeSmallWeightsDense(ModuleOp module) {
  module->walk([](WeightOp weight) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(weight.getValue());
    RankedTensorType type = weight.getType();
    bool isBoolean = type.getElementType().isInteger(1);
    if (!resource || (type.getNumElements() > kMaxDenseElements && !isBoolean))
      return;
    ArrayRef<char> bytes = resource.getRawHandle().getBlob()->getData();
    weight.setValueAttr(isBoolean ? makeElements(type, bytes, nullptr, "")
                                  : DenseElementsAttr::getFromRawBuffer(type, bytes));
  });
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

static llvm::Expected<OwningOpRef<ModuleOp>> parseText(StringRef text, const CompileOptions &options,
                                                       MLIRContext &context) {
  // MLIR's parser calls itself for each level.
  constexpr int64_t kMaxNesting = 256;
  if (getNesting(text, kMaxNesting) > kMaxNesting)
    return makeError(CompileStatus::resources, options.input +
                                                   ": its brackets nest deeper than the limit 'nesting' of " +
                                                   std::to_string(kMaxNesting));
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(options.input, &context);
  if (!module)
    return makeReportedError(CompileStatus::invalid);
  WalkResult result = module->walk([&](Operation *op) {
    if (isa<LaunchOp>(op)) {
      emitUnsupported(op, "launches a kernel: what the pass tenon-outline made cannot be compiled again, what comes "
                          "before it can; tenon-opt runs single passes");
      return WalkResult::interrupt();
    }
    if (isa<ModuleOp, func::FuncOp, func::ReturnOp>(op) || isa_and_nonnull<TenonDialect>(op->getDialect()))
      return WalkResult::advance();
    emitUnsupported(op, "operation '" + op->getName().getStringRef() +
                            "' is none of a model; a file holds functions of the dialect 'tenon'");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return makeReportedError(CompileStatus::unsupported);
  makeSmallWeightsDense(*module);
  inlineDispatchRegions(*module);
  return module;
}

/// The module of an importer, or the category of its failure.
static llvm::Expected<Imported> adopt(ImportedModel imported, uint64_t sourceHash) {
  if (!imported)
    return makeReportedError(imported.fault == ImportFault::Unsupported ? CompileStatus::unsupported
                             : imported.fault == ImportFault::Limit     ? CompileStatus::resources
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
    llvm::Expected<OwningOpRef<ModuleOp>> module = parseText((*buffer)->getBuffer(), options, context);
    if (!module)
      return module.takeError();
    return Imported{std::move(*module), sourceHash};
  }
  buffer->reset();
  return adopt(importOnnxFile(options.input, options.import, &context), sourceHash);
}

llvm::Expected<Imported> phases::importModel(const Setup &setup, PhaseRunner &runner) {
  runner.announce(kImportPhase);
  const CompileOptions &options = setup.options;
  MLIRContext &context = runner.getContext();
  bool isFolder = llvm::sys::fs::is_directory(options.input);
  if (!options.import.marked.empty() && (options.build || isFolder || StringRef(options.input).ends_with(".mlir")))
    return makeError(CompileStatus::misuse,
                     "--mark-output names values of ONNX models, and " + options.input + " is none");
  if (options.build)
    return buildModel(options, context);
  if (!isFolder)
    return importFile(options, context);
  uint64_t sourceHash = 0;
  ImportedModel imported = importHuggingFace(options.input, options.import, sourceHash, &context);
  return adopt(std::move(imported), sourceHash);
}
