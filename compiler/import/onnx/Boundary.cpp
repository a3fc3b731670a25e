//===- Boundary.cpp - what goes into a model and what comes out -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Compound.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Returns the tensor type of an input, or the one that an optional input contains.
static const onnx::TypeProto_Tensor &getTensorProto(const onnx::TypeProto &type) {
  return type.has_optional_type() ? type.optional_type().elem_type().tensor_type() : type.tensor_type();
}

/// Returns the name of a dynamic dimension: that of the model, or a generated one.
static std::string getDimName(const onnx::ValueInfoProto &input, int i) {
  const auto &dim = getTensorProto(input.type()).shape().dim(i);
  // "?" counts as no name, since it would make unrelated dimensions equal.
  bool hasName = dim.has_dim_param() && !dim.dim_param().empty() && dim.dim_param() != "?";
  return hasName ? dim.dim_param() : input.name() + "_dim" + std::to_string(i);
}

/// Some exporters write -1 for an unknown size.
static bool isDynamic(const onnx::TensorShapeProto::Dimension &dim) {
  return !dim.has_dim_value() || dim.dim_value() == -1;
}

void Importer::declareShape(const onnx::ValueInfoProto &input) {
  const auto &declared = getTensorProto(input.type());
  if (!declared.has_shape())
    return inputShapes.declareWithoutShape(input.name());
  std::vector<DeclaredDim> dims;
  if (declared.shape().dim_size() > ImportLimits::kMaxRank)
    report.add(ImportFault::limit, "input '" + input.name() + "' has " + Twine(declared.shape().dim_size()) +
                                       " dimensions, more than the import limit 'rank' of " +
                                       Twine(ImportLimits::kMaxRank));
  for (int i = 0; i < declared.shape().dim_size(); ++i) {
    const auto &dim = declared.shape().dim(i);
    if (!isDynamic(dim) && dim.dim_value() < 0)
      report.add(ImportFault::malformed, "dimension " + Twine(i) + " of input '" + input.name() + "' is " +
                                             Twine(dim.dim_value()) + ", but has to be a size, a name or -1");
    dims.push_back(isDynamic(dim) ? DeclaredDim{getDimName(input, i)} : DeclaredDim{"", dim.dim_value()});
  }
  inputShapes.declare(input.name(), dims);
}

/// Returns the dimensions of an input; none after an error.
std::optional<Dims> Importer::getInputDims(const onnx::ValueInfoProto &input) {
  std::optional<Dims> dims = inputShapes.getDims(input.name());
  if (!dims)
    return std::nullopt;
  int64_t count = 1;
  for (AffineExpr dim : *dims)
    if (int64_t size = std::max<int64_t>(getConstant(dim).value_or(1), 1);
        __builtin_mul_overflow(count, size, &count) || count > kMaxElements) {
      report.add(ImportFault::invalidModel, "input '" + input.name() + "' has more than 2^40 elements");
      return std::nullopt;
    }
  return dims;
}

Type Importer::getInputElementType(const onnx::ValueInfoProto &input, int32_t dataType) {
  Type element = getElementType(context, dataType);
  if (!element)
    report.add(ImportFault::unsupported,
               "input '" + input.name() + "' is of type " + getDataTypeName(dataType) + ", which is not supported");
  return element;
}

//===----------------------------------------------------------------------===//
// Inputs that are several tensors
//===----------------------------------------------------------------------===//

Value Importer::addArgument(func::FuncOp function, StringRef name, std::optional<Role> role, Type type) {
  Location loc = NameLoc::get(builder.getStringAttr(name));
  // importOutputs sets the function's type and attributes once, because each change copies those of all arguments.
  argumentAttrs.push_back(getBoundaryAttrs(name, role));
  return function.getBody().front().addArgument(type, loc);
}

DictionaryAttr Importer::getBoundaryAttrs(StringRef name, std::optional<Role> role) {
  SmallVector<NamedAttribute> attrs{builder.getNamedAttr(kNameAttr, builder.getStringAttr(name))};
  if (role)
    attrs.push_back(builder.getNamedAttr(kRoleAttr, RoleAttr::get(context, *role)));
  return builder.getDictionaryAttr(attrs);
}

