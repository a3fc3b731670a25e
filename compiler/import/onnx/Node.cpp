//===- Node.cpp - an ONNX node as the handler of its operator sees it -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/ShapeArithmetic.h"
#include "dialects/tenon/IndexUses.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <onnx/onnx_pb.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;
using onnx::AttributeProto;

Node::Node(Importer &importer, Scope &scope, const onnx::NodeProto &proto, int64_t opset, OpBuilder &builder,
           Location loc)
    : GraphBuilder(builder, loc), importer(importer), scope(scope), proto(proto), opset(opset),
      outputs(proto.output_size()) {
  for (const std::string &name : proto.input()) {
    ImportedValue *value = name.empty() ? nullptr : scope.find(name);
    inputs.push_back(value && !value->isAbsent ? value : nullptr);
  }
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
}

StringRef Node::getOpType() const { return proto.op_type(); }
StringRef Node::getDomain() const { return proto.domain(); }

/// Truncates a very long name.
static std::string shorten(const std::string &name) {
  constexpr size_t kShown = 200;
  return name.size() > kShown ? name.substr(0, kShown) + "..." : name;
}

std::string Node::describe() const {
  std::string name = !proto.name().empty()      ? "node '" + shorten(proto.name()) + "'"
                     : proto.output_size() != 0 ? "the node of '" + shorten(proto.output(0)) + "'"
                                                : "a node without a name";
  return name + " (" + proto.op_type() + ")";
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Value Node::input(size_t i) {
  if (!hasInput(i)) {
    (void)invalid("needs input number " + Twine(i) + ", which is left out");
    failed = true;
    return {};
  }
  if (!inputs[i]->isTensor()) {
    StringRef kind = inputs[i]->strings ? "of strings, and has to be of numbers"
                                        : "a sequence or an optional, and has to be a tensor";
    (void)unsupported("input '" + inputName(i) + "' is " + kind);
    failed = true;
    return {};
  }
  importer.noteChange(*inputs[i]);
  Value value = importer.materialize(*inputs[i]);
  failed |= !value;
  return value;
}

SmallVector<Value> Node::allInputs() {
  SmallVector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i])
      values.push_back(input(i));
  return values;
}

RankedTensorType Node::inputType(size_t i) {
  if (hasInput(i) && inputs[i]->type)
    return inputs[i]->type;
  (void)invalid("needs input number " + Twine(i) + ", which is left out");
  failed = true;
  return RankedTensorType::get({}, f32());
}

StringRef Node::inputName(size_t i) const {
  return i < static_cast<size_t>(proto.input_size()) ? StringRef(proto.input(i)) : StringRef();
}

const ShapeValue *Node::known(size_t i) { return hasInput(i) ? importer.getKnown(*inputs[i]) : nullptr; }

Value Node::vectorOperand(size_t i) {
  Value value = cast(input(i), i64());
  if (rank(value) > 1) {
    (void)invalid("input '" + inputName(i) + "' has " + Twine(rank(value)) + " dimensions, but has to be a vector");
    failed = true;
    return {};
  }
  return rank(value) == 0 && value ? reshape(value, IntsRef(1)) : value;
}

LogicalResult Node::importBody() { return importer.importSchemaBody(*this); }

Dims Node::bindSizes(Value vector, int64_t min, ArrayRef<AffineExpr> bounds) {
  std::optional<int64_t> count = getConstant(dim(vector, 0));
  if (!vector || !count || *count > ShapeValue::kMaxElements) {
    failed = true;
    return {};
  }
  Dims dims;
  SmallVector<std::string> names;
  for (int64_t i = 0; i < *count; ++i) {
    names.push_back(importer.makeDataSymbol(proto.output_size() ? proto.output(0) : proto.op_type()));
    dims.push_back(getDimSymbol(getContext(), names.back()));
    importer.getFacts().addRange(dims.back(), {min, std::numeric_limits<int64_t>::max()});
  }
  if (!names.empty())
    bind(vector, names, min, bounds);
  return dims;
}

