//===- ImportNodes.cpp - nodes in order, each by its operator's handler ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/GraphOrder.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/ModulePath.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/SchemaCheck.h"
#include "compiler/import/onnx/ShapeArithmetic.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

Location Importer::getLocation(const onnx::NodeProto &proto, size_t index) {
  if (outerLoc)
    return *outerLoc;
  std::string name = !proto.name().empty()      ? proto.name()
                     : proto.output_size() != 0 ? proto.output(0)
                                                : proto.op_type() + "_" + std::to_string(index);
  // The module path is nested within the node's own location, which is the node's name for all readers.
  std::string place = getModulePath(proto);
  if (place.empty())
    return NameLoc::get(builder.getStringAttr(name));
  return NameLoc::get(builder.getStringAttr(name), NameLoc::get(builder.getStringAttr(place)));
}

/// Checks graphs inside nodes: branches that are never taken are not imported, but must be valid nonetheless.
static void checkGraphsInside(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope,
                              llvm::function_ref<void(int, const std::string &)> onError) {
  llvm::StringSet<> made;
  for (const onnx::NodeProto &node : nodes)
    for (const std::string &name : node.output())
      made.insert(name);
  for (auto [i, node] : llvm::enumerate(nodes)) {
    // What a node makes itself, its graphs cannot read.
    auto isDefined = [&](StringRef name) {
      return scope.find(name) || (made.contains(name) && !llvm::is_contained(node.output(), name.str()));
    };
    checkNestedGraphs(node, isDefined, [&](const std::string &error) { onError(static_cast<int>(i), error); });
  }
}

void Importer::importNodes(const Nodes &nodes, Scope &scope) {
  auto isDefined = [&](StringRef name) { return scope.find(name) != nullptr; };
  auto onError = [&](int i, const std::string &error) {
    Node node(*this, scope, nodes[i], 0, builder, getLocation(nodes[i], i));
    addFault(ImportFault::malformed, node, error);
  };
  if (!scope.parent)
    checkGraphsInside(nodes, scope, onError);
  SmallVector<int> order = orderNodes(nodes, isDefined, onError);
  for (int i : order)
    importNode(nodes[i], i, scope);
}

/// True if a node reads a name whose definition failed or is missing, which has been reported.
static bool readsFailedValue(const onnx::NodeProto &proto, Scope &scope) {
  return llvm::any_of(proto.input(), [&](const std::string &name) {
    if (name.empty())
      return false;
    ImportedValue *value = scope.find(name);
    return !value || value->hasFailed();
  });
}

void Importer::failOutputs(const onnx::NodeProto &proto, Scope &scope) {
  for (const std::string &name : proto.output())
    if (!name.empty())
      scope.values.try_emplace(name);
}

static LogicalResult checkNames(Node &node) {
  const onnx::NodeProto &proto = node.getProto();
  size_t longest = proto.name().size();
  for (const std::string &name : proto.output())
    longest = std::max(longest, name.size());
  if (longest <= static_cast<size_t>(ImportLimits::kMaxNameLength))
    return success();
  return node.exceedsLimit("name length", ImportLimits::kMaxNameLength, "has a name of " + Twine(longest) + " bytes");
}

void Importer::importNode(const onnx::NodeProto &proto, size_t index, Scope &scope) {
  StringRef domain = canonicalDomain(proto.domain());
  auto opset = scope.opsets->find(domain);
  int64_t version = opset == scope.opsets->end() ? 0 : opset->second;
  Node node(*this, scope, proto, version, builder, getLocation(proto, index));
  if (succeeded(checkNames(node)) && importKnownOp(node, domain))
    return;
  failOutputs(proto, scope);
}

static bool hasStrings(Node &node) {
  for (size_t i = 0; i < node.getNumInputs(); ++i)
    if (ImportedValue *value = node.imported(i); value && value->strings)
      return true;
  return false;
}

