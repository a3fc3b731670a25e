//===- Functions.cpp - operators that are written as functions, and graphs in graphs ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Compound.h"
#include "compiler/import/onnx/GraphOrder.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "llvm/ADT/ScopeExit.h"
#include <onnx/defs/schema.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;
using onnx::FunctionProto;
using onnx::NodeProto;

const FunctionProto *Importer::findFunction(const NodeProto &proto) {
  if (functions.empty())
    return nullptr;
  auto it = functions.find((canonicalDomain(proto.domain()) + "::" + proto.op_type() + ":" + proto.overload()).str());
  return it == functions.end() ? nullptr : it->second;
}

//===----------------------------------------------------------------------===//
// Bodies that come with ONNX's schemas
//===----------------------------------------------------------------------===//

bool Importer::canBuildFunction(const onnx::OpSchema &schema) {
  return schema.HasFunction() || schema.HasContextDependentFunction();
}

static onnx::TypeProto toTypeProto(RankedTensorType type) {
  onnx::TypeProto proto;
  auto *tensor = proto.mutable_tensor_type();
  tensor->set_elem_type(getDataType(type.getElementType()));
  tensor->mutable_shape();
  for (AffineExpr dim : getDims(type)) {
    auto *size = tensor->mutable_shape()->add_dim();
    if (std::optional<int64_t> constant = getConstant(dim))
      size->set_dim_value(*constant);
    else
      size->set_dim_param(dimsToString(dim));
  }
  return proto;
}

static onnx::TypeProto toTypeProto(const ImportedValue &value) {
  onnx::TypeProto proto;
  if (value.isTensor())
    return toTypeProto(value.type);
  if (value.sequence)
    proto.mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(
        getDataType(value.sequence->type));
  else if (value.strings)
    proto.mutable_tensor_type()->set_elem_type(onnx::TensorProto::STRING);
  else if (!value.optional->content.hasFailed())
    *proto.mutable_optional_type()->mutable_elem_type() = toTypeProto(value.optional->content);
  return proto;
}

