//===- HostOps.cpp - nodes that plug-ins compute ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plug-in's shape function is called with what is known when compiling. Extents that are not known have numbers
// below 0, one for each expression, so that a shape function which copies one says that two extents are equal. What it
// leaves open is bound when the model runs, by a call of the same function.
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/DTypes.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Tensors.h"
#include "onnx/onnx_pb.h"
#include "runtime/format/Layout.h"
#include "runtime/plugin/Plugins.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;
using onnx::AttributeProto;

namespace {

/// A node while its plug-in operator infers shapes. The vectors own the memory that the call points to.
struct HostNode {
  explicit HostNode(Node &node) : n(node) {}

  LogicalResult readInputs();
  LogicalResult readAttributes();
  LogicalResult infer(const tenon_plugin &plugin, const tenon_plugin_operator &op);
  LogicalResult finish();

  Node &n;
  GraphBuilder::HostCall call;
  std::vector<RankedTensorType> results;
  std::vector<Dims> resultDims; ///< null expressions where only a run can tell

private:
  int64_t encode(AffineExpr dim);
  void addAttribute(const char *name, int kind, uint64_t count);
  Type toType(tenon_dtype dtype);

  std::vector<AffineExpr> unknown; ///< extent -1 - i
  std::vector<Ints> dims, data, intLists;
  std::vector<std::vector<double>> floatLists;
  std::vector<std::string> texts;
  std::vector<tenon_plugin_tensor> inputs;
  std::vector<tenon_plugin_attribute> attributes;
};

} // namespace

int64_t HostNode::encode(AffineExpr dim) {
  if (std::optional<int64_t> size = getConstant(dim))
    return *size;
  // What nothing is known of is equal to nothing.
  auto it = isUnknownDim(dim) ? unknown.end() : llvm::find(unknown, dim);
  if (it == unknown.end())
    it = unknown.insert(unknown.end(), dim);
  return -1 - (it - unknown.begin());
}

LogicalResult HostNode::readInputs() {
  size_t count = n.getNumInputs();
  dims.resize(count);
  data.resize(count);
  for (size_t i = 0; i < count; ++i) {
    tenon_plugin_tensor tensor{};
    call.present.push_back(n.hasInput(i));
    if (!n.hasInput(i)) {
      inputs.push_back(tensor);
      continue;
    }
    Value value = n.input(i);
    if (!value)
      return failure();
    std::optional<fmt::DType> dtype = getDType(n.elementType(value));
    if (!dtype || n.rank(value) > fmt::kMaxHostRank)
      return n.unsupported("input number " + Twine(i) + " has a type or more dimensions than a plug-in takes");
    for (AffineExpr dim : n.dims(value))
      dims[i].push_back(encode(dim));
    auto type = static_cast<tenon_dtype>(*dtype);
    uint32_t width = llvm::divideCeil(tenon_dtype_bits(type), 8);
    uint64_t bytes = tenon_tensor_bytes(type, dims[i].size(), dims[i].data());
    tensor = {type,    static_cast<uint32_t>(dims[i].size()),   dims[i].data(),
              nullptr, bytes == UINT64_MAX ? 0 : bytes / width, width,
              1};
    if (*dtype == fmt::DType::i64 && n.isConstantOperand(i)) {
      data[i] = *getConstants(*n.known(i)->getIntegers());
      tensor.data = data[i].data();
    }
    call.inputs.push_back(value);
    inputs.push_back(tensor);
  }
  return success();
}

void HostNode::addAttribute(const char *name, int kind, uint64_t count) {
  tenon_plugin_attribute attribute{};
  attribute.name = name;
  attribute.kind = kind;
  attribute.count = count;
  if (kind == TENON_ATTRIBUTE_INTS)
    attribute.value.ints = intLists.back().data();
  else if (kind == TENON_ATTRIBUTE_FLOATS)
    attribute.value.floats = floatLists.back().data();
  else
    attribute.value.string = texts.back().c_str();
  attributes.push_back(attribute);
}

LogicalResult HostNode::readAttributes() {
  Builder b(n.getContext());
  SmallVector<NamedAttribute> parameters;
  // Pointers into the lists must stay.
  size_t count = n.getProto().attribute_size();
  intLists.reserve(count);
  floatLists.reserve(count);
  texts.reserve(count);
  for (const AttributeProto &attribute : n.getProto().attribute()) {
    const char *name = attribute.name().c_str();
    switch (attribute.type()) {
    case AttributeProto::INT:
      intLists.push_back(Ints{attribute.i()});
      break;
    case AttributeProto::INTS:
      intLists.push_back(Ints(attribute.ints().begin(), attribute.ints().end()));
      break;
    case AttributeProto::FLOAT:
      floatLists.push_back({attribute.f()});
      break;
    case AttributeProto::FLOATS:
      floatLists.emplace_back(attribute.floats().begin(), attribute.floats().end());
      break;
    case AttributeProto::STRING:
      texts.push_back(attribute.s());
      break;
    default:
      return n.unsupported("attribute '" + attribute.name() +
                           "' is neither of numbers nor a string, which is all that a plug-in takes");
    }
    bool isInts = attribute.type() == AttributeProto::INT || attribute.type() == AttributeProto::INTS;
    if (isInts) {
      addAttribute(name, TENON_ATTRIBUTE_INTS, intLists.back().size());
      parameters.push_back(b.getNamedAttr(name, b.getDenseI64ArrayAttr(intLists.back())));
    } else if (attribute.type() == AttributeProto::STRING) {
      addAttribute(name, TENON_ATTRIBUTE_STRING, texts.back().size());
      parameters.push_back(b.getNamedAttr(name, b.getStringAttr(texts.back())));
    } else {
      addAttribute(name, TENON_ATTRIBUTE_FLOATS, floatLists.back().size());
      parameters.push_back(b.getNamedAttr(name, b.getDenseF64ArrayAttr(floatLists.back())));
    }
  }
  call.parameters = b.getDictionaryAttr(parameters);
  return success();
}