/// Imports a node by its handler. Returns false after a reported error.
bool Importer::importKnownOp(Node &node, StringRef domain) {
  const onnx::NodeProto &proto = node.getProto();
  bool canRun = !readsFailedValue(proto, node.scope);
  if (const onnx::FunctionProto *function = findFunction(proto))
    return canRun && succeeded(importFunction(node, *function));
  if (node.getOpset() == 0) {
    (void)node.invalid("its domain '" + (domain.empty() ? "ai.onnx" : domain) +
                       "' is not among the model's opset imports");
    return false;
  }
  const onnx::OpSchema *schema = findSchema(domain, proto.op_type(), node.getOpset());
  const OpEntry *entry = findOp(domain, proto.op_type(), node.getOpset());
  if (!entry && !schema && isHostOp(domain, proto.op_type()))
    return canRun && importHostOp(node);
  if (!entry && !(schema && canBuildFunction(*schema))) {
    (void)node.unsupported(describeOp(domain, proto.op_type(), node.getOpset()) + ", is not supported");
    return false;
  }
  if (schema && failed(checkNode(node, *schema)))
    return false;
  if (!canRun)
    return false;
  const OpEntry *stringEntry = hasStrings(node) ? findStringOp(proto.op_type(), node.getOpset()) : nullptr;
  if (stringEntry)
    return runHandler(node, *stringEntry, {});
  if (entry)
    return importByHandler(node, *entry);
  return succeeded(importSchemaBody(node));
}

LogicalResult Importer::importSchemaBody(Node &node) {
  const onnx::OpSchema *schema = findSchema(canonicalDomain(node.getDomain()), node.getOpType(), node.getOpset());
  assert(schema && canBuildFunction(*schema) && "the operator has no body");
  const onnx::FunctionProto *function = buildFunction(node, *schema);
  return function ? importFunction(node, *function) : failure();
}

/// Returns the text of a diagnostic without the name of the dialect's operation, which users do not know.
static StringRef withoutOpName(StringRef text) {
  if (!text.starts_with("'tenon."))
    return text;
  size_t end = text.find("' op ");
  return end == StringRef::npos ? text : text.substr(end + 5);
}

bool Importer::importByHandler(Node &node, const OpEntry &entry) {
  SmallVector<ShapeValue> known = evaluateShapeValues(node);
  if (!node.hasFault() && setKnownOutputs(node, known))
    return true;
  return runHandler(node, entry, known);
}

bool Importer::runHandler(Node &node, const OpEntry &entry, ArrayRef<ShapeValue> known) {
  Checkpoint begin = getCheckpoint();
  currentDiagnostics.clear();
  if (!node.hasFault() && succeeded(entry.handler(node)) && !node.hasFailed() && !node.hasFault()) {
    setOutputs(node, known);
    return true;
  }
  // Another node inside this one may have reported the error.
  if (node.hasFault() || hasFaultsSince(begin))
    return false;
  StringRef text = currentDiagnostics.empty() ? StringRef() : withoutOpName(currentDiagnostics.front());
  // The supported operand types are the only condition that the dialect has and ONNX does not.
  if (text.empty() || text.contains("must be ranked tensor of"))
    (void)node.unsupported(text.empty() ? "this combination of operands is not supported" : text);
  else
    (void)node.invalid(text);
  return false;
}

/// True if a value needs no operation, because it is a known constant or consists of known sizes.
static bool isComplete(const ShapeValue &value) { return value.getIntegers() || value.getNumbers(); }

bool Importer::setKnownOutputs(Node &node, SmallVectorImpl<ShapeValue> &known) {
  if (known.empty() || !llvm::all_of(known, isComplete))
    return false;
  const onnx::NodeProto &proto = node.getProto();
  for (auto [i, value] : llvm::enumerate(known)) {
    if (!node.wantsOutput(i))
      continue;
    ImportedValue &output = node.scope.values[proto.output(i)];
    output.type = RankedTensorType::get(value.shape, value.type);
    output.loc = node.getLoc();
    output.known = std::move(value);
  }
  return true;
}