AffineExpr Importer::addInputSymbol(const Twine &name) {
  std::string symbol = name.str();
  inputShapes.addSymbol(symbol);
  return getDimSymbol(context, symbol);
}

/// Its tensors' elements and shapes.
ImportedValue Importer::importSequenceInput(func::FuncOp function, const onnx::ValueInfoProto &input,
                                            const onnx::TypeProto &type) {
  const auto &tensor = type.sequence_type().elem_type().tensor_type();
  StringRef name = input.name();
  Type element = getInputElementType(input, tensor.elem_type());
  if (!element)
    return {};
  bool areScalars = tensor.has_shape() && tensor.shape().dim_size() == 0;
  bool isRankKnown = tensor.has_shape() && !areScalars;
  Sequence sequence{element, isRankKnown ? tensor.shape().dim_size() : -1, std::nullopt, {}, {}, areScalars};
  AffineExpr total = addInputSymbol(name + ".elements"), length = addInputSymbol(name + ".length");
  Dims shapes{length, isRankKnown ? getDimConstant(context, sequence.rank) : addInputSymbol(name + ".rank")};
  sequence.elements = addArgument(function, name, Role::elements, getTensorType(total, element));
  sequence.shapes = addArgument(function, name, Role::shapes, getTensorType(shapes, builder.getI64Type()));
  ImportedValue value;
  value.sequence = std::make_shared<Sequence>(std::move(sequence));
  return value;
}

ImportedValue Importer::importTensorInput(func::FuncOp function, const onnx::ValueInfoProto &input) {
  int32_t dataType = getTensorProto(input.type()).elem_type();
  ImportedValue value;
  if (dataType == onnx::TensorProto::STRING) {
    std::optional<Dims> dims = getInputDims(input);
    if (!dims)
      return {};
    AffineExpr total = addInputSymbol(input.name() + ".bytes");
    Strings strings;
    strings.bytes =
        addArgument(function, input.name(), Role::bytes, getTensorType(total, builder.getIntegerType(8, false)));
    strings.ends = addArgument(function, input.name(), Role::ends, getTensorType(*dims, builder.getI64Type()));
    value.strings = std::make_shared<Strings>(strings);
    return value;
  }
  Type element = getInputElementType(input, dataType);
  std::optional<Dims> dims = element ? getInputDims(input) : std::nullopt;
  if (!dims)
    return {};
  value.type = getTensorType(*dims, element);
  value.value = addArgument(function, input.name(), std::nullopt, value.type);
  return value;
}

ImportedValue Importer::importInput(func::FuncOp function, const onnx::ValueInfoProto &input) {
  const onnx::TypeProto &type = input.type();
  if (type.has_sequence_type())
    return importSequenceInput(function, input, type);
  if (!type.has_tensor_type() && !type.has_optional_type()) {
    report.add(ImportFault::unsupported, "input '" + input.name() + "' is neither a tensor nor a sequence nor an " +
                                             "optional, which is not supported");
    return {};
  }
  if (type.has_tensor_type())
    return importTensorInput(function, input);
  Optional optional;
  optional.has.type = RankedTensorType::get({}, builder.getI1Type());
  optional.has.value = addArgument(function, input.name(), Role::has, optional.has.type);
  const onnx::TypeProto &content = type.optional_type().elem_type();
  optional.content =
      content.has_sequence_type() ? importSequenceInput(function, input, content) : importTensorInput(function, input);
  if (optional.content.hasFailed())
    return {};
  ImportedValue value;
  value.optional = std::make_shared<Optional>(std::move(optional));
  return value;
}

/// True if a constant matches its declaration as an input.
static bool isAsDeclared(RankedTensorType type, const onnx::TypeProto_Tensor &declared) {
  if (declared.elem_type() != getDataType(type.getElementType()))
    return false;
  if (!declared.has_shape())
    return true;
  if (declared.shape().dim_size() != type.getRank())
    return false;
  for (auto [dim, size] : llvm::zip(declared.shape().dim(), type.getShape()))
    if (!isDynamic(dim) && dim.dim_value() != size)
      return false;
  return true;
}