const FunctionProto *Importer::buildFunction(Node &node, const onnx::OpSchema &schema) {
  int opset = static_cast<int>(node.getOpset());
  if (schema.HasFunction())
    if (const FunctionProto *function = schema.GetFunction(opset))
      return function;
  std::vector<onnx::TypeProto> types(node.getProto().input_size());
  for (size_t i = 0; i < types.size(); ++i)
    if (node.hasInput(i))
      types[i] = toTypeProto(*node.imported(i));
  onnx::FunctionBodyBuildContextImpl buildContext(node.getProto(), types);
  FunctionProto &function = memory->functions.emplace_back();
  if (schema.HasContextDependentFunction() && schema.BuildContextDependentFunction(buildContext, function, opset))
    return &function;
  memory->functions.pop_back();
  (void)node.unsupported("its operator has no function body for these operands, and is not supported otherwise");
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Attributes of the call
//===----------------------------------------------------------------------===//

static bool refersToAttributes(const NodeProto &node);
static bool refersToAttributes(const onnx::GraphProto &graph) {
  return llvm::any_of(graph.node(), [](const NodeProto &node) { return refersToAttributes(node); });
}
static bool refersToAttributes(const NodeProto &node) {
  return llvm::any_of(node.attribute(), [](const onnx::AttributeProto &attr) {
    return !attr.ref_attr_name().empty() || (attr.has_g() && refersToAttributes(attr.g())) ||
           llvm::any_of(attr.graphs(), [](const onnx::GraphProto &graph) { return refersToAttributes(graph); });
  });
}

namespace {

/// Substitutes the attributes of a call, or the function's defaults, for the references in its body.
class AttributeBinder {
public:
  AttributeBinder(const NodeProto &call, const FunctionProto &function) {
    for (const onnx::AttributeProto &attr : function.attribute_proto())
      values[attr.name()] = &attr;
    for (const onnx::AttributeProto &attr : call.attribute())
      values[attr.name()] = &attr;
  }
  /// Defaults of the schema apply to attributes that the call omits.
  void addDefaults(const onnx::OpSchema &schema) {
    for (const auto &[name, attr] : schema.attributes())
      if (attr.default_value.has_name())
        values.try_emplace(name, &attr.default_value);
  }

  void bind(NodeProto &node) {
    auto *attributes = node.mutable_attribute();
    for (int i = attributes->size() - 1; i >= 0; --i) {
      onnx::AttributeProto &attr = *attributes->Mutable(i);
      if (attr.has_g())
        bind(*attr.mutable_g());
      for (onnx::GraphProto &graph : *attr.mutable_graphs())
        bind(graph);
      if (attr.ref_attr_name().empty())
        continue;
      auto it = values.find(attr.ref_attr_name());
      if (it == values.end()) {
        attributes->DeleteSubrange(i, 1);
        continue;
      }
      std::string name = attr.name();
      attr = *it->second;
      attr.set_name(name);
    }
  }

private:
  void bind(onnx::GraphProto &graph) {
    for (NodeProto &node : *graph.mutable_node())
      bind(node);
  }
  llvm::StringMap<const onnx::AttributeProto *> values;
};

} // namespace

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

LogicalResult Importer::enterGraph(Node &node, Scope &inner, int64_t nodeCount) {
  inner.depth = node.scope.depth + 1;
  if (inner.depth > ImportLimits::kMaxNesting)
    return node.exceedsLimit("nesting", ImportLimits::kMaxNesting,
                             "functions and graphs nest " + Twine(inner.depth) + " deep here");
  return countExpansion(node, nodeCount);
}

LogicalResult Importer::countExpansion(Node &node, int64_t nodeCount) {
  expandedNodes += nodeCount;
  if (expandedNodes > options.maxExpandedNodes)
    return node.exceedsLimit("expanded nodes", options.maxExpandedNodes,
                             "functions, branches and loops expand to " + Twine(expandedNodes) + " nodes so far");
  return success();
}

LogicalResult Importer::importFunction(Node &node, const FunctionProto &function) {
  if (llvm::is_contained(activeFunctions, &function))
    return node.malformed("calls itself, by way of its own body");
  activeFunctions.push_back(&function);
  auto leave = llvm::make_scope_exit([&] { activeFunctions.pop_back(); });
  Scope &inner = scopes.emplace_back();
  if (failed(enterGraph(node, inner, function.node_size())))
    return failure();
  if (node.getProto().input_size() > function.input_size())
    return node.invalid("has " + Twine(node.getProto().input_size()) + " inputs, but its function takes " +
                        Twine(function.input_size()));
  OpsetImports &imports = functionOpsets.emplace_back();
  // Bodies of ONNX's own functions may omit domains; those have the versions of the surrounding graph.
  imports = *node.scope.opsets;
  if (!readOpsets(function.opset_import(), imports))
    return failure();
  inner.opsets = &imports;
  for (int i = 0; i < function.input_size(); ++i) {
    StringRef name = node.inputName(i);
    ImportedValue *value = name.empty() ? nullptr : node.scope.find(name);
    if (value && value->constant) {
      noteChange(*value);
      materialize(*value); // One weight, however often the function is called.
    }
    ImportedValue &input = inner.values[function.input(i)];
    if (value)
      input = *value;
    else
      input.isAbsent = true;
  }
  return importFunctionBody(node, function, inner);
}

LogicalResult Importer::importFunctionBody(Node &node, const FunctionProto &function, Scope &inner) {
  AttributeBinder binder(node.getProto(), function);
  if (const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(
          node.getProto().op_type(), static_cast<int>(node.getOpset()), canonicalDomain(node.getDomain()).str()))
    binder.addDefaults(*schema);
  const Nodes *body = &function.node();
  if (llvm::any_of(function.node(), [](const NodeProto &n) { return refersToAttributes(n); })) {
    FunctionProto &bound = memory->functions.emplace_back();
    *bound.mutable_node() = function.node();
    copiedBytes += static_cast<int64_t>(bound.ByteSizeLong());
    if (copiedBytes > ImportLimits::kMaxCopiedBytes)
      return node.exceedsLimit("copied bytes", ImportLimits::kMaxCopiedBytes,
                               "functions with attributes expand to " + Twine(copiedBytes) + " bytes so far");
    for (NodeProto &inside : *bound.mutable_node())
      binder.bind(inside);
    body = &bound.node();
  }
  std::optional<Location> outsideLoc = std::exchange(outerLoc, node.getLoc());
  std::string outsideName = std::exchange(outerName, outerName.empty() ? node.describe() : outerName);
  importNodes(*body, inner);
  outerLoc = outsideLoc;
  outerName = std::move(outsideName);
  SmallVector<ImportedValue *> outputs;
  for (const std::string &name : function.output())
    outputs.push_back(inner.find(name));
  return bindOutputs(node, outputs);
}

LogicalResult Importer::importSubgraph(Node &node, const onnx::GraphProto &graph, ArrayRef<ImportedValue> inputs,
                                       SmallVectorImpl<ImportedValue *> &outputs) {
  Scope &inner = scopes.emplace_back();
  if (failed(enterGraph(node, inner, graph.node_size())))
    return failure();
  inner.parent = &node.scope;
  inner.opsets = node.scope.opsets;
  if (static_cast<size_t>(graph.input_size()) != inputs.size())
    return node.invalid("its graph takes " + Twine(graph.input_size()) + " inputs, but " + Twine(inputs.size()) +
                        " are given");
  importInitializers(graph, inner);
  for (auto [input, value] : llvm::zip(graph.input(), inputs))
    inner.values[input.name()] = value;
  importNodes(graph.node(), inner);
  for (const auto &output : graph.output()) {
    ImportedValue *value = inner.find(output.name());
    if (!value)
      return node.invalid("output '" + output.name() + "' of its graph has no producer");
    outputs.push_back(value);
  }
  return success();
}