std::optional<Dims> Node::sizesOperand(size_t i, StringRef what, AffineExpr most) {
  const ShapeValue *value = known(i);
  std::optional<Dims> sizes = value ? value->getIntegers() : std::nullopt;
  if (sizes || !hasInput(i))
    return sizes;
  std::optional<int64_t> count = getConstant(getElementCount(getContext(), getDims(inputType(i))));
  if (!count || *count > ShapeValue::kMaxElements) {
    (void)unsupported("the " + what + " operand '" + inputName(i) + "' has " + dimsToString(getDims(inputType(i))) +
                      " elements; how many there are has to be known");
    return std::nullopt;
  }
  // Only unknown elements are read at run time.
  Value vector = vectorOperand(i);
  Dims result;
  SmallVector<std::string> names(*count);
  for (int64_t k = 0; k < *count; ++k) {
    AffineExpr element = value ? value->elements[k].getInteger() : AffineExpr();
    if (!element) {
      names[k] = importer.makeDataSymbol(inputName(i));
      element = getDimSymbol(getContext(), names[k]);
    }
    result.push_back(element);
  }
  bind(vector, names, 0, most ? Dims(*count, most) : Dims());
  if (failed)
    return std::nullopt;
  importer.rememberSizes(*inputs[i], result);
  return result;
}

bool Node::isKnownOperand(size_t i) {
  const ShapeValue *value = known(i);
  std::optional<Dims> sizes = value ? value->getIntegers() : std::nullopt;
  return sizes && llvm::none_of(*sizes, [&](AffineExpr size) { return importer.dependsOnData(size); });
}

bool Node::isConstantOperand(size_t i) {
  const ShapeValue *value = known(i);
  std::optional<Dims> sizes = value ? value->getIntegers() : std::nullopt;
  return sizes && getConstants(*sizes);
}

std::optional<Ints> Node::intsOperand(size_t i, StringRef what) {
  std::optional<Dims> sizes = sizesOperand(i, what);
  if (!sizes)
    return std::nullopt;
  std::optional<Ints> ints = getConstants(*sizes);
  if (!ints)
    (void)unsupported("the " + what + " operand '" + inputName(i) + "' is " + dimsToString(*sizes) +
                      ", but has to be constant; fix its symbols with --shape");
  return ints;
}

std::optional<SmallVector<double>> Node::floatsOperand(size_t i, StringRef what) {
  const ShapeValue *value = known(i);
  std::optional<SmallVector<double>> numbers = value ? value->getNumbers() : std::nullopt;
  if (!numbers)
    (void)unsupported("the " + what + " operand '" + inputName(i) + "' is not known when compiling");
  return numbers;
}

