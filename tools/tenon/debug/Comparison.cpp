//===- Comparison.cpp - a compiled model and a reference, run and compared ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Comparison.h"
#include "llvm/Support/FileSystem.h"

using namespace tenon;
using namespace tenon::debug;

static bool isOnnx(const std::string &path) {
  return !llvm::sys::fs::is_directory(path) && !llvm::StringRef(path).ends_with(".mlir");
}

llvm::Expected<std::unique_ptr<Comparison>> Comparison::create(DebugOptions options) {
  std::unique_ptr<Comparison> comparison(new Comparison(std::move(options)));
  const DebugOptions &known = comparison->options;
  llvm::Expected<Reference> reference = Reference::parse(known.against);
  if (!reference)
    return reference.takeError();
  comparison->reference = std::move(*reference);
  if (comparison->reference.isPython() && !isOnnx(known.compile.input))
    return makeError(CompileStatus::misuse,
                     "--against " + known.against + " takes ONNX models, and " + known.compile.input + " is none");
  llvm::Expected<std::unique_ptr<Workspace>> workspace = Workspace::create();
  if (!workspace)
    return workspace.takeError();
  comparison->workspace = std::move(*workspace);
  comparison->limit = {known.compile.tolerance, known.maxError, comparison->reference.isExact()};
  return comparison;
}

/// The category and the message of an error.
static StepEnd takeEnd(llvm::Error error) {
  StepEnd end;
  end.status = takeError(std::move(error), end.message);
  return end;
}

StepEnd Comparison::compile() {
  prepared = workspace->makePath("model.tenon");
  if (StepEnd end = workspace->compile(options.compile, prepared); !end)
    return end;
  if (!isOnnx(options.compile.input))
    return {};
  // The import has accepted it, so it is a valid model.
  llvm::Expected<OnnxGraph> read = OnnxGraph::read(options.compile.input);
  if (!read)
    return takeEnd(read.takeError());
  graph.emplace(std::move(*read));
  return {};
}

StepEnd Comparison::makeInputs() {
  run::Options how = options.run;
  how.artifact = prepared;
  std::string folder = workspace->makeFolder("inputs");
  StepEnd end = reference.kind == Reference::Kind::testData
                    ? captureTestData(*workspace, reference.path, "input", how, folder)
                    : workspace->captureInputs(how, folder);
  return end ? takeInputs(folder) : end;
}

StepEnd Comparison::takeInputs(const std::string &folder) {
  inputFolder = folder;
  llvm::Expected<std::vector<CapturedTensor>> captured = readCapture(folder);
  if (!captured)
    return takeEnd(captured.takeError());
  inputs = std::move(*captured);
  return {};
}

/// What a step left in a folder.
static Captured collect(StepEnd end, const std::string &folder) {
  Captured captured{std::move(end), {}};
  if (!captured.end)
    return captured;
  llvm::Expected<std::vector<CapturedTensor>> tensors = readCapture(folder);
  if (tensors)
    captured.tensors = std::move(*tensors);
  else
    captured.end = takeEnd(tensors.takeError());
  return captured;
}

static uint64_t getMaxBytes(llvm::ArrayRef<std::string> marked, uint64_t keepBytes) {
  return marked.empty() ? UINT64_MAX : keepBytes;
}

Captured Comparison::runPrepared() {
  run::Options how = options.run;
  how.artifact = prepared;
  std::string folder = workspace->makeFolder("outputs");
  return collect(workspace->runArtifact(how, inputs, folder, UINT64_MAX), folder);
}

Captured Comparison::runCompiled(const CompileOptions &how, llvm::ArrayRef<std::string> marked, StepEnd *compiled) {
  CompileOptions compile = how;
  llvm::append_range(compile.import.marked, marked);
  run::Options run = options.run;
  run.artifact = workspace->makePath("kept.tenon");
  StepEnd compilation = workspace->compile(compile, run.artifact);
  if (compiled)
    *compiled = compilation;
  if (!compilation)
    return {std::move(compilation), {}};
  std::string folder = workspace->makeFolder("outputs");
  StepEnd end = workspace->runArtifact(run, inputs, folder, getMaxBytes(marked, options.keepBytes));
  (void)llvm::sys::fs::remove(run.artifact);
  return collect(std::move(end), folder);
}

