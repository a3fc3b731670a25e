//===- Importer.cpp - the main graph: inputs, initializers, outputs -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Importer.h"
#include "compiler/graph/GraphBuilder.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include <onnx/defs/schema.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

ImportedValue *Scope::find(StringRef name) {
  for (Scope *scope = this; scope; scope = scope->parent) {
    auto it = scope->values.find(name);
    if (it != scope->values.end())
      return &it->second;
  }
  return nullptr;
}

Importer::Importer(std::shared_ptr<ModelMemory> memory, ExternalFiles &files, const ImportOptions &options,
                   Report &report, MLIRContext *context)
    : memory(memory), model(*memory->model), options(options), report(report), context(context),
      builder(context), tensors(context, memory, files), inputShapes(options, report, context) {
  context->getOrLoadDialect<TenonDialect>();
  context->getOrLoadDialect<func::FuncDialect>();
}

OwningOpRef<ModuleOp> Importer::run() {
  if (!readOpsets(model.opset_import(), opsets))
    return {};
  mainScope.opsets = &opsets;
  Location loc = NameLoc::get(builder.getStringAttr(model.graph().name()));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  {
    // What inference and checks of single operations say becomes part of the node's fault.
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        currentDiagnostics.push_back(diagnostic.str());
      return success();
    });
    readModel(function);
  }
  if (report.hasFaults())
    return {};
  setModuleAttributes(*module);
  return module;
}

void Importer::readModel(func::FuncOp function) {
  readFunctions();
  importInitializers(model.graph(), mainScope);
  importInputConstants();
  importInputs(function);
  inputShapes.checkOptions();
  importNodes(model.graph().node(), mainScope);
  importOutputs(function);
}

//===----------------------------------------------------------------------===//
// Opsets and functions
//===----------------------------------------------------------------------===//

bool Importer::readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports,
                          OpsetImports &opsets) {
  const auto &known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  bool isGood = true;
  for (const auto &import : imports) {
    StringRef domain = canonicalDomain(import.domain());
    auto it = known.find(domain.str());
    bool isTooNew = it != known.end() && import.version() > it->second.second;
    isGood &= import.version() >= 1 && !isTooNew;
    if (import.version() < 1)
      report.add(ImportFault::InvalidModel, "imports version " + Twine(import.version()) + " of domain '" +
                                                domain + "'; versions count from 1");
    else if (isTooNew)
      report.add(ImportFault::Unsupported, "uses opset " + Twine(import.version()) + " of domain '" +
                                               (domain.empty() ? "ai.onnx" : domain) + "', but " +
                                               Twine(it->second.second) +
                                               " is the newest that is known here; export it for that one");
    else
      opsets[domain] = import.version();
  }
  return isGood;
}

void Importer::readFunctions() {
  for (const onnx::FunctionProto &function : model.functions()) {
    std::string key =
        (canonicalDomain(function.domain()) + "::" + function.name() + ":" + function.overload()).str();
    if (!functions.try_emplace(key, &function).second)
      report.add(ImportFault::InvalidModel, "defines the function '" + function.name() + "' twice");
  }
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The name of a dynamic dimension: what the model calls it, or one that we make up.
static std::string getDimName(const onnx::ValueInfoProto &input, int i) {
  const auto &dim = input.type().tensor_type().shape().dim(i);
  // "?" is no name: it would make dimensions equal that have nothing in common.
  bool hasName = dim.has_dim_param() && !dim.dim_param().empty() && dim.dim_param() != "?";
  return hasName ? dim.dim_param() : input.name() + "_dim" + std::to_string(i);
}

static bool isDynamic(const onnx::TensorShapeProto::Dimension &dim) {
  return !dim.has_dim_value() || dim.dim_value() < 0;
}

void Importer::declareShape(const onnx::ValueInfoProto &input) {
  const auto &declared = input.type().tensor_type();
  if (!declared.has_shape())
    return inputShapes.declareWithoutShape(input.name());
  std::vector<DeclaredDim> dims;
  for (int i = 0; i < declared.shape().dim_size(); ++i) {
    const auto &dim = declared.shape().dim(i);
    dims.push_back(isDynamic(dim) ? DeclaredDim{getDimName(input, i)} : DeclaredDim{"", dim.dim_value()});
  }
  inputShapes.declare(input.name(), dims);
}

RankedTensorType Importer::getInputType(const onnx::ValueInfoProto &input) {
  if (!input.type().has_tensor_type()) {
    report.add(ImportFault::Unsupported, "input '" + input.name() + "' is no tensor, which is not supported");
    return {};
  }
  int32_t dataType = input.type().tensor_type().elem_type();
  Type element = getElementType(context, dataType);
  if (!element) {
    report.add(ImportFault::Unsupported, "input '" + input.name() + "' is of type " +
                                             getDataTypeName(dataType) + ", which is not supported");
    return {};
  }
  std::optional<Dims> dims = inputShapes.getDims(input.name());
  if (!dims)
    return {};
  int64_t count = 1;
  for (AffineExpr dim : *dims)
    if (int64_t size = std::max<int64_t>(getConstant(dim).value_or(1), 1);
        __builtin_mul_overflow(count, size, &count) || count > kMaxElements) {
      report.add(ImportFault::InvalidModel, "input '" + input.name() + "' has more than 2^40 elements");
      return {};
    }
  return getTensorType(*dims, element);
}

void Importer::importInputs(func::FuncOp function) {
  SmallVector<const onnx::ValueInfoProto *> inputs;
  // Up to IR version 3 each initializer is an input too, by the same name; it is a constant all the same.
  for (const onnx::ValueInfoProto &input : model.graph().input())
    if (!mainScope.values.contains(input.name()))
      inputs.push_back(&input);
  for (const onnx::ValueInfoProto *input : inputs)
    declareShape(*input);
  SmallVector<Type> types;
  for (const onnx::ValueInfoProto *input : inputs) {
    auto [it, isNew] = mainScope.values.try_emplace(input->name());
    if (!isNew || input->name().empty()) {
      report.add(ImportFault::InvalidModel, "has two inputs named '" + input->name() + "'");
      continue;
    }
    RankedTensorType type = getInputType(*input);
    if (!type)
      continue;
    Location loc = NameLoc::get(builder.getStringAttr(input->name()));
    it->second.type = type;
    it->second.value = function.getBody().addArgument(type, loc);
    types.push_back(type);
    inputNames.push_back(builder.getStringAttr(input->name()));
  }
  function.setFunctionType(builder.getFunctionType(types, {}));
  for (auto [i, name] : llvm::enumerate(inputNames))
    function.setArgAttr(i, "tenon.name", name);
}

//===----------------------------------------------------------------------===//
// Initializers and outputs
//===----------------------------------------------------------------------===//

void Importer::importInitializers(const onnx::GraphProto &graph, Scope &scope) {
  for (const auto &sparse : graph.sparse_initializer())
    report.add(ImportFault::Unsupported, "initializer '" + sparse.values().name() +
                                             "' is sparse, which is not supported; export it as a dense one");
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    Location loc = NameLoc::get(builder.getStringAttr(tensor.name()));
    auto [it, isNew] = scope.values.try_emplace(tensor.name());
    if (!isNew) {
      report.add(ImportFault::InvalidModel, loc, "initializer '" + tensor.name() + "'", "is there twice");
      continue;
    }
    TensorReader::Result result = tensors.read(tensor, tensor.name());
    if (!result.elements) {
      report.add(result.isUnsupported ? ImportFault::Unsupported : ImportFault::InvalidModel, loc,
                 "initializer '" + tensor.name() + "'", result.error);
      continue;
    }
    it->second.constant = result.elements;
    it->second.type = cast<RankedTensorType>(result.elements.getType());
    it->second.weightName = tensor.name();
    it->second.loc = loc;
  }
}

