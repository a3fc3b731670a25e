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
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <onnx/onnx_pb.h>

using namespace tenon;
using namespace tenon::debug;

OnnxGraph::OnnxGraph() : model(std::make_unique<onnx::ModelProto>()) {}
OnnxGraph::OnnxGraph(OnnxGraph &&) = default;
OnnxGraph::~OnnxGraph() = default;

static std::string getNodeName(const onnx::NodeProto &node) {
  return node.name().empty() && node.output_size() ? node.output(0) : node.name();
}

static std::string getOperator(const onnx::NodeProto &node) {
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
        graph.values.push_back({name, getNodeName(node), getOperator(node), i});
  }
  return graph;
}

const onnx::NodeProto &OnnxGraph::getNode(size_t index) const { return model->graph().node(order[index]); }

const GraphValue *OnnxGraph::findValue(llvm::StringRef name) const {
  auto it = indices.find(name);
  return it == indices.end() ? nullptr : &values[it->second];
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

/// Where external data of a tensor is, or why it cannot be had.
static llvm::Error embed(onnx::TensorProto &tensor, ExternalFiles &files, const std::string &path) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
    return llvm::Error::success();
  auto fail = [&](const llvm::Twine &why) {
    return makeError(CompileStatus::invalid, path + ": initializer '" + tensor.name() + "': " + why);
  };
  std::string location, error;
  uint64_t offset = 0, length = UINT64_MAX;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    if ((entry.key() == "offset" && llvm::StringRef(entry.value()).getAsInteger(10, offset)) ||
        (entry.key() == "length" && llvm::StringRef(entry.value()).getAsInteger(10, length)))
      return fail("its " + entry.key() + " is no number");
  }
  std::shared_ptr<const MappedFile> file = files.open(location, error);
  if (!file)
    return fail("cannot be read from '" + location + "': " + error);
  llvm::ArrayRef<char> bytes = file->getBytes();
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
