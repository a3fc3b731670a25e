//===- OnnxGraph.h - the values of an ONNX model, and models that are parts of it ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_ONNXGRAPH_H
#define TENON_TOOLS_TENON_DEBUG_ONNXGRAPH_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
class ValueInfoProto;
} // namespace onnx

namespace tenon::debug {

/// A value that a node computes.
struct GraphValue {
  std::string name;               ///< "h1", or of an inner value "loop1/body/h1"
  std::string node;               ///< the node's name, or that of its first output where it has none
  std::string op;                 ///< "Conv", "com.acme.FancyGate"
  size_t nodeIndex;               ///< of the node of the main graph that makes it, or that it is inside of
  std::vector<std::string> loops; ///< that repeat an inner value, the outermost one first
  std::vector<std::string> reads; ///< of an inner value: what its node reads
  bool isInner = false;           ///< it is in the body of a loop, or in a branch
};

/// Returns a node's name, or that of its first output if it has none.
std::string getNodeName(const onnx::NodeProto &node);
/// "Conv", "com.acme.FancyGate"
std::string getOperator(const onnx::NodeProto &node);

/// A part of a graph: the nodes that compute some values from others.
struct GraphPart {
  std::vector<std::string> inputs; ///< values that other nodes of the model make; its own inputs are not listed
  std::vector<std::string> outputs;
};

/// Callbacks for the values that become inputs and outputs of a separate model.
struct PartContents {
  /// Adds a value's type. Returns false if it is unknown, so that the value cannot become an input.
  std::function<bool(llvm::StringRef name, onnx::ValueInfoProto &info)> describe;
  /// Adds the elements of a value that becomes a constant. Returns false if it becomes an input.
  std::function<bool(llvm::StringRef name, onnx::TensorProto &tensor)> makeConstant;
};

/// The main graph of an ONNX model, with its nodes in topological order.
class OnnxGraph {
public:
  /// Fails where the file is no ONNX model.
  static llvm::Expected<OnnxGraph> read(const std::string &path);
  OnnxGraph(OnnxGraph &&) noexcept;
  ~OnnxGraph();

  size_t getNodeCount() const { return order.size(); }
  const onnx::NodeProto &getNode(size_t index) const;
  const onnx::ModelProto &getModel() const { return *model; }
  /// Returns all values of the main graph, in the order of their nodes.
  const std::vector<GraphValue> &getValues() const { return values; }
  /// Those inside of its nodes, in the order of these.
  const std::vector<GraphValue> &getInnerValues() const { return innerValues; }
  /// Null where no node of the main graph makes it.
  const GraphValue *findValue(llvm::StringRef name) const;
  /// Null where no node inside of others makes it.
  const GraphValue *findInnerValue(llvm::StringRef name) const;
  /// Returns the names that a node reads, without duplicates: its inputs, and the outer values that its subgraphs use.
  std::vector<std::string> listReads(size_t node) const;
  /// Returns the names that the node of a value reads, which may be an inner one.
  std::vector<std::string> listReads(llvm::StringRef value) const;
  std::vector<std::string> listOutputs() const;
  /// Returns the part that consists of these nodes, as far as they compute its outputs.
  GraphPart makePart(llvm::ArrayRef<size_t> nodes, std::vector<std::string> outputs) const;
  /// Returns the nodes that compute the outputs of a part, in order.
  std::vector<size_t> listNodes(const GraphPart &part) const;
  /// Returns a part as a model; null if one of its inputs has no type.
  std::unique_ptr<onnx::ModelProto> extract(const GraphPart &part, const PartContents &contents) const;
  /// Reads external tensors into the model, so that it can be written elsewhere.
  llvm::Error embedExternalData();

private:
  OnnxGraph();
  const onnx::ValueInfoProto *findInput(llvm::StringRef name) const;
  const onnx::TensorProto *findInitializer(llvm::StringRef name) const;
  /// Visits each of `values` that was not seen, then the inputs of its node if `enter` returns true, recursively.
  void walkBack(std::vector<std::string> values, llvm::StringSet<> seen,
                llvm::function_ref<bool(const std::string &name, const GraphValue &value)> enter) const;
  std::unique_ptr<onnx::ModelProto> model;
  std::string path;
  std::vector<int> order;
  std::vector<GraphValue> values, innerValues;
  llvm::StringMap<size_t> indices, innerIndices; ///< of values, by name
};

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_ONNXGRAPH_H
