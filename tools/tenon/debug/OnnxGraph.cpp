//===- OnnxGraph.cpp - the values of an ONNX model, and models that are parts of it ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/OnnxGraph.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/ExternalFiles.h"
#include "compiler/import/onnx/GraphOrder.h"
#include "tools/tenon/debug/InnerValues.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <onnx/onnx_pb.h>
#include <set>

using namespace tenon;
using namespace tenon::debug;

OnnxGraph::OnnxGraph() : model(std::make_unique<onnx::ModelProto>()) {}
OnnxGraph::OnnxGraph(OnnxGraph &&) noexcept = default;
OnnxGraph::~OnnxGraph() = default;

std::string debug::getNodeName(const onnx::NodeProto &node) {
  return node.name().empty() && node.output_size() ? node.output(0) : node.name();
}

std::string debug::getOperator(const onnx::NodeProto &node) {
  return node.domain().empty() || node.domain() == "ai.onnx" ? node.op_type() : node.domain() + "." + node.op_type();
}

llvm::Expected<OnnxGraph> OnnxGraph::read(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError(CompileStatus::invalid, path + ": " + file.getError().message());
  OnnxGraph graph;
  graph.path = path;
  llvm::StringRef bytes = (*file)->getBuffer();
  if (bytes.size() > INT_MAX || !graph.model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !graph.model->has_graph())
    return makeError(CompileStatus::invalid, path + ": not an ONNX model, or truncated");
  const onnx::GraphProto &proto = graph.model->graph();
  llvm::StringSet<> defined;
  for (const onnx::ValueInfoProto &input : proto.input())
    defined.insert(input.name());
  for (const onnx::TensorProto &tensor : proto.initializer())
    defined.insert(tensor.name());
  std::string wrong;
  llvm::SmallVector<int> order = onnx_import::orderNodes(
      proto.node(), [&](llvm::StringRef name) { return defined.contains(name); },
      [&](int, const std::string &error) { wrong = wrong.empty() ? error : wrong; });
  if (!wrong.empty())
    return makeError(CompileStatus::invalid, path + ": " + wrong);
  graph.order.assign(order.begin(), order.end());
  for (size_t i = 0; i < graph.order.size(); ++i) {
    const onnx::NodeProto &node = graph.getNode(i);
    for (const std::string &name : node.output())
      if (!name.empty() && graph.indices.try_emplace(name, graph.values.size()).second)
        graph.values.push_back({name, getNodeName(node), getOperator(node), i, {}, {}});
    for (GraphValue &inner : listInnerValues(node, i))
      if (!graph.indices.contains(inner.name) &&
          graph.innerIndices.try_emplace(inner.name, graph.innerValues.size()).second)
        graph.innerValues.push_back(std::move(inner));
  }
  return graph;
}

const onnx::NodeProto &OnnxGraph::getNode(size_t index) const { return model->graph().node(order[index]); }

const GraphValue *OnnxGraph::findValue(llvm::StringRef name) const {
  auto it = indices.find(name);
  return it == indices.end() ? nullptr : &values[it->second];
}

const GraphValue *OnnxGraph::findInnerValue(llvm::StringRef name) const {
  auto it = innerIndices.find(name);
  return it == innerIndices.end() ? nullptr : &innerValues[it->second];
}

std::vector<std::string> OnnxGraph::listOutputs() const {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto &output : model->graph().output())
    names.push_back(output.name());
  return names;
}

std::vector<std::string> OnnxGraph::listReads(size_t index) const {
  std::vector<std::string> reads;
  for (llvm::StringRef name : onnx_import::listReads(getNode(index)))
    reads.push_back(name.str());
  return reads;
}