std::optional<int64_t> Node::intOperand(size_t i, StringRef what) {
  std::optional<Ints> ints = intsOperand(i, what);
  if (!ints)
    return std::nullopt;
  if (ints->size() == 1)
    return ints->front();
  (void)invalid("the " + what + " operand '" + inputName(i) + "' has " + Twine(ints->size()) +
                " elements, but has to have one");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *Node::findAttr(StringRef name) const {
  for (const AttributeProto &attr : proto.attribute())
    if (attr.name() == name)
      return &attr;
  return nullptr;
}

const AttributeProto *Node::findAttr(StringRef name, int type, StringRef typeName) {
  const AttributeProto *attr = findAttr(name);
  if (!attr || attr->type() == type)
    return attr;
  (void)invalid("attribute '" + name + "' is of type " +
                StringRef(AttributeProto::AttributeType_Name(attr->type())).lower() + ", but has to be " + typeName);
  return nullptr;
}

int64_t Node::getInt(StringRef name, int64_t fallback) {
  const AttributeProto *attr = findAttr(name, AttributeProto::INT, "an int");
  return attr ? attr->i() : fallback;
}

int64_t Node::getIntIn(StringRef name, int64_t fallback, int64_t min, int64_t max) {
  int64_t value = getInt(name, fallback);
  if (!hasAttr(name) || (value >= min && value <= max))
    return value;
  (void)invalid("attribute '" + name + "' is " + Twine(value) + ", but has to be in [" + Twine(min) + ", " +
                Twine(max) + "]");
  return fallback;
}

bool Node::getBool(StringRef name, bool fallback) {
  int64_t value = getInt(name, fallback);
  // ONNX defines 0 and 1; runtimes disagree about other values.
  if (value != 0 && value != 1)
    (void)invalid("attribute '" + name + "' is " + Twine(value) + ", but has to be 0 or 1");
  return value != 0;
}

double Node::getFloat(StringRef name, double fallback) {
  const AttributeProto *attr = findAttr(name, AttributeProto::FLOAT, "a float");
  return attr ? attr->f() : fallback;
}

std::string Node::getString(StringRef name, StringRef fallback) {
  const AttributeProto *attr = findAttr(name, AttributeProto::STRING, "a string");
  return attr ? attr->s() : fallback.str();
}

std::optional<Ints> Node::getInts(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::INTS, "a list of ints");
  if (!attr)
    return std::nullopt;
  return Ints(attr->ints().begin(), attr->ints().end());
}

std::optional<SmallVector<double>> Node::getFloats(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::FLOATS, "a list of floats");
  if (!attr)
    return std::nullopt;
  return SmallVector<double>(attr->floats().begin(), attr->floats().end());
}

std::optional<SmallVector<std::string>> Node::getStrings(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::STRINGS, "a list of strings");
  if (!attr)
    return std::nullopt;
  return SmallVector<std::string>(attr->strings().begin(), attr->strings().end());
}

ElementsAttr Node::getTensor(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::TENSOR, "a tensor");
  if (!attr)
    return {};
  llvm::Expected<ElementsAttr> elements =
      importer.getTensorReader().read(attr->t(), proto.output_size() ? proto.output(0) : "");
  if (elements)
    return *elements;
  (void)fault(prefixError(elements.takeError(), "attribute '" + name + "' "));
  return {};
}

std::optional<StringTensor> Node::getStringTensor(StringRef name) {
  const AttributeProto *attr = findAttr(name);
  if (!attr || attr->type() != AttributeProto::TENSOR || attr->t().data_type() != onnx::TensorProto::STRING)
    return std::nullopt;
  llvm::Expected<StringTensor> strings = readStrings(attr->t());
  if (strings)
    return std::move(*strings);
  (void)fault(prefixError(strings.takeError(), "attribute '" + name + "' "));
  return std::nullopt;
}

const onnx::GraphProto *Node::getGraph(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::GRAPH, "a graph");
  if (attr)
    return &attr->g();
  (void)invalid("needs a graph '" + name + "'");
  return nullptr;
}

const onnx::TypeProto *Node::getType(StringRef name) {
  const AttributeProto *attr = findAttr(name, AttributeProto::TYPE_PROTO, "a type");
  return attr ? &attr->tp() : nullptr;
}

Type Node::getDataType(StringRef name, Type fallback) {
  const AttributeProto *attr = findAttr(name, AttributeProto::INT, "an int");
  return attr ? toElementType(attr->i()) : fallback;
}

Type Node::toElementType(int64_t dataType) {
  Type type = dataType >= 0 && dataType < 1000 ? getElementType(getContext(), dataType) : Type();
  if (type)
    return type;
  if (dataType <= 0 || dataType >= 1000 || !onnx::TensorProto::DataType_IsValid(static_cast<int>(dataType))) {
    (void)invalid("element type number " + Twine(dataType) + " is not one of ONNX's");
    return f32();
  }
  (void)unsupported("element type " + getDataTypeName(static_cast<int32_t>(dataType)) + " is not supported");
  failed = true;
  return f32();
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

std::optional<int64_t> Node::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  (void)invalid("axis " + Twine(axis) + " is outside of [" + Twine(-rank) + ", " + Twine(rank - 1) +
                "], the dimensions of its input");
  return std::nullopt;
}

