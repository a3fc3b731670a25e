//===- SchemaCheck.cpp - what ONNX's schemas say about a node -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/SchemaCheck.h"
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
  std::string wanted = min == max ? std::to_string(min)
                       : max == std::numeric_limits<int>::max()
                           ? "at least " + std::to_string(min)
                           : std::to_string(min) + " to " + std::to_string(max);
  return node.invalid("has " + Twine(count) + " " + what + ", but its operator takes " + wanted);
}

static LogicalResult checkInputs(Node &node, const OpSchema &schema) {
  const onnx::NodeProto &proto = node.getProto();
  if (failed(checkCount(node, "inputs", proto.input_size(), schema.min_input(), schema.max_input())))
    return failure();
  for (auto [i, input] : llvm::enumerate(schema.inputs())) {
    if (input.GetOption() != OpSchema::Single ||
        (static_cast<int>(i) < proto.input_size() && !proto.input(i).empty()))
      continue;
    return node.invalid("needs input number " + Twine(i) + ", '" + input.GetName() + "', which is left out");
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
      return node.invalid("has attribute '" + attr.name() + "' twice");
    auto it = schema.attributes().find(attr.name());
    if (it == schema.attributes().end())
      return node.invalid("has an attribute '" + attr.name() +
                          "', which its operator does not have in opset " + Twine(node.getOpset()));
    if (attr.type() != it->second.type)
      return node.invalid("attribute '" + attr.name() + "' is of type " + typeName(attr.type()) +
                          ", but has to be " + typeName(it->second.type));
  }
  for (const auto &[name, attr] : schema.attributes())
    if (attr.required && !seen.contains(name))
      return node.invalid("lacks the attribute '" + name + "', which its operator needs");
  return success();
}

LogicalResult onnx_import::checkNode(Node &node, const OpSchema &schema) {
  if (failed(checkInputs(node, schema)) || failed(checkAttributes(node, schema)))
    return failure();
  return checkCount(node, "outputs", node.getProto().output_size(), schema.min_output(), schema.max_output());
}
