//===- Comparison.cpp - a compiled model and a reference, run and compared ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Comparison.h"
#include "compiler/driver/NamedValues.h"
#include "tools/tenon/debug/InnerValues.h"
#include "llvm/Support/FileSystem.h"
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>

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
                     "--against " + known.against + " takes ONNX models, but " + known.compile.input + " is not one");
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
  return readValues();
}

llvm::Expected<std::vector<GraphValue>> Comparison::readNamedValues(const std::string &input) {
  CompileOptions model = options.compile;
  model.input = input;
  std::string path = workspace->makePath("values.json");
  auto write = [&](llvm::ArrayRef<NamedValue> values) {
    nlohmann::json list = nlohmann::json::array();
    for (const NamedValue &value : values)
      list.push_back({value.name, value.node, value.operation, value.reads});
    return writeFile(path, list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  StepEnd end = workspace->runStep("the names of values",
                                   [&](llvm::raw_ostream &errors) { return useNamedValues(model, errors, write); });
  if (!end)
    return makeError(end.status, end.message);
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!text)
    return makeError(CompileStatus::resources, path + ": " + text.getError().message());
  std::vector<GraphValue> values;
  for (const nlohmann::json &entry : nlohmann::json::parse((*text)->getBuffer()))
    values.push_back({entry[0], entry[1], entry[2], values.size(), {}, entry[3]});
  return values;
}

/// The names of an artifact's outputs.
static llvm::Expected<llvm::StringSet<>> readOutputs(Workspace &workspace, run::Options how) {
  std::string path = workspace.makePath("outputs.txt");
  StepEnd end = workspace.runStep("the outputs of " + how.artifact, [&](llvm::raw_ostream &errors) {
    run::Model model;
    if (llvm::Error error = takeStatus(model.load(how)))
      return reportError(std::move(error), errors);
    return reportError(writeFile(path, llvm::join(run::namesOf(model.outputs), "\n")), errors);
  });
  if (!end)
    return makeError(end.status, end.message);
  llvm::StringSet<> names;
  if (auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true)) {
    llvm::SmallVector<llvm::StringRef> lines;
    (*text)->getBuffer().split(lines, '\n');
    names.insert(lines.begin(), lines.end());
  }
  return names;
}

StepEnd Comparison::readValues() {
  if (isOnnx(options.compile.input)) {
    // The importer has accepted the model, so it is valid.
    llvm::Expected<OnnxGraph> read = OnnxGraph::read(options.compile.input);
    if (!read)
      return takeEnd(read.takeError());
    graph.emplace(std::move(*read));
  } else {
    llvm::Expected<std::vector<GraphValue>> read = readNamedValues(options.compile.input);
    if (!read)
      return takeEnd(read.takeError());
    named = std::move(*read);
    for (const GraphValue &value : named)
      namedIndices.try_emplace(value.name, value.nodeIndex);
  }
  if (reference.kind == Reference::Kind::artifact) {
    run::Options artifact = options.run;
    artifact.artifact = reference.path;
    llvm::Expected<llvm::StringSet<>> names = readOutputs(*workspace, artifact);
    if (!names)
      return takeEnd(names.takeError());
    // What are outputs of both is compared in any case.
    for (const std::string &output : graph ? graph->listOutputs() : std::vector<std::string>())
      names->erase(output);
    otherNames = std::move(*names);
  }
  return reference.kind == Reference::Kind::model ? readReferenceValues() : StepEnd();
}