std::vector<std::string> OnnxGraph::listReads(llvm::StringRef name) const {
  if (const GraphValue *inner = findInnerValue(name))
    return inner->reads;
  const GraphValue *value = findValue(name);
  return value ? listReads(value->nodeIndex) : std::vector<std::string>();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

const onnx::ValueInfoProto *OnnxGraph::findInput(llvm::StringRef name) const {
  for (const onnx::ValueInfoProto &input : model->graph().input())
    if (input.name() == name)
      return &input;
  return nullptr;
}

const onnx::TensorProto *OnnxGraph::findInitializer(llvm::StringRef name) const {
  for (const onnx::TensorProto &tensor : model->graph().initializer())
    if (tensor.name() == name)
      return &tensor;
  return nullptr;
}

void OnnxGraph::walkBack(std::vector<std::string> values, llvm::StringSet<> seen,
                         llvm::function_ref<bool(const std::string &, const GraphValue &)> enter) const {
  while (!values.empty()) {
    std::string name = std::move(values.back());
    values.pop_back();
    const GraphValue *value = findValue(name);
    if (value && seen.insert(name).second && enter(name, *value))
      llvm::append_range(values, listReads(value->nodeIndex));
  }
}

GraphPart OnnxGraph::makePart(llvm::ArrayRef<size_t> nodes, std::vector<std::string> outputs) const {
  llvm::SmallDenseSet<size_t> kept(nodes.begin(), nodes.end());
  GraphPart part;
  walkBack(outputs, {}, [&](const std::string &name, const GraphValue &value) {
    bool isKept = kept.contains(value.nodeIndex);
    if (!isKept)
      part.inputs.push_back(name);
    return isKept;
  });
  llvm::sort(part.inputs);
  part.outputs = std::move(outputs);
  return part;
}

std::vector<size_t> OnnxGraph::listNodes(const GraphPart &part) const {
  std::set<size_t> nodes;
  llvm::StringSet<> inputs;
  for (const std::string &input : part.inputs)
    inputs.insert(input);
  // The inputs of a node are visited once, however many of its values are needed.
  walkBack(part.outputs, std::move(inputs),
           [&](const std::string &, const GraphValue &value) { return nodes.insert(value.nodeIndex).second; });
  return {nodes.begin(), nodes.end()};
}

/// All of a model but its graph.
static std::unique_ptr<onnx::ModelProto> copyFrame(const onnx::ModelProto &model) {
  auto frame = std::make_unique<onnx::ModelProto>();
  frame->set_ir_version(model.ir_version());
  frame->set_producer_name("tenon debug");
  *frame->mutable_opset_import() = model.opset_import();
  *frame->mutable_functions() = model.functions();
  frame->mutable_graph()->set_name(model.graph().name());
  return frame;
}

std::unique_ptr<onnx::ModelProto> OnnxGraph::extract(const GraphPart &part, const PartContents &contents) const {
  std::unique_ptr<onnx::ModelProto> result = copyFrame(*model);
  onnx::GraphProto &graph = *result->mutable_graph();
  std::vector<std::string> used = part.outputs;
  for (size_t node : listNodes(part)) {
    *graph.add_node() = getNode(node);
    llvm::append_range(used, listReads(node));
  }
  auto describe = [&](const std::string &name, onnx::ValueInfoProto &info) {
    info.set_name(name);
    return contents.describe(name, info);
  };
  for (const std::string &name : part.inputs)
    if (onnx::TensorProto constant; contents.makeConstant(name, constant))
      *graph.add_initializer() = std::move(constant);
    else if (!describe(name, *graph.add_input()))
      return nullptr;
  llvm::StringSet<> seen;
  for (const std::string &name : used) {
    if (!seen.insert(name).second)
      continue;
    const onnx::TensorProto *initializer = findInitializer(name);
    const onnx::ValueInfoProto *input = findInput(name);
    if (initializer)
      *graph.add_initializer() = *initializer;
    else if (input && !describe(name, *graph.add_input()))
      *graph.mutable_input(graph.input_size() - 1) = *input;
  }
  for (const std::string &name : part.outputs)
    (void)describe(name, *graph.add_output());
  return result;
}

//===----------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------===//

/// Reads a tensor from the file that it names.
static llvm::Error embed(onnx::TensorProto &tensor, ExternalFiles &files, const std::string &path) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
    return llvm::Error::success();
  auto fail = [&](const llvm::Twine &why) {
    return makeError(CompileStatus::invalid, path + ": initializer '" + tensor.name() + "': " + why);
  };
  std::string location;
  uint64_t offset = 0, length = UINT64_MAX;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    if ((entry.key() == "offset" && llvm::StringRef(entry.value()).getAsInteger(10, offset)) ||
        (entry.key() == "length" && llvm::StringRef(entry.value()).getAsInteger(10, length)))
      return fail("its " + entry.key() + " is no number");
  }
  llvm::Expected<std::shared_ptr<const MappedFile>> file = files.open(location);
  if (!file)
    return fail("cannot be read from '" + location + "': " + llvm::toString(file.takeError()));
  llvm::ArrayRef<char> bytes = (*file)->getBytes();
  if (offset > bytes.size())
    return fail("begins behind the end of '" + location + "'");
  length = std::min<uint64_t>(length, bytes.size() - offset);
  tensor.set_raw_data(bytes.data() + offset, length);
  tensor.clear_external_data();
  tensor.clear_data_location();
  return llvm::Error::success();
}

llvm::Error OnnxGraph::embedExternalData() {
  llvm::SmallString<128> folder(path);
  llvm::sys::path::remove_filename(folder);
  ExternalFiles files(folder.empty() ? "." : folder.str().str());
  for (onnx::TensorProto &tensor : *model->mutable_graph()->mutable_initializer())
    if (llvm::Error error = embed(tensor, files, path))
      return error;
  return llvm::Error::success();
}