std::vector<std::string> Comparison::listValues() const {
  std::vector<std::string> names;
  if (!graph || !reference.hasValues())
    return names;
  std::optional<OnnxGraph> other;
  if (reference.kind == Reference::Kind::model) {
    llvm::Expected<OnnxGraph> read = OnnxGraph::read(reference.path);
    if (read)
      other.emplace(std::move(*read));
    else
      llvm::consumeError(read.takeError());
    // A model of another kind has outputs alone to compare with.
    if (!other)
      return names;
  }
  for (const GraphValue &value : graph->getValues())
    if (!other || other->findValue(value.name))
      names.push_back(value.name);
  return names;
}

CompileOptions Comparison::getReferenceModel() const {
  CompileOptions model = options.compile;
  if (reference.kind == Reference::Kind::model)
    model.input = reference.path;
  return model;
}

Captured Comparison::runReference(llvm::ArrayRef<std::string> marked) {
  std::string folder = workspace->makeFolder("reference");
  if (reference.isPython())
    return collect(runPython(*workspace, reference, options.python, options.compile.input, inputFolder, marked, folder),
                   folder);
  run::Options artifact = options.run;
  if (reference.kind == Reference::Kind::artifact) {
    artifact.artifact = reference.path;
    return collect(workspace->runArtifact(artifact, inputs, folder, UINT64_MAX), folder);
  }
  if (reference.kind == Reference::Kind::testData) {
    artifact.artifact = prepared;
    return collect(captureTestData(*workspace, reference.path, "output", artifact, folder), folder);
  }
  CompileOptions model = getReferenceModel();
  llvm::append_range(model.import.marked, marked);
  return collect(workspace->runReference(model, inputs, folder, getMaxBytes(marked, options.keepBytes)), folder);
}

/// Keeps each half of the values, and halves of that where it is too large or cannot be an output.
static void keepHalves(llvm::ArrayRef<std::string> values,
                       llvm::function_ref<Captured(llvm::ArrayRef<std::string>)> runWith, Captured &all) {
  if (values.size() == 1)
    return;
  for (llvm::ArrayRef<std::string> half :
       {values.take_front(values.size() / 2), values.drop_front(values.size() / 2)}) {
    Captured kept = runWith(half);
    if (!kept.end)
      keepHalves(half, runWith, all);
    for (CapturedTensor &tensor : kept.tensors)
      if (!findTensor(all.tensors, tensor.name, tensor.role))
        all.tensors.push_back(std::move(tensor));
  }
}

Captured Comparison::keepValues(llvm::ArrayRef<std::string> values, bool ofReference) {
  auto runWith = [&](llvm::ArrayRef<std::string> marked) {
    return ofReference ? runReference(marked) : runCompiled(options.compile, marked);
  };
  Captured all = runWith(values);
  if (all.end || values.empty())
    return all;
  // Values are at fault only where the model can be run without them.
  all = runWith({});
  if (all.end)
    keepHalves(values, runWith, all);
  return all;
}

static const char *getRoleName(tenon_role role) {
  switch (role) {
  case TENON_ROLE_ELEMENTS:
    return " (elements)";
  case TENON_ROLE_SHAPES:
    return " (shapes)";
  case TENON_ROLE_HAS:
    return " (has)";
  case TENON_ROLE_BYTES:
    return " (bytes)";
  case TENON_ROLE_ENDS:
    return " (ends)";
  default:
    return "";
  }
}

llvm::Expected<std::vector<ComparedValue>> Comparison::compare(const Captured &got, const Captured &want,
                                                               llvm::ArrayRef<std::string> names) {
  std::vector<ComparedValue> compared;
  for (const std::string &name : names) {
    ComparedValue described;
    described.name = described.value = name;
    described.whyNot = "cannot be kept as an output";
    if (const GraphValue *made = graph ? graph->findValue(name) : nullptr) {
      described.node = made->node;
      described.op = made->op;
      described.nodeIndex = made->nodeIndex;
    }
    if (llvm::none_of(got.tensors, [&](const CapturedTensor &tensor) { return tensor.name == name; }))
      compared.push_back(described);
    for (const CapturedTensor &tensor : got.tensors) {
      if (tensor.name != name)
        continue;
      ComparedValue &value = compared.emplace_back(described);
      value.name = name + getRoleName(tensor.role);
      value.type = tensor.describeType();
      value.whyNot.clear();
      value.allowed = limit.getAllowed(tensor.dtype);
      const CapturedTensor *wanted = findTensor(want.tensors, name, tensor.role);
      if (!wanted) {
        value.whyNot = "the reference has no such value";
        continue;
      }
      llvm::Expected<ValueError> error = compareTensors(tensor, *wanted);
      if (!error)
        return error.takeError();
      value.error = std::move(*error);
      value.diverges = !limit.allows(value.error, tensor.dtype);
    }
  }
  return compared;
}
