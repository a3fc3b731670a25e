//===- InnerValues.cpp - values of the bodies of loops and branches --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/InnerValues.h"
#include "compiler/import/onnx/GraphOrder.h"
#include "llvm/ADT/STLExtras.h"
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cassert>

using namespace tenon;
using namespace tenon::debug;

static bool isOfOnnx(const onnx::NodeProto &node) { return node.domain().empty() || node.domain() == "ai.onnx"; }
static bool isScan(const onnx::NodeProto &node) { return isOfOnnx(node) && node.op_type() == "Scan"; }
static bool isLoop(const onnx::NodeProto &node) { return (isOfOnnx(node) && node.op_type() == "Loop") || isScan(node); }
static bool isIf(const onnx::NodeProto &node) { return isOfOnnx(node) && node.op_type() == "If"; }

/// Returns the prefix of value names in a graph of `node`, relative to the names around the node.
static std::string getPrefix(const onnx::NodeProto &node, const onnx::AttributeProto &attribute) {
  return getNodeName(node) + "/" + attribute.name() + "/";
}

//===----------------------------------------------------------------------===//
// List
//===----------------------------------------------------------------------===//

namespace {
class InnerLister {
public:
  explicit InnerLister(size_t index) : index(index) {}
  /// Adds the values in the graphs of one node. `scope` has the names of the inner values that it may read.
  void addNode(const onnx::NodeProto &node, const std::string &prefix, const llvm::StringMap<std::string> &scope,
               const std::vector<std::string> &loops);
  std::vector<GraphValue> values;

private:
  void addGraph(const onnx::GraphProto &graph, const std::string &prefix, llvm::StringMap<std::string> scope,
                const std::vector<std::string> &loops);
  size_t index;
  llvm::StringSet<> names;
};
} // namespace

void InnerLister::addNode(const onnx::NodeProto &node, const std::string &prefix,
                          const llvm::StringMap<std::string> &scope, const std::vector<std::string> &loops) {
  if (!isLoop(node) && !isIf(node))
    return;
  std::vector<std::string> around = loops;
  if (isLoop(node))
    around.push_back(prefix + getNodeName(node));
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.has_g())
      addGraph(attribute.g(), prefix + getPrefix(node, attribute), scope, around);
}

void InnerLister::addGraph(const onnx::GraphProto &graph, const std::string &prefix, llvm::StringMap<std::string> scope,
                           const std::vector<std::string> &loops) {
  for (const onnx::NodeProto &node : graph.node()) {
    addNode(node, prefix, scope, loops);
    for (const std::string &output : node.output()) {
      if (output.empty() || !names.insert(prefix + output).second)
        continue;
      GraphValue value{prefix + output, getNodeName(node), getOperator(node), index, loops, {}, /*isInner=*/true};
      for (const std::string &input : node.input())
        if (!input.empty() && !llvm::is_contained(value.reads, input)) {
          auto inner = scope.find(input);
          value.reads.push_back(inner == scope.end() ? input : inner->second);
        }
      values.push_back(std::move(value));
    }
    for (const std::string &output : node.output())
      scope[output] = prefix + output;
  }
}

std::vector<GraphValue> debug::listInnerValues(const onnx::NodeProto &node, size_t index) {
  InnerLister lister(index);
  lister.addNode(node, "", {}, {});
  return std::move(lister.values);
}

//===----------------------------------------------------------------------===//
// Expose
//===----------------------------------------------------------------------===//

namespace {
/// A value that a graph exposes as an output.
struct Exposed {
  std::string name; ///< as listInnerValues calls it
  int32_t elementType = onnx::TensorProto::UNDEFINED;
  std::optional<int> rank;
};

/// The types of the values that a graph reads or defines, as far as ONNX infers them.
using Types = llvm::StringMap<onnx::TypeProto>;

class Exposer {
public:
  Exposer(onnx::ModelProto &model, const llvm::StringSet<> &wanted) : model(model), wanted(wanted) {}
  void run();

private:
  /// Exposes values in the graphs of the nodes of `graph`, which is nested `depth` levels deep. Returns the values that
  /// become outputs of the nodes.
  std::vector<Exposed> exposeNodes(onnx::GraphProto &graph, const Types &types, const std::string &prefix, int depth);
  std::vector<Exposed> exposeGraph(onnx::GraphProto &graph, const Types &around, const std::string &prefix, int depth);
  std::vector<Exposed> exposeLoop(onnx::NodeProto &node, const Types &around, const std::string &prefix, int depth);
  std::vector<Exposed> exposeBranches(onnx::NodeProto &node, const Types &around, const std::string &prefix, int depth);
  Types inferTypes(const onnx::GraphProto &graph, const Types &around) const;