std::optional<Ints> Node::normalizeAxesInOrder(IntsRef axes, int64_t rank) {
  Ints result;
  for (int64_t axis : axes) {
    std::optional<int64_t> normalized = normalizeAxis(axis, rank);
    if (!normalized)
      return std::nullopt;
    if (llvm::is_contained(result, *normalized)) {
      (void)invalid("axis " + Twine(*normalized) + " is named twice");
      return std::nullopt;
    }
    result.push_back(*normalized);
  }
  return result;
}

std::optional<Ints> Node::normalizeAxes(IntsRef axes, int64_t rank) {
  std::optional<Ints> result = normalizeAxesInOrder(axes, rank);
  if (result)
    llvm::sort(*result);
  return result;
}

std::optional<Ints> Node::getAxes(StringRef attr, size_t inputIndex, int64_t rank) {
  std::optional<Ints> axes = hasInput(inputIndex) ? intsOperand(inputIndex, "axes") : getInts(attr);
  if (!axes)
    return std::nullopt;
  return normalizeAxes(*axes, rank);
}

//===----------------------------------------------------------------------===//
// Outputs and faults
//===----------------------------------------------------------------------===//

size_t Node::getNumOutputs() const { return outputs.size(); }

bool Node::wantsOutput(size_t i) const { return i < outputs.size() && !proto.output(i).empty(); }

LogicalResult Node::setOutput(size_t i, Value value) {
  if (!value)
    return failure();
  if (i < outputs.size())
    outputs[i] = value;
  return success();
}

void Node::setImported(size_t i, ImportedValue value) {
  if (wantsOutput(i))
    scope.values[proto.output(i)] = std::move(value);
}

LogicalResult Node::setConstant(ElementsAttr value) {
  constant = value;
  return success(value != nullptr);
}

LogicalResult Node::setConstant(IntsRef values, IntsRef shape) {
  return setConstant(makeElements(RankedTensorType::get(shape, i64()), values));
}

LogicalResult Node::fault(llvm::Error error) {
  std::string message;
  ImportFault kind = takeFault(std::move(error), message);
  return fault(kind, message);
}

LogicalResult Node::fault(ImportFault kind, const Twine &text) {
  // Only the first fault is reported; later ones may be its consequences.
  if (!faulty)
    importer.addFault(kind, *this, text);
  faulty = true;
  return failure();
}

/// Describes an error in constant indices, or in those of an empty dimension; empty if none is known.
static std::string describeFault(const IndexUse &use) {
  bool isUsed = getConstant(use.count).value_or(0) > 0;
  auto isEmpty = [](const IndexLimits &limits) {
    std::optional<int64_t> first = getConstant(limits.first), last = getConstant(limits.last);
    return first && last && *last < *first;
  };
  if (isUsed && llvm::any_of(use.limits, isEmpty))
    return "reads or writes elements of a dimension that is empty";
  auto weight = use.indices ? use.indices.getDefiningOp<WeightOp>() : WeightOp();
  auto values = weight ? dyn_cast<DenseIntElementsAttr>(weight.getValue()) : DenseIntElementsAttr();
  if (!values || use.limits.empty())
    return "";
  for (auto [i, value] : llvm::enumerate(values.getValues<APInt>())) {
    const IndexLimits &limits = use.limits[i % use.limits.size()];
    std::optional<int64_t> first = getConstant(limits.first), last = getConstant(limits.last);
    if (int64_t index = value.getSExtValue(); first && last && (index < *first || index > *last))
      return llvm::formatv("index {0} is out of range, it has to be from {1} to {2}", index, *first, *last).str();
  }
  return "";
}

