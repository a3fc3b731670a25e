//===- Reference.cpp - what a compiled model is compared with -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Reference.h"
#include "tools/tenon-run/TestData.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace tenon;
using namespace tenon::debug;

llvm::Expected<Reference> Reference::parse(const std::string &text) {
  if (text == "f64")
    return Reference{Kind::f64, ""};
  if (text == "onnxruntime")
    return Reference{Kind::onnxruntime, ""};
  if (text == "onnx")
    return Reference{Kind::onnx, ""};
  if (!llvm::sys::fs::exists(text))
    return makeError(CompileStatus::misuse, "--against: expected f64, onnxruntime, onnx, or a file or folder, and '" +
                                                text + "' does not exist");
  if (llvm::sys::fs::exists(text + "/output_0.pb"))
    return Reference{Kind::testData, text};
  return Reference{llvm::StringRef(text).ends_with(".tenon") ? Kind::artifact : Kind::model, text};
}

std::string Reference::describe() const {
  switch (kind) {
  case Kind::f64:
    return "the model in f64";
  case Kind::model:
    return path + " in f64";
  case Kind::artifact:
  case Kind::testData:
    return path;
  case Kind::onnxruntime:
    return "ONNX Runtime";
  case Kind::onnx:
    return "ONNX's evaluator";
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// Python
//===----------------------------------------------------------------------===//

/// The script reads and writes captures in the format of Capture.h. Arguments: the package, the model, the folder of
/// the inputs, a file with the names of values, the folder of the outputs.
static constexpr char kScript[] = R"(
import json, os, sys

package, path, inputs, names, folder = sys.argv[1:]
try:
    import numpy
    import onnx
    if package == "onnxruntime":
        import onnxruntime
    else:
        from onnx.reference import ReferenceEvaluator
except ImportError as error:
    sys.exit(f"{sys.executable} has no module '{error.name}'; install it there, or name another interpreter by --python")

TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "bool": "bool"}
TYPES.update({kind[0] + bits: kind + bits for kind in ("int", "uint") for bits in ("8", "16", "32", "64")})
NAMES = {value: key for key, value in TYPES.items()}

def read(entry):
    if entry["role"] != 0 or entry["dtype"] not in TYPES:
        sys.exit(f"input '{entry['name']}' is of a type that cannot be given to Python: {entry['dtype']}")
    if entry["dtype"] == "bf16":
        import ml_dtypes
    kind = numpy.dtype(TYPES[entry["dtype"]])
    return numpy.fromfile(os.path.join(inputs, entry["file"]), kind).reshape(entry["dims"])

model = onnx.load(path)
own = [output.name for output in model.graph.output]
made = {name for node in model.graph.node for name in node.output}
for name in json.load(open(names, encoding="utf-8")):
    if name in made and name not in own:
        model.graph.output.append(onnx.ValueInfoProto(name=name))
own = [output.name for output in model.graph.output]
initializers = {tensor.name for tensor in model.graph.initializer}
wanted = {value.name for value in model.graph.input} - initializers
with open(os.path.join(inputs, "index.json"), encoding="utf-8") as index:
    feeds = {entry["name"]: read(entry) for entry in json.load(index) if entry["name"] in wanted}
if package == "onnxruntime":
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(own, feeds)
else:
    results = ReferenceEvaluator(model).run(own, feeds)

tensors = []
for name, value in zip(own, results):
    value = numpy.asarray(value) if isinstance(value, numpy.generic) else value
    if not isinstance(value, numpy.ndarray) or value.dtype.name not in NAMES:
        continue
    file = f"{len(tensors)}.bin"
    numpy.ascontiguousarray(value).tofile(os.path.join(folder, file))
    tensors.append({"name": name, "role": 0, "dtype": NAMES[value.dtype.name], "dims": list(value.shape), "file": file})
with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as index:
    json.dump(tensors, index)
)";

/// Returns Python's error in one line: the last line of a traceback.
static std::string getLastLine(const std::string &file) {
  auto text = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!text)
    return "";
  llvm::StringRef all = (*text)->getBuffer().rtrim();
  return all.substr(all.rfind('\n') + 1).str();
}

StepEnd debug::runPython(Workspace &workspace, const Reference &reference, const std::string &python,
                         const std::string &model, const std::string &inputs, llvm::ArrayRef<std::string> values,
                         const std::string &folder) {
  auto interpreter = llvm::sys::findProgramByName(python);
  if (!interpreter)
    return {CompileStatus::unsupported, "--python: no program '" + python + "'"};
  std::string names = workspace.makePath("names.json"), messages = workspace.makePath("messages");
  if (llvm::Error error =
          writeFile(names, nlohmann::json(values.vec()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)))
    return {CompileStatus::resources, llvm::toString(std::move(error))};
  const char *package = reference.kind == Reference::Kind::onnx ? "onnx" : "onnxruntime";
  std::string failure;
  int status =
      llvm::sys::ExecuteAndWait(*interpreter, {*interpreter, "-c", kScript, package, model, inputs, names, folder},
                                std::nullopt, {llvm::StringRef(), messages, messages}, 0, 0, &failure);
  if (status == 0)
    return {};
  std::string reason = status < 0 ? failure : getLastLine(messages);
  return {CompileStatus::unsupported, reference.describe() + ": " + reason};
}

//===----------------------------------------------------------------------===//
// Test data
//===----------------------------------------------------------------------===//

static llvm::Error captureValues(const std::string &data, const char *kind, const run::Options &artifact,
                                 const std::string &folder) {
  run::Model model;
  if (llvm::Error error = takeStatus(model.load(artifact)))
    return error;
  const std::vector<run::Model::Value> &wanted = llvm::StringRef(kind) == "input" ? model.inputs : model.outputs;
  std::vector<run::HostValue> values;
  std::vector<size_t> match;
  if (llvm::Error error = takeStatus(run::readTestData(data, kind, wanted, &values, &match)))
    return error;
  CaptureWriter writer(folder);
  for (auto [value, index] : llvm::zip(wanted, match))
    if (llvm::Error error = writer.add(value, std::move(values[index])))
      return error;
  return writer.finish();
}

StepEnd debug::captureTestData(Workspace &workspace, const std::string &data, const char *kind,
                               const run::Options &artifact, const std::string &folder) {
  return workspace.runStep(data, [&](llvm::raw_ostream &errors) {
    return reportError(captureValues(data, kind, artifact, folder), errors);
  });
}