  onnx::ModelProto &model;
  const llvm::StringSet<> &wanted;
};
} // namespace

/// Names differ between graphs inside of each other.
static std::string getName(const Exposed &value, int depth) {
  return depth ? value.name + "@" + std::to_string(depth) : value.name;
}

static void addOutput(onnx::GraphProto &graph, const std::string &name) { graph.add_output()->set_name(name); }

static onnx::GraphProto *findGraph(onnx::NodeProto &node, llvm::StringRef name) {
  for (onnx::AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.has_g() && attribute.name() == name)
      return attribute.mutable_g();
  return nullptr;
}

static size_t getElementBytes(int32_t elementType) {
  switch (elementType) {
  case onnx::TensorProto::BOOL:
  case onnx::TensorProto::INT8:
  case onnx::TensorProto::UINT8:
    return 1;
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::UINT16:
    return 2;
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::INT32:
  case onnx::TensorProto::UINT32:
    return 4;
  case onnx::TensorProto::COMPLEX128:
    return 16;
  default:
    return 8;
  }
}

/// Adds a constant node with this name to the graph; the caller adds its extents and elements.
static onnx::TensorProto &addConstant(onnx::GraphProto &graph, const std::string &name, int elementType) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type("Constant");
  node.add_output(name);
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  onnx::TensorProto &tensor = *attribute.mutable_t();
  tensor.set_data_type(elementType);
  return tensor;
}

/// An empty tensor, or one of no dimensions.
static void addEmpty(onnx::GraphProto &graph, const Exposed &value, const std::string &name) {
  assert(value.rank && "a tensor without elements has dimensions all the same");
  onnx::TensorProto &tensor = addConstant(graph, name, value.elementType);
  for (int i = 0; i < *value.rank; ++i)
    tensor.add_dims(0);
  if (*value.rank == 0 && value.elementType == onnx::TensorProto::STRING)
    tensor.add_string_data("");
  else if (*value.rank == 0)
    tensor.set_raw_data(std::string(getElementBytes(value.elementType), '\0'));
}

/// Flattens an output of a graph to one dimension, for a value of unknown rank.
static void flatten(onnx::GraphProto &graph, Exposed &value, int depth) {
  std::string name = getName(value, depth), sizes = name + "/sizes";
  onnx::TensorProto &whole = addConstant(graph, sizes, onnx::TensorProto::INT64);
  whole.add_dims(1);
  whole.add_int64_data(-1);
  onnx::NodeProto &reshape = *graph.add_node();
  reshape.set_op_type("Reshape");
  reshape.add_input(name);
  reshape.add_input(sizes);
  reshape.add_output(name + "/flat");
  value.rank = 1;
}

/// Adds the exposed outputs of a node's graphs to the outputs of the node.
static void addOutputs(onnx::NodeProto &node, llvm::ArrayRef<Exposed> values, int depth) {
  for (const Exposed &value : values)
    node.add_output(getName(value, depth));
}

/// ONNX does not report what it infers in nested graphs, so each is inferred separately, with the values that it reads
/// as inputs.
Types Exposer::inferTypes(const onnx::GraphProto &graph, const Types &around) const {
  onnx::ModelProto alone;
  alone.set_ir_version(model.ir_version());
  *alone.mutable_opset_import() = model.opset_import();
  *alone.mutable_functions() = model.functions();
  *alone.mutable_graph() = graph;
  llvm::StringSet<> inputs;
  for (const onnx::ValueInfoProto &input : graph.input())
    inputs.insert(input.name());
  for (const onnx::NodeProto &node : graph.node())
    for (llvm::StringRef name : onnx_import::listReads(node))
      if (auto it = around.find(name); it != around.end() && inputs.insert(name).second) {
        onnx::ValueInfoProto &input = *alone.mutable_graph()->add_input();
        input.set_name(name.str());
        *input.mutable_type() = it->second;
      }
  try {
    onnx::shape_inference::InferShapes(alone, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(/*check_type=*/false, /*strict_mode=*/0,
                                                                   /*data_prop=*/true));
  } catch (const std::exception &) {
    // Otherwise only the types that the graph declares are known.
    *alone.mutable_graph() = graph;
  }
  Types types = around;
  for (const auto *infos : {&alone.graph().input(), &alone.graph().value_info(), &alone.graph().output()})
    for (const onnx::ValueInfoProto &info : *infos)
      if (info.has_type())
        types[info.name()] = info.type();
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    onnx::TypeProto_Tensor type;
    type.set_elem_type(tensor.data_type());
    type.mutable_shape();
    for (int64_t dim : tensor.dims())
      type.mutable_shape()->add_dim()->set_dim_value(dim);
    *types[tensor.name()].mutable_tensor_type() = type;
  }
  return types;
}

