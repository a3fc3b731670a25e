//===- SchemaCheck.cpp - what ONNX's schemas say about a node -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/SchemaCheck.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "llvm/ADT/StringSet.h"
#include <onnx/defs/schema.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;
using onnx::AttributeProto;
using onnx::OpSchema;

const OpSchema *onnx_import::findSchema(StringRef domain, StringRef name, int64_t opset) {
  return onnx::OpSchemaRegistry::Schema(name.str(), static_cast<int>(opset), domain.str());
}

static LogicalResult checkCount(Node &node, StringRef what, int count, int min, int max) {
  if (count >= min && count <= max)
    return success();
  std::string wanted = min == max                               ? std::to_string(min)
                       : max == std::numeric_limits<int>::max() ? "at least " + std::to_string(min)
                                                                : std::to_string(min) + " to " + std::to_string(max);
  return node.malformed("has " + Twine(count) + " " + what + ", but its operator takes " + wanted);
}

static LogicalResult checkInputs(Node &node, const OpSchema &schema) {
  const onnx::NodeProto &proto = node.getProto();
  if (failed(checkCount(node, "inputs", proto.input_size(), schema.min_input(), schema.max_input())))
    return failure();
  for (auto [i, input] : llvm::enumerate(schema.inputs())) {
    if (input.GetOption() != OpSchema::Single || (static_cast<int>(i) < proto.input_size() && !proto.input(i).empty()))
      continue;
    return node.malformed("needs input number " + Twine(i) + ", '" + input.GetName() + "', which is left out");
  }
  return success();
}

/// Returns the formal parameter of an input; the last one may be variadic.
static const OpSchema::FormalParameter *getParameter(const OpSchema &schema, int i) {
  int count = static_cast<int>(schema.inputs().size());
  return count == 0 ? nullptr : &schema.inputs()[std::min(i, count - 1)];
}

/// Checks that inputs have element types that the schema allows, and equal types for equal type names.
static LogicalResult checkTypes(Node &node, const OpSchema &schema) {
  llvm::StringMap<std::pair<int, Type>> bound;
  for (int i = 0; i < node.getProto().input_size(); ++i) {
    const ImportedValue *value = node.imported(i);
    const OpSchema::FormalParameter *parameter = getParameter(schema, i);
    bool isSameForAll = parameter && (parameter->GetOption() != OpSchema::Variadic || parameter->GetIsHomogeneous());
    if (!value || !value->isTensor() || !value->type || !isSameForAll)
      continue;
    Type type = value->type.getElementType();
    auto getName = [&](Type other) { return getDataTypeName(getDataType(other)); };
    StringRef only = parameter->GetTypeStr();
    if (only.consume_front("tensor(") && only.consume_back(")") && only != getName(type))
      return node.malformed("input number " + Twine(i) + ", '" + parameter->GetName() + "', is of type " +
                            getName(type) + ", but has to be " + only);
    std::string whole = "tensor(" + getName(type) + ")";
    if (llvm::none_of(parameter->GetTypes(), [&](const std::string *allowed) { return *allowed == whole; }))
      return node.malformed("input number " + Twine(i) + ", '" + parameter->GetName() + "', is of type " +
                            getName(type) + ", which its operator does not take in opset " + Twine(node.getOpset()));
    auto [it, isNew] = bound.try_emplace(parameter->GetTypeStr(), i, type);
    if (isNew || it->second.second == type)
      continue;
    return node.malformed("input number " + Twine(i) + ", '" + parameter->GetName() + "', is of type " + getName(type) +
                          ", but has to have the type of input number " + Twine(it->second.first) + ", which is " +
                          getName(it->second.second));
  }
  return success();
}

static std::string typeName(AttributeProto::AttributeType type) {
  return StringRef(AttributeProto::AttributeType_Name(type)).lower();
}

static LogicalResult checkAttributes(Node &node, const OpSchema &schema) {
  llvm::StringSet<> seen;
  for (const AttributeProto &attr : node.getProto().attribute()) {
    if (!seen.insert(attr.name()).second)
      return node.malformed("has attribute '" + attr.name() + "' twice");
    auto it = schema.attributes().find(attr.name());
    if (it == schema.attributes().end())
      return node.malformed("has an attribute '" + attr.name() + "', which its operator does not have in opset " +
                            Twine(node.getOpset()));
    if (attr.type() != it->second.type)
      return node.malformed("attribute '" + attr.name() + "' is of type " + typeName(attr.type()) + ", but has to be " +
                            typeName(it->second.type));
  }
  for (const auto &[name, attr] : schema.attributes())
    if (attr.required && !seen.contains(name))
      return node.malformed("lacks the attribute '" + name + "', which its operator needs");
  return success();
}

namespace {
/// The values of an int attribute that ONNX enumerates only in prose. These operators are imported by the body of their
/// schema, and bodies compare with some of the values and treat all others as the default.
struct IntAttribute {
  StringRef op, name;
  int64_t min, max;
};
} // namespace

static constexpr IntAttribute kEnumeratedInts[] = {
    {"Attention", "is_causal", 0, 1},
    {"Attention", "qk_matmul_output_mode", 0, 3},
};

static LogicalResult checkEnumeratedInts(Node &node, const OpSchema &schema) {
  if (!schema.domain().empty())
    return success();
  for (const IntAttribute &attr : kEnumeratedInts) {
    int64_t fault = attr.min - 1;
    if (attr.op == schema.Name() && node.hasAttr(attr.name) &&
        node.getIntIn(attr.name, fault, attr.min, attr.max) == fault)
      return failure();
  }
  return success();
}

LogicalResult onnx_import::checkNode(Node &node, const OpSchema &schema) {
  if (failed(checkInputs(node, schema)) || failed(checkAttributes(node, schema)) || failed(checkTypes(node, schema)) ||
      failed(checkEnumeratedInts(node, schema)))
    return failure();
  return checkCount(node, "outputs", node.getProto().output_size(), schema.min_output(), schema.max_output());
}