void Importer::importOutputs(func::FuncOp function) {
  SmallVector<Value> results;
  SmallVector<Type> types;
  for (const onnx::ValueInfoProto &output : model.graph().output()) {
    ImportedValue *value = mainScope.find(output.name());
    if (!value)
      report.add(ImportFault::InvalidModel,
                 "output '" + output.name() + "' is made by no node, input or initializer");
    if (!value || value->hasFailed())
      continue;
    int32_t declared = output.type().tensor_type().elem_type();
    if (declared != 0 && declared != getDataType(value->type.getElementType()))
      report.add(ImportFault::InvalidModel, "output '" + output.name() + "' is declared as " +
                                                getDataTypeName(declared) + ", but comes out as " +
                                                getDataTypeName(getDataType(value->type.getElementType())));
    if (Value result = materialize(*value)) {
      results.push_back(result);
      types.push_back(result.getType());
    }
  }
  if (report.hasFaults())
    return;
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(function.getFunctionType().getInputs(), types));
  for (auto [i, output] : llvm::enumerate(model.graph().output()))
    function.setResultAttr(i, "tenon.name", builder.getStringAttr(output.name()));
}

void Importer::setModuleAttributes(ModuleOp module) {
  module->setAttr("tenon.model", builder.getStringAttr(model.graph().name()));
  inputShapes.setRanges(module);
  if (!requirements.empty())
    module->setAttr("tenon.requires", ShapeAttr::get(context, requirements.getArrayRef()));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Importer::materialize(ImportedValue &value) {
  if (value.value || !value.type)
    return value.value;
  GraphBuilder b(builder, value.loc.value_or(builder.getUnknownLoc()));
  if (value.constant) {
    value.value = b.weight(value.constant, value.weightName);
  } else if (std::optional<Dims> integers = value.known->getIntegers()) {
    Value flat = value.known->shape.empty() ? b.size((*integers)[0], value.known->type)
                                            : b.sizes(*integers, value.known->type);
    value.value = b.reshape(flat, IntsRef(value.known->shape));
  } else if (auto numbers = value.known->getNumbers()) {
    value.value = b.constantFloats(*numbers, value.known->shape, value.known->type);
  }
  return value.value;
}

const ShapeValue *Importer::getKnown(ImportedValue &value) {
  if (!value.known && value.constant && !value.knownIsUpToDate) {
    value.known = getShapeValue(value.constant);
    value.knownIsUpToDate = true;
  }
  return value.known ? &*value.known : nullptr;
}

std::string Importer::makeDataSymbol(StringRef hint) {
  std::string name;
  for (int i = 0; name.empty() || !inputShapes.addSymbol(name); ++i)
    name = (hint + "." + Twine(i)).str();
  dataSymbols.insert(getDimSymbol(context, name));
  return name;
}

bool Importer::dependsOnData(AffineExpr expr) const {
  bool result = false;
  if (!dataSymbols.empty())
    expr.walk([&](AffineExpr e) { result |= dataSymbols.contains(e); });
  return result;
}

void Importer::rememberSizes(ImportedValue &value, ArrayRef<AffineExpr> sizes) {
  ShapeValue known{Ints(value.type.getShape()), value.type.getElementType(), {}};
  for (AffineExpr size : sizes)
    known.elements.push_back({size});
  value.known = std::move(known);
}

void Importer::addFault(ImportFault kind, const Node &node, const Twine &text) {
  std::string where = outerName.empty() ? "" : " in the body of " + outerName;
  report.add(kind, node.getLoc(), node.describe() + where, text);
}