/// True if two symbolic factors are multiplied, as in a reshape that merges dimensions.
static bool hasProduct(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr e) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(e);
    found |= e.getKind() == AffineExprKind::Mul && !getConstant(binary.getLHS()) && !getConstant(binary.getRHS());
  });
  return found;
}

/// Requires that no extent is negative for the sizes that are bound. Products are omitted, because their factors have
/// been extents before.
void Importer::requireExtents(const Node &node, RankedTensorType type) {
  for (auto [i, dim] : llvm::enumerate(getDims(type))) {
    if (isNonNegative(dim) || hasProduct(dim) || dependsOnData(dim) || isInRegion())
      continue;
    std::string extent;
    llvm::raw_string_ostream os(extent);
    printDim(os, dim);
    addRequirement(dim, node, "dimension " + Twine(i) + " of its result would be " + extent + ", which is negative");
  }
}

static void checkRank(Node &node, RankedTensorType type) {
  if (type.getRank() > ImportLimits::kMaxRank)
    (void)node.exceedsLimit("rank", ImportLimits::kMaxRank,
                            "makes a tensor of " + Twine(type.getRank()) + " dimensions");
}

void Importer::setOutputs(Node &node, ArrayRef<ShapeValue> known) {
  const onnx::NodeProto &proto = node.getProto();
  for (auto [i, value] : llvm::enumerate(node.getOutputs())) {
    if (!node.wantsOutput(i) || node.scope.values.contains(proto.output(i)))
      continue;
    ImportedValue &output = node.scope.values[proto.output(i)];
    if (!value && i == 0 && node.getConstantOutput()) {
      output.constant = node.getConstantOutput();
      output.type = cast<RankedTensorType>(output.constant.getType());
      output.loc = node.getLoc();
      checkRank(node, output.type);
      continue;
    }
    if (!value) {
      (void)node.unsupported("output number " + Twine(i) + ", '" + proto.output(i) + "', is not supported");
      continue;
    }
    output.value = value;
    output.type = cast<RankedTensorType>(value.getType());
    checkRank(node, output.type);
    requireExtents(node, output.type);
    output.loc = node.getLoc();
    if (i < known.size() && IntsRef(known[i].shape) == output.type.getShape())
      output.known = known[i];
  }
}

std::optional<SmallVector<ImportedValue>>
Importer::importInstead(Node &node, ArrayRef<std::pair<StringRef, ImportedValue>> inputs) {
  Scope &inner = scopes.emplace_back();
  inner.parent = &node.scope;
  inner.opsets = node.scope.opsets;
  inner.depth = node.scope.depth;
  for (const auto &[name, value] : inputs)
    inner.values[name] = value;
  const onnx::NodeProto &proto = node.getProto();
  Node instead(*this, inner, proto, node.getOpset(), builder, node.getLoc());
  const OpEntry *entry = findOp(canonicalDomain(node.getDomain()), proto.op_type(), node.getOpset());
  if (!entry || !importByHandler(instead, *entry))
    return std::nullopt;
  SmallVector<ImportedValue> outputs;
  for (const std::string &name : proto.output())
    outputs.push_back(inner.values.lookup(name));
  return outputs;
}

LogicalResult Importer::bindOutputs(Node &node, ArrayRef<ImportedValue *> values) {
  const onnx::NodeProto &proto = node.getProto();
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty())
      continue;
    if (i >= static_cast<int>(values.size()) || !values[i] || values[i]->isAbsent)
      return node.invalid("output number " + Twine(i) + ", '" + proto.output(i) + "', has no producer inside");
    // A constant becomes a weight once, under its first name.
    if (values[i]->constant) {
      noteChange(*values[i]);
      materialize(*values[i]);
    }
    node.scope.values[proto.output(i)] = *values[i];
  }
  return success();
}