static Exposed describe(const Types &types, const std::string &local, std::string name) {
  auto it = types.find(local);
  Exposed value;
  value.name = std::move(name);
  if (it == types.end() || !it->second.has_tensor_type())
    return value;
  const onnx::TypeProto_Tensor &type = it->second.tensor_type();
  value.elementType = type.elem_type();
  if (type.has_shape())
    value.rank = type.shape().dim_size();
  return value;
}

std::vector<Exposed> Exposer::exposeGraph(onnx::GraphProto &graph, const Types &around, const std::string &prefix,
                                          int depth) {
  Types types = inferTypes(graph, around);
  std::vector<std::pair<std::string, std::string>> own; // name in the graph, and of the value
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      if (!output.empty() && wanted.contains(prefix + output))
        own.push_back({output, prefix + output});
  std::vector<Exposed> exposed = exposeNodes(graph, types, prefix, depth);
  for (auto &[local, name] : own) {
    Exposed value = describe(types, local, name);
    // What is an output already may not be one again.
    onnx::NodeProto &copy = *graph.add_node();
    copy.set_op_type("Identity");
    copy.add_input(local);
    copy.add_output(getName(value, depth));
    exposed.push_back(std::move(value));
  }
  return exposed;
}

std::vector<Exposed> Exposer::exposeLoop(onnx::NodeProto &node, const Types &around, const std::string &prefix,
                                         int depth) {
  onnx::GraphProto *body = findGraph(node, "body");
  if (!body)
    return {};
  int results = body->output_size() - (isScan(node) ? 0 : 1); // without the condition
  std::vector<Exposed> exposed = exposeGraph(*body, around, prefix + getNodeName(node) + "/body/", depth + 1);
  for (Exposed &value : exposed) {
    addOutput(*body, getName(value, depth + 1));
    if (value.rank)
      ++*value.rank;
  }
  // Outputs at the end may be left out.
  while (!exposed.empty() && node.output_size() < results)
    node.add_output("");
  addOutputs(node, exposed, depth);
  for (onnx::AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.name() == "scan_output_axes" || attribute.name() == "scan_output_directions")
      for (size_t i = 0; i < exposed.size(); ++i)
        attribute.add_ints(0);
  return exposed;
}

std::vector<Exposed> Exposer::exposeBranches(onnx::NodeProto &node, const Types &around, const std::string &prefix,
                                             int depth) {
  onnx::GraphProto *branches[] = {findGraph(node, "then_branch"), findGraph(node, "else_branch")};
  if (!branches[0] || !branches[1])
    return {};
  std::vector<Exposed> all;
  const char *names[] = {"/then_branch/", "/else_branch/"};
  for (int i : {0, 1})
    for (Exposed &value : exposeGraph(*branches[i], around, prefix + getNodeName(node) + names[i], depth + 1)) {
      if (value.elementType == onnx::TensorProto::UNDEFINED)
        continue;
      std::string name = getName(value, depth + 1);
      if (!value.rank) {
        flatten(*branches[i], value, depth + 1);
        name += "/flat";
      }
      addOutput(*branches[i], name);
      addEmpty(*branches[1 - i], value, name);
      addOutput(*branches[1 - i], name);
      all.push_back(std::move(value));
    }
  addOutputs(node, all, depth);
  return all;
}

std::vector<Exposed> Exposer::exposeNodes(onnx::GraphProto &graph, const Types &types, const std::string &prefix,
                                          int depth) {
  std::vector<Exposed> all;
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    std::vector<Exposed> exposed;
    if (isLoop(node))
      exposed = exposeLoop(node, types, prefix, depth);
    else if (isIf(node))
      exposed = exposeBranches(node, types, prefix, depth);
    llvm::append_range(all, exposed);
  }
  return all;
}

void Exposer::run() {
  onnx::GraphProto &graph = *model.mutable_graph();
  exposeNodes(graph, inferTypes(graph, {}), "", 0);
}

void debug::exposeInnerValues(onnx::ModelProto &model, const llvm::StringSet<> &wanted) {
  Exposer(model, wanted).run();
}