void Importer::importInputs(func::FuncOp function) {
  SmallVector<const onnx::ValueInfoProto *> inputs;
  // Up to IR version 3, each initializer is also listed as an input of the same name; it is still a constant.
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    auto it = mainScope.values.find(input.name());
    if (it == mainScope.values.end())
      inputs.push_back(&input);
    else if (it->second.type && input.type().has_tensor_type() &&
             !isAsDeclared(it->second.type, input.type().tensor_type()))
      report.add(ImportFault::malformed, "initializer '" + input.name() + "' is " +
                                             dimsToString(tenon::getDims(it->second.type)) + " of " +
                                             getDataTypeName(getDataType(it->second.type.getElementType())) +
                                             ", which is not what the input of that name is declared as");
  }
  for (const onnx::ValueInfoProto *input : inputs)
    declareShape(*input);
  for (const onnx::ValueInfoProto *input : inputs) {
    auto [it, isNew] = mainScope.values.try_emplace(input->name());
    if (!isNew || input->name().empty()) {
      report.add(ImportFault::invalidModel, "has two inputs named '" + input->name() + "'");
      continue;
    }
    it->second = importInput(function, *input);
  }
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// A result of main: a tensor, and the part of an output that it represents.
struct Importer::Result {
  Value value;
  StringRef name;
  std::optional<Role> role;
};

void Importer::addResults(StringRef name, ImportedValue &value, SmallVectorImpl<Result> &results) {
  GraphBuilder b(builder, NameLoc::get(builder.getStringAttr(name)));
  if (value.sequence) {
    Sequence sequence = *value.sequence;
    if (!join(b, sequence))
      return;
    results.push_back({sequence.elements, name, Role::elements});
    results.push_back({sequence.shapes, name, Role::shapes});
  } else if (value.optional) {
    results.push_back({materialize(value.optional->has), name, Role::has});
    if (!value.optional->content.hasFailed())
      addResults(name, value.optional->content, results);
  } else if (value.strings) {
    results.push_back({value.strings->bytes, name, Role::bytes});
    results.push_back({value.strings->ends, name, Role::ends});
  } else {
    results.push_back({materialize(value), name, std::nullopt});
  }
}

void Importer::addMarked(SmallVectorImpl<Result> &results) {
  llvm::StringSet<> known;
  for (const onnx::ValueInfoProto &output : model.graph().output())
    known.insert(output.name());
  for (const std::string &name : options.marked) {
    if (!known.insert(name).second)
      continue;
    ImportedValue *value = mainScope.find(name);
    if (!value)
      report.add(ImportFault::invalidModel, "has no value '" + name + "' in its main graph, which --mark-output names");
    else if (!value->hasFailed() && !value->isAbsent)
      addResults(name, *value, results);
  }
}

void Importer::importOutputs(func::FuncOp function) {
  SmallVector<Result> results;
  for (const onnx::ValueInfoProto &output : model.graph().output()) {
    ImportedValue *value = mainScope.find(output.name());
    if (!value)
      report.add(ImportFault::invalidModel, "output '" + output.name() + "' is made by no node, input or initializer");
    if (!value || value->hasFailed())
      continue;
    int32_t declared = output.type().tensor_type().elem_type();
    if (value->type && declared != 0 && declared != getDataType(value->type.getElementType()))
      report.add(ImportFault::invalidModel, "output '" + output.name() + "' is declared as " +
                                                getDataTypeName(declared) + ", but comes out as " +
                                                getDataTypeName(getDataType(value->type.getElementType())));
    addResults(output.name(), *value, results);
  }
  addMarked(results);
  if (report.hasFaults())
    return;
  SmallVector<Value> values;
  for (const Result &result : results)
    values.push_back(result.value);
  func::ReturnOp::create(builder, function.getLoc(), values);
  function.setFunctionType(
      builder.getFunctionType(function.getBody().front().getArgumentTypes(), TypeRange(ValueRange(values))));
  function.setAllArgAttrs(argumentAttrs);
  SmallVector<DictionaryAttr> attrs;
  for (const Result &result : results)
    attrs.push_back(getBoundaryAttrs(result.name, result.role));
  function.setAllResultAttrs(attrs);
}
