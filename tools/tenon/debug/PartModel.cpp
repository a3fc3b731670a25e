//===- PartModel.cpp - parts of a model as models of their own ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "tools/tenon/debug/OnnxTensors.h"
#include "tools/tenon/debug/Reducer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <onnx/shape_inference/implementation.h>

using namespace tenon;
using namespace tenon::debug;

//===----------------------------------------------------------------------===//
// What is known of values
//===----------------------------------------------------------------------===//

void Reducer::inferTypes() {
  onnx::ModelProto model = graph.getModel();
  try {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(/*check_type=*/false, /*strict_mode=*/0,
                                                                   /*data_prop=*/true));
  } catch (const std::exception &) {
    // ONNX may also reject a model that fails to compile. Then only the declared types are known.
    model = graph.getModel();
  }
  auto remember = [&](const auto &infos) {
    for (const onnx::ValueInfoProto &info : infos)
      if (info.type().tensor_type().elem_type() != onnx::TensorProto::UNDEFINED)
        types.try_emplace(info.name(), info);
  };
  remember(model.graph().value_info());
  remember(model.graph().input());
  remember(model.graph().output());
}

std::optional<tenon_dtype> Reducer::findType(llvm::StringRef name) const {
  if (const CapturedTensor *kept = compared ? findTensor(compared->kept.tensors, name) : nullptr)
    return kept->dtype;
  if (const CapturedTensor *input = comparison ? findTensor(comparison->getInputs(), name) : nullptr)
    return input->dtype;
  auto it = types.find(name);
  return it == types.end() ? std::nullopt : getDType(it->second.type().tensor_type().elem_type());
}

const CapturedTensor *Reducer::findData(llvm::StringRef name) const {
  if (const CapturedTensor *value = findTensor(data.tensors, name))
    return value;
  return comparison ? findTensor(comparison->getInputs(), name) : nullptr;
}

bool Reducer::describe(llvm::StringRef name, onnx::ValueInfoProto &info) const {
  std::optional<tenon_dtype> dtype = findType(name);
  const CapturedTensor *captured = findData(name);
  if (dtype && captured && getDataType(*dtype)) {
    setType(info, *dtype, captured->dims);
    return true;
  }
  auto it = types.find(name);
  if (captured || it == types.end())
    return false;
  *info.mutable_type() = it->second.type();
  return true;
}

bool Reducer::makeConstant(llvm::StringRef name, onnx::TensorProto &tensor) const {
  // limit: the elements of operands such as sizes and axes, which usually must be known at compile time.
  constexpr uint64_t kMaxCount = 64;
  std::optional<tenon_dtype> dtype = findType(name);
  const CapturedTensor *captured = findData(name);
  if (!captured || (dtype != TENON_I64 && dtype != TENON_I32 && dtype != TENON_BOOL) || captured->dims.size() > 1 ||
      captured->getCount() > kMaxCount)
    return false;
  llvm::Expected<std::string> elements = convertElements(*captured, *dtype);
  if (!elements) {
    llvm::consumeError(elements.takeError());
    return false;
  }
  tensor = makeTensor(name, *dtype, captured->dims, std::move(*elements));
  return true;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

bool Reducer::writeModel(const OnnxGraph &source, const GraphPart &part, const std::string &path) {
  PartContents contents;
  contents.describe = [&](llvm::StringRef name, onnx::ValueInfoProto &info) { return describe(name, info); };
  contents.makeConstant = [&](llvm::StringRef name, onnx::TensorProto &tensor) { return makeConstant(name, tensor); };
  std::unique_ptr<onnx::ModelProto> model = source.extract(part, contents);
  std::string bytes;
  if (!model || !model->SerializeToString(&bytes))
    return false;
  llvm::Error error = writeFile(path, bytes);
  bool isWritten = !error;
  llvm::consumeError(std::move(error));
  return isWritten;
}

/// The inputs of a model file that have to be given.
static llvm::Expected<std::vector<std::string>> listInputs(const std::string &path) {
  llvm::Expected<OnnxGraph> graph = OnnxGraph::read(path);
  if (!graph)
    return graph.takeError();
  llvm::StringSet<> constants;
  for (const onnx::TensorProto &tensor : graph->getModel().graph().initializer())
    constants.insert(tensor.name());
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto &input : graph->getModel().graph().input())
    if (!constants.contains(input.name()))
      names.push_back(input.name());
  return names;
}

llvm::Error Reducer::captureInputs(const std::string &model, const std::string &folder) {
  llvm::Expected<std::vector<std::string>> names = listInputs(model);
  if (!names)
    return names.takeError();
  CaptureWriter writer(folder);
  for (const std::string &name : *names) {
    const CapturedTensor *captured = findData(name);
    std::optional<tenon_dtype> dtype = findType(name);
    if (!captured || !dtype)
      return makeError(CompileStatus::unsupported, "the reference has no value '" + name + "'");
    llvm::Expected<std::string> elements = convertElements(*captured, *dtype);
    if (!elements)
      return elements.takeError();
    tenon_tensor tensor{*dtype, static_cast<uint32_t>(captured->dims.size()), captured->dims.data(), elements->data()};
    if (llvm::Error error = writer.add(name, TENON_ROLE_VALUE, tensor))
      return error;
  }
  return writer.finish();
}

/// Writes tensors as ONNX's test data has them.
static llvm::Error writeData(llvm::ArrayRef<std::pair<onnx::TensorProto, std::string>> tensors) {
  for (const auto &[tensor, path] : tensors)
    if (llvm::Error error = writeFile(path, tensor.SerializeAsString()))
      return error;
  return llvm::Error::success();
}

llvm::Expected<std::vector<std::string>> Reducer::write(const std::string &model, const std::string &folder) {
  if (!writeModel(graph, smallest, model))
    return makeError(CompileStatus::resources, "cannot write " + model);
  llvm::Expected<std::vector<std::string>> inputs = listInputs(model);
  if (!inputs || whole.stage == Outcome::Stage::compile)
    return inputs;
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return makeError(CompileStatus::resources, "cannot create " + folder + ": " + error.message());
  std::vector<std::pair<onnx::TensorProto, std::string>> tensors;
  for (const auto &[kind, names] :
       {std::pair<std::string, const std::vector<std::string> &>("input", *inputs), {"output", smallest.outputs}})
    for (auto [i, name] : llvm::enumerate(names)) {
      const CapturedTensor *captured = findData(name);
      std::optional<tenon_dtype> dtype = findType(name);
      if (!captured || !dtype)
        continue;
      llvm::Expected<std::string> elements = convertElements(*captured, *dtype);
      if (!elements)
        return elements.takeError();
      tensors.emplace_back(makeTensor(name, *dtype, captured->dims, std::move(*elements)),
                           llvm::formatv("{0}/{1}_{2}.pb", folder, kind, i).str());
    }
  if (llvm::Error error = writeData(tensors))
    return error;
  return inputs;
}

DebugOptions Reducer::getPartOptions(const std::string &model) const {
  DebugOptions part = options;
  CompileOptions &compile = part.compile;
  compile.input = model;
  compile.import.marked.clear();
  // Inputs have the sizes that they were captured in.
  if (whole.stage != Outcome::Stage::compile) {
    compile.import.shapes.clear();
    compile.import.ranges.clear();
    compile.import.profiled.clear();
    compile.programs.clear();
  }
  part.run.inputs.clear();
  part.run.inputShapes.clear();
  part.run.sizes.clear();
  return part;
}