StepEnd Comparison::readReferenceValues() {
  otherNames.emplace();
  std::vector<GraphValue> values;
  if (isOnnx(reference.path)) {
    llvm::Expected<OnnxGraph> read = OnnxGraph::read(reference.path);
    if (!read)
      return takeEnd(read.takeError());
    otherGraph.emplace(std::move(*read));
    values = otherGraph->getValues();
    llvm::append_range(values, otherGraph->getInnerValues());
  } else {
    llvm::Expected<std::vector<GraphValue>> read = readNamedValues(reference.path);
    if (!read)
      return takeEnd(read.takeError());
    values = std::move(*read);
  }
  for (const GraphValue &value : values)
    otherNames->insert(value.name);
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

/// Writes a model in which inner values are outputs of nodes of the main graph.
static llvm::Error writeExposed(const std::string &model, const llvm::StringSet<> &inner, const std::string &path) {
  llvm::Expected<OnnxGraph> graph = OnnxGraph::read(model);
  if (!graph)
    return graph.takeError();
  if (llvm::Error error = graph->embedExternalData())
    return error;
  onnx::ModelProto exposed = graph->getModel();
  exposeInnerValues(exposed, inner);
  std::string bytes;
  if (!exposed.SerializeToString(&bytes))
    return makeError(CompileStatus::resources, model + ": is too large to be written with its weights in one file");
  return writeFile(path, bytes);
}

StepEnd Comparison::expose(const OnnxGraph &of, llvm::ArrayRef<std::string> marked, std::string &model) {
  llvm::StringSet<> inner;
  for (const std::string &name : marked)
    if (of.findInnerValue(name))
      inner.insert(name);
  if (inner.empty())
    return {};
  std::string path = workspace->makePath("exposed.onnx");
  StepEnd end = workspace->runStep("the values inside of nodes", [&](llvm::raw_ostream &errors) {
    return reportError(writeExposed(model, inner, path), errors);
  });
  model = path;
  return end;
}

Captured Comparison::runCompiled(const CompileOptions &how, llvm::ArrayRef<std::string> marked, StepEnd *compiled) {
  CompileOptions compile = how;
  if (graph)
    if (StepEnd end = expose(*graph, marked, compile.input); !end)
      return {std::move(end), {}};
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

const GraphValue *Comparison::findValue(llvm::StringRef name) const {
  if (graph) {
    const GraphValue *value = graph->findValue(name);
    return value ? value : graph->findInnerValue(name);
  }
  auto it = namedIndices.find(name);
  return it == namedIndices.end() ? nullptr : &named[it->second];
}

std::vector<std::string> Comparison::listReads(llvm::StringRef name) const {
  if (graph)
    return graph->listReads(name);
  const GraphValue *value = findValue(name);
  return value ? value->reads : std::vector<std::string>();
}

/// Returns the names of those values that the reference has, too.
std::vector<std::string> Comparison::listKnown(const std::vector<GraphValue> &values) const {
  std::vector<std::string> names;
  if (reference.kind == Reference::Kind::testData)
    return names;
  for (const GraphValue &value : values)
    if (!otherNames || otherNames->contains(value.name))
      names.push_back(value.name);
  return names;
}

std::vector<std::string> Comparison::listValues() const { return listKnown(graph ? graph->getValues() : named); }

std::vector<std::string> Comparison::listInnerValues() const {
  return graph ? listKnown(graph->getInnerValues()) : std::vector<std::string>();
}

CompileOptions Comparison::getReferenceModel() const {
  CompileOptions model = options.compile;
  if (reference.kind == Reference::Kind::model)
    model.input = reference.path;
  return model;
}

Captured Comparison::runReference(llvm::ArrayRef<std::string> marked) {
  std::string folder = workspace->makeFolder("reference");
  if (reference.isPython()) {
    std::string model = options.compile.input;
    if (StepEnd end = expose(*graph, marked, model); !end)
      return {std::move(end), {}};
    return collect(runPython(*workspace, reference, options.python, model, inputFolder, marked, folder), folder);
  }
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
  const std::optional<OnnxGraph> &of = reference.kind == Reference::Kind::model ? otherGraph : graph;
  if (of)
    if (StepEnd end = expose(*of, marked, model.input); !end)
      return {std::move(end), {}};
  llvm::append_range(model.import.marked, marked);
  return collect(workspace->runReference(model, inputs, folder, getMaxBytes(marked, options.keepBytes)), folder);
}

/// Captures each half of the values, and recursively their halves if they are too large or cannot be outputs.
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
  // The values are the cause only if the model can be run without them.
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

/// Returns the indices of a part in the dimensions that enumerate the parts.
static std::vector<int64_t> getPlaces(llvm::ArrayRef<int64_t> dims, int64_t part) {
  std::vector<int64_t> places(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    places[i] = part % dims[i];
    part /= dims[i];
  }
  return places;
}

llvm::Error Comparison::compareOne(const CapturedTensor &got, const CapturedTensor &want, ComparedValue &value) const {
  // Components of a value that is not a tensor are not stacked.
  size_t numDims = std::min(value.loops.size(), got.dims.size());
  llvm::Expected<std::vector<ValueError>> parts = compareParts(got, want, numDims);
  if (!parts)
    return parts.takeError();
  for (auto [i, part] : llvm::enumerate(*parts)) {
    value.diverges = !limit.allows(part, got.dtype);
    if (i == 0 || value.diverges || part.error > value.error.error)
      value.error = part;
    if (value.diverges) {
      if (part.mismatch.empty())
        value.iteration = getPlaces(llvm::ArrayRef(got.dims).take_front(numDims), static_cast<int64_t>(i));
      break;
    }
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<ComparedValue>> Comparison::compare(const Captured &got, const Captured &want,
                                                               llvm::ArrayRef<std::string> names) {
  std::vector<ComparedValue> compared;
  for (const std::string &name : names) {
    ComparedValue described;
    described.name = described.value = name;
    described.whyNot = "cannot be kept as an output";
    const GraphValue *made = findValue(name);
    if (made) {
      described.node = made->node;
      described.op = made->op;
      described.nodeIndex = made->nodeIndex;
      described.loops = made->loops;
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
      if (made && made->isInner && tensor.getCount() == 0 && wanted->getCount() == 0) {
        value.whyNot = "is empty, or not taken";
        continue;
      }
      if (llvm::Error error = compareOne(tensor, *wanted, value))
        return error;
    }
  }
  return compared;
}