/// Null where the dialect has no such type.
Type HostNode::toType(tenon_dtype dtype) {
  constexpr int32_t kDataTypes = 64; // more than ONNX has
  for (int32_t number = 1; number < kDataTypes; ++number)
    if (Type type = getElementType(n.getContext(), number))
      if (std::optional<fmt::DType> known = getDType(type); known && static_cast<int>(*known) == dtype)
        return type;
  return {};
}

LogicalResult HostNode::infer(const tenon_plugin &plugin, const tenon_plugin_operator &op) {
  size_t count = n.getNumOutputs();
  std::vector<std::array<int64_t, TENON_PLUGIN_MAX_RANK>> extents(count);
  std::vector<tenon_plugin_tensor> outputs;
  for (auto &each : extents) {
    each.fill(TENON_DIM_UNKNOWN);
    // The invalid type and rank must be overwritten by the plug-in.
    outputs.push_back({TENON_STRING, TENON_PLUGIN_MAX_RANK + 1, each.data(), nullptr, 0, 0, 1});
  }
  tenon_plugin_call ask{};
  ask.input_count = inputs.size();
  ask.inputs = inputs.data();
  ask.output_count = count;
  ask.outputs = outputs.data();
  ask.attribute_count = attributes.size();
  ask.attributes = attributes.data();
  if (rt::Status status = rt::callOperator(op.infer, &ask, "its shape function", plugin.name); status.failed())
    return status.code() == TENON_INVALID ? n.invalid(status.message()) : n.unsupported(status.message());
  for (auto [i, output, sizes] : llvm::enumerate(outputs, extents)) {
    Type type = toType(output.dtype);
    if (!type || output.rank > TENON_PLUGIN_MAX_RANK)
      return n.unsupported("plug-in '" + Twine(plugin.name) + "' does not say the type and the rank of output number " +
                           Twine(i));
    Dims shape, known;
    for (int64_t size : ArrayRef(sizes).take_front(output.rank)) {
      bool isCopied = size < 0 && size >= -static_cast<int64_t>(unknown.size());
      if (size < 0 && size != TENON_DIM_UNKNOWN && !isCopied)
        return n.unsupported("plug-in '" + Twine(plugin.name) + "' gives output number " + Twine(i) + " an extent of " +
                             Twine(size) + ", which is no extent of its inputs");
      AffineExpr dim = size >= 0 ? n.constantDim(size) : isCopied ? unknown[-1 - size] : AffineExpr();
      known.push_back(dim && !isUnknownDim(dim) ? dim : AffineExpr());
      shape.push_back(known.back() ? known.back() : getUnknownDim(n.getContext()));
    }
    results.push_back(getTensorType(shape, type));
    resultDims.push_back(known);
  }
  return success();
}

LogicalResult HostNode::finish() {
  bool isKnown = llvm::all_of(
      resultDims, [](const Dims &dims) { return llvm::all_of(dims, [](AffineExpr dim) { return !!dim; }); });
  if (!isKnown) {
    Dims bound = n.bindSizes(n.inferHostShapes(call, results));
    if (bound.empty())
      return failure();
    size_t next = 0;
    for (auto [type, dims] : llvm::zip(results, resultDims)) {
      for (AffineExpr &dim : dims) {
        AffineExpr found = bound[next++];
        if (dim)
          n.requireEqual(found, dim, "has a result whose extent is another one than when it was compiled");
        else
          dim = found;
      }
      type = getTensorType(dims, type.getElementType());
    }
  }
  for (auto [i, value] : llvm::enumerate(n.callHost(call, results)))
    if (n.wantsOutput(i) && failed(n.setOutput(i, value)))
      return failure();
  return success();
}

bool Importer::isHostOp(StringRef domain, StringRef name) {
  return rt::findPluginWith(domain.str().c_str(), name.str().c_str());
}

static LogicalResult importByPlugin(Node &n) {
  std::string domain = canonicalDomain(n.getDomain()).str(), name = n.getOpType().str();
  const tenon_plugin *plugin = rt::findPluginWith(domain.c_str(), name.c_str());
  const tenon_plugin_operator *op = nullptr;
  if (rt::Status status = rt::findPluginOperator(plugin->name, domain.c_str(), name.c_str(), &op); status.failed())
    return n.unsupported(status.message());
  HostNode host(n);
  host.call.plugin = plugin->name;
  host.call.domain = domain;
  host.call.name = name;
  if (failed(host.readInputs()) || failed(host.readAttributes()) || failed(host.infer(*plugin, *op)))
    return failure();
  return host.finish();
}

bool Importer::importHostOp(Node &node) {
  static const OpEntry entry{"", importByPlugin};
  return runHandler(node, entry, {});
}