LogicalResult Node::setIndexed(Value result) {
  if (result && !importer.isInRegion())
    for (const IndexUse &use : getIndexUses(result.getDefiningOp()))
      if (std::string text = describeFault(use); !text.empty())
        return invalid(text);
  return setResult(result);
}

void Node::requireEqual(AffineExpr a, AffineExpr b, const Twine &otherwise) {
  AffineExpr difference = subDims(a, b);
  require(difference, otherwise);
  require(simplifyDim(-difference), otherwise);
}

void Node::require(AffineExpr expr, const Twine &otherwise) {
  std::optional<int64_t> constant = getConstant(expr);
  if (constant && *constant < 0)
    (void)invalid(otherwise);
  else if (importer.dependsOnData(expr) || (importer.isInRegion() && !isNonNegative(expr)))
    requireWhenRun(expr, otherwise.str());
  else if (!isNonNegative(expr))
    importer.addRequirement(expr, *this, otherwise);
}

void Node::requireIndicatorRange(AffineExpr expr) {
  AffineExpr most = constantDim(kIndicatorRange / 2 - 1);
  require(subDims(most, expr), "needs " + dimsToString(expr) + " to be below 2^30");
  require(addDims(most, expr), "needs " + dimsToString(expr) + " to be above -2^30");
}

/// True if `excess` need not be clamped at 0: it is non-negative, or required to be.
static bool isHeldAtZero(Node &n, AffineExpr excess, const Twine &otherwise) {
  if (n.importer.getFacts().isNotNegative(excess))
    return true;
  if (!n.importer.isNegativeForEmptyOnly(excess))
    return false;
  n.require(excess, otherwise);
  return true;
}

/// Returns the maximum or minimum of two sizes as a symbol that is bound at run time: nested case expressions would
/// grow exponentially.
static AffineExpr bindExtreme(Node &n, AffineExpr a, AffineExpr b, bool isLarger) {
  Value x = n.sizes(a, n.i64()), y = n.sizes(b, n.i64());
  Dims bound = n.bindSizes(isLarger ? n.max(x, y) : n.min(x, y), std::numeric_limits<int64_t>::min());
  return bound.empty() ? a : bound.front();
}

AffineExpr Node::atLeast(AffineExpr expr, AffineExpr bound, const Twine &otherwise) {
  AffineExpr excess = subDims(expr, bound);
  if (isHeldAtZero(*this, excess, otherwise))
    return expr;
  if (!isShort(expr) || !isShort(bound))
    return bindExtreme(*this, expr, bound, /*isLarger=*/true);
  requireIndicatorRange(excess);
  return maxDims(expr, bound);
}

AffineExpr Node::atMost(AffineExpr expr, AffineExpr bound, const Twine &otherwise) {
  AffineExpr excess = subDims(bound, expr);
  if (isHeldAtZero(*this, excess, otherwise))
    return expr;
  if (!isShort(expr) || !isShort(bound))
    return bindExtreme(*this, expr, bound, /*isLarger=*/false);
  requireIndicatorRange(excess);
  return minDims(bound, expr);
}

void Node::noteEqual(AffineExpr a, AffineExpr b) {
  // A condition in a branch need not hold after it. The operation checks two constants, and a 1 is broadcast.
  bool isStretched = getConstant(a) == 1 || getConstant(b) == 1;
  if (a == b || isStretched || importer.isInRegion() || isUnknownDim(a) || isUnknownDim(b) ||
      importer.getFacts().isEqual(a, b) || (getConstant(a) && getConstant(b)))
    return;
  // The requirement remains if the operation is eliminated, because other values may depend on it.
  std::string text = "needs " + dimsToString(a) + " and " + dimsToString(b) + " to be equal";
  require(subDims(a, b), text);
  require(subDims(b, a), text);
  importer.learnEqual(a, b);
}
