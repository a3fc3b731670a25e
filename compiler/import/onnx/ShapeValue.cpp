//===- ShapeValue.cpp - what is known of a tensor's elements at compile time ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ShapeValue.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/ShapeArithmetic.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool ShapeValue::isKnown() const {
  return llvm::all_of(elements, [](const Element &e) { return e.isKnown(); });
}

std::optional<Dims> ShapeValue::getIntegers() const {
  Dims dims;
  for (const Element &element : elements) {
    if (!element.getInteger())
      return std::nullopt;
    dims.push_back(element.expr);
  }
  return dims;
}

std::optional<SmallVector<double>> ShapeValue::getNumbers() const {
  SmallVector<double> numbers;
  for (const Element &element : elements) {
    std::optional<double> number = element.getNumber();
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<ShapeValue> onnx_import::getShapeValue(ElementsAttr constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  if (!dense || dense.getNumElements() > ShapeValue::kMaxElements || !dense.getElementType().isIntOrFloat())
    return std::nullopt;
  MLIRContext *context = dense.getContext();
  ShapeValue value{Ints(dense.getType().getShape()), dense.getElementType(), {}};
  if (isa<FloatType>(value.type)) {
    if (value.type.getIntOrFloatBitWidth() < 16)
      return std::nullopt;
    for (const llvm::APFloat &number : dense.getValues<llvm::APFloat>()) {
      bool losesInfo;
      llvm::APFloat wide = number;
      wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      value.elements.push_back(makeNumber(wide.convertToDouble(), context));
    }
    return value;
  }
  bool isSigned = !value.type.isUnsignedInteger() && !value.type.isInteger(1);
  for (const llvm::APInt &number : dense.getValues<llvm::APInt>()) {
    if (!isSigned && number.getActiveBits() > 63)
      return std::nullopt;
    int64_t integer = isSigned ? number.getSExtValue() : static_cast<int64_t>(number.getZExtValue());
    value.elements.push_back(makeInteger(getDimConstant(context, integer)));
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

namespace {

using Values = SmallVector<ShapeValue>;

int64_t countOf(IntsRef shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0 || size > ShapeValue::kMaxElements)
      return ShapeValue::kMaxElements + 1;
    count = std::min(count * size, ShapeValue::kMaxElements + 1);
  }
  return count;
}

/// A value of this shape whose element at each index is `source(index)`; none where it has too many.
Values build(IntsRef shape, Type type, llvm::function_ref<Element(IntsRef index)> source) {
  int64_t count = countOf(shape);
  if (count > ShapeValue::kMaxElements)
    return {};
  ShapeValue value{Ints(shape), type, {}};
  Ints index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    value.elements.push_back(source(index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return {value};
}

/// The element at an index that broadcasts: leading dimensions are ignored, those of 1 read at 0.
const Element &elementAt(const ShapeValue &value, IntsRef index) {
  int64_t flat = 0;
  size_t skip = index.size() - value.shape.size();
  for (size_t d = 0; d < value.shape.size(); ++d)
    flat = flat * value.shape[d] + (value.shape[d] == 1 ? 0 : index[skip + d]);
  return value.elements[flat];
}

std::optional<Ints> broadcastShapes(ArrayRef<const ShapeValue *> values) {
  Ints shape;
  for (const ShapeValue *value : values) {
    while (shape.size() < value->shape.size())
      shape.insert(shape.begin(), 1);
    size_t skip = shape.size() - value->shape.size();
    for (size_t d = 0; d < value->shape.size(); ++d) {
      int64_t &size = shape[skip + d];
      if (size != value->shape[d] && size != 1 && value->shape[d] != 1)
        return std::nullopt;
      size = size == 1 ? value->shape[d] : size;
    }
  }
  return shape;
}

/// What is known of all inputs; empty where of one nothing is.
SmallVector<const ShapeValue *> knownInputs(Node &n) {
  SmallVector<const ShapeValue *> values;
  for (size_t i = 0; i < n.getNumInputs(); ++i) {
    const ShapeValue *value = n.known(i);
    if (!value)
      return {};
    values.push_back(value);
  }
  return values;
}

/// A list of constants among the inputs.
std::optional<Ints> constantsAt(Node &n, size_t i) {
  const ShapeValue *value = n.known(i);
  std::optional<Dims> dims = value ? value->getIntegers() : std::nullopt;
  return dims ? getConstants(*dims) : std::nullopt;
}

/// An axis in [0, rank), or -1.
int64_t wrapAxis(int64_t axis, int64_t rank) {
  return axis < -rank || axis >= rank ? -1 : axis < 0 ? axis + rank : axis;
}

Values reshaped(const ShapeValue &value, Ints shape) {
  if (countOf(shape) != static_cast<int64_t>(value.elements.size()))
    return {};
  return {ShapeValue{std::move(shape), value.type, value.elements}};
}

//===----------------------------------------------------------------------===//
// Operators: shapes
//===----------------------------------------------------------------------===//

Values evaluateShape(Node &n) {
  Dims dims = getDims(n.inputType(0));
  int64_t rank = dims.size();
  auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  int64_t start = clamp(n.getInt("start", 0)), end = clamp(n.getInt("end", rank));
  if (llvm::any_of(dims, isUnknownDim))
    return {};
  return build(std::max<int64_t>(end - start, 0), n.i64(), [&](IntsRef i) { return makeInteger(dims[start + i[0]]); });
}

Values evaluateSize(Node &n) {
  AffineExpr count = getElementCount(n.getContext(), getDims(n.inputType(0)));
  if (isUnknownDim(count))
    return {};
  return build({}, n.i64(), [&](IntsRef) { return makeInteger(count); });
}

Values evaluateIdentity(Node &n) {
  const ShapeValue *value = n.known(0);
  return value ? Values{*value} : Values();
}

Values evaluateReshape(Node &n) {
  const ShapeValue *value = n.known(0);
  std::optional<Ints> shape = n.hasInput(1) ? constantsAt(n, 1) : n.getInts("shape");
  if (!value || !shape)
    return {};
  int64_t known = 1, *open = nullptr;
  for (auto [i, size] : llvm::enumerate(*shape)) {
    if (size == 0 && !n.getBool("allowzero", false) && i < value->shape.size())
      size = value->shape[i];
    if (size == -1)
      open = &size;
    else
      known *= std::clamp<int64_t>(size, 0, ShapeValue::kMaxElements + 1);
    if (known > ShapeValue::kMaxElements)
      return {};
  }
  if (open)
    *open = known > 0 ? static_cast<int64_t>(value->elements.size()) / known : 0;
  return reshaped(*value, *shape);
}

Values evaluateUnsqueeze(Node &n) {
  const ShapeValue *value = n.known(0);
  std::optional<Ints> axes = n.hasInput(1) ? constantsAt(n, 1) : n.getInts("axes");
  if (!value || !axes)
    return {};
  int64_t rank = value->shape.size() + axes->size();
  Ints shape(rank, 0);
  for (int64_t axis : *axes) {
    axis = wrapAxis(axis, rank);
    if (axis < 0 || shape[axis] == 1)
      return {};
    shape[axis] = 1;
  }
  const int64_t *next = value->shape.begin();
  for (int64_t &size : shape)
    if (size == 0)
      size = *next++;
  return reshaped(*value, shape);
}

Values evaluateSqueeze(Node &n) {
  const ShapeValue *value = n.known(0);
  std::optional<Ints> axes = n.hasInput(1) ? constantsAt(n, 1) : n.getInts("axes");
  if (!value || (!axes && n.hasInput(1)))
    return {};
  Ints shape;
  for (auto [i, size] : llvm::enumerate(value->shape)) {
    bool isNamed = axes && llvm::any_of(*axes, [&, i = i](int64_t axis) {
                     return wrapAxis(axis, value->shape.size()) == static_cast<int64_t>(i);
                   });
    if (!(axes ? isNamed : size == 1))
      shape.push_back(size);
  }
  return reshaped(*value, shape);
}

Values evaluateConcat(Node &n) {
  // One unknown input leaves gaps, but the others are known.
  Ints shape;
  SmallVector<const ShapeValue *> values;
  int64_t total = 0;
  for (size_t i = 0; i < n.getNumInputs(); ++i) {
    RankedTensorType type = n.inputType(i);
    if (type.getRank() != 1 || !type.hasStaticShape())
      return {};
    values.push_back(n.known(i));
    shape.push_back(type.getDimSize(0));
    total += type.getDimSize(0);
  }
  if (llvm::none_of(values, [](const ShapeValue *value) { return value != nullptr; }))
    return {};
  return build(total, n.inputType(0).getElementType(), [&](IntsRef index) {
    int64_t i = index[0];
    size_t part = 0;
    while (i >= shape[part])
      i -= shape[part++];
    return values[part] ? values[part]->elements[i] : Element();
  });
}

Values evaluateGather(Node &n) {
  const ShapeValue *value = n.known(0);
  const ShapeValue *indices = n.known(1);
  std::optional<Ints> numbers = constantsAt(n, 1);
  if (!value || !indices || !numbers)
    return {};
  int64_t axis = wrapAxis(n.getInt("axis", 0), value->shape.size());
  if (axis < 0)
    return {};
  int64_t size = value->shape[axis], indexRank = indices->shape.size();
  for (int64_t &number : *numbers) {
    number = wrapAxis(number, size);
    if (number < 0)
      return {};
  }
  Ints shape(value->shape);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, indices->shape.begin(), indices->shape.end());
  return build(shape, value->type, [&](IntsRef index) {
    int64_t flat = 0;
    for (int64_t d = 0; d < indexRank; ++d)
      flat = flat * indices->shape[d] + index[axis + d];
    Ints from(index.begin(), index.begin() + axis);
    from.push_back((*numbers)[flat]);
    from.append(index.begin() + axis + indexRank, index.end());
    return elementAt(*value, from);
  });
}

Values evaluateSlice(Node &n) {
  const ShapeValue *value = n.known(0);
  bool hasOperands = n.hasInput(1);
  std::optional<Ints> starts = hasOperands ? constantsAt(n, 1) : n.getInts("starts");
  std::optional<Ints> ends = hasOperands ? constantsAt(n, 2) : n.getInts("ends");
  std::optional<Ints> axes = n.hasInput(3) ? constantsAt(n, 3) : n.getInts("axes");
  std::optional<Ints> steps = n.hasInput(4) ? constantsAt(n, 4) : std::nullopt;
  if (!value || !starts || !ends || (n.hasInput(3) && !axes) || (n.hasInput(4) && !steps) ||
      starts->size() != ends->size() || (axes && axes->size() != starts->size()) ||
      (steps && steps->size() != starts->size()))
    return {};
  int64_t rank = value->shape.size();
  Ints shape(value->shape), from(rank, 0), by(rank, 1);
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = wrapAxis(axes ? (*axes)[i] : i, rank), step = steps ? (*steps)[i] : 1;
    if (axis < 0 || step == 0)
      return {};
    int64_t size = value->shape[axis], start = (*starts)[i], end = (*ends)[i];
    start = start < 0 ? start + size : start;
    end = end < 0 ? std::max<int64_t>(end, -size - 1) + size : end;
    start = step > 0 ? std::clamp<int64_t>(start, 0, size) : std::clamp<int64_t>(start, 0, size - 1);
    end = step > 0 ? std::clamp<int64_t>(end, 0, size) : std::clamp<int64_t>(end, -1, size - 1);
    int64_t distance = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
    shape[axis] = distance <= 0 || stride < 0 ? 0 : 1 + (distance - 1) / stride;
    from[axis] = start;
    by[axis] = step;
  }
  return build(shape, value->type, [&](IntsRef index) {
    Ints source(rank);
    for (int64_t d = 0; d < rank; ++d)
      source[d] = from[d] + index[d] * by[d];
    return elementAt(*value, source);
  });
}

Values evaluateTranspose(Node &n) {
  const ShapeValue *value = n.known(0);
  if (!value)
    return {};
  int64_t rank = value->shape.size();
  Ints permutation = n.getInts("perm").value_or(Ints(llvm::reverse(llvm::seq<int64_t>(0, rank))));
  Ints shape;
  if (static_cast<int64_t>(permutation.size()) != rank)
    return {};
  for (int64_t axis : permutation) {
    if (axis < 0 || axis >= rank)
      return {};
    shape.push_back(value->shape[axis]);
  }
  return build(shape, value->type, [&](IntsRef index) {
    Ints source(rank);
    for (int64_t d = 0; d < rank; ++d)
      source[permutation[d]] = index[d];
    return elementAt(*value, source);
  });
}

Values evaluateExpand(Node &n) {
  const ShapeValue *value = n.known(0);
  std::optional<Ints> shape = constantsAt(n, 1);
  if (!value || !shape || countOf(*shape) > ShapeValue::kMaxElements)
    return {};
  ShapeValue target{*shape, value->type, {}};
  std::optional<Ints> result = broadcastShapes({value, &target});
  if (!result)
    return {};
  return build(*result, value->type, [&](IntsRef index) { return elementAt(*value, index); });
}

Values evaluateSplit(Node &n) {
  const ShapeValue *value = n.known(0);
  std::optional<Ints> sizes = n.hasInput(1) ? constantsAt(n, 1) : n.getInts("split");
  if (!value || value->shape.size() != 1 || (n.hasInput(1) && !sizes))
    return {};
  int64_t total = value->shape[0], parts = n.getNumOutputs();
  if (!sizes)
    sizes = Ints(parts, llvm::divideCeil(total, parts));
  Values result;
  int64_t start = 0;
  for (int64_t i = 0; i < parts && i < static_cast<int64_t>(sizes->size()); ++i) {
    int64_t size = std::min((*sizes)[i], total - start);
    if (size < 0)
      return {};
    result.append(build(size, value->type, [&](IntsRef index) { return value->elements[start + index[0]]; }));
    start += size;
  }
  return result.size() == static_cast<size_t>(parts) ? result : Values();
}

Values evaluateConstantOfShape(Node &n) {
  std::optional<Ints> shape = constantsAt(n, 0);
  if (!shape || countOf(*shape) > ShapeValue::kMaxElements)
    return {};
  Element element = makeNumber(0, n.getContext());
  Type type = n.f32();
  if (n.hasAttr("value")) {
    ElementsAttr tensor = n.getTensor("value");
    std::optional<ShapeValue> value = tensor ? getShapeValue(tensor) : std::nullopt;
    if (!value || value->elements.size() != 1)
      return {};
    element = value->elements[0];
    type = value->type;
  }
  return build(*shape, type, [&](IntsRef) { return element; });
}

Values evaluateRange(Node &n) {
  SmallVector<const ShapeValue *> inputs = knownInputs(n);
  std::optional<Ints> start = constantsAt(n, 0), limit = constantsAt(n, 1), delta = constantsAt(n, 2);
  if (inputs.size() != 3 || isa<FloatType>(inputs[0]->type) || !start || !limit || !delta || start->size() != 1 ||
      limit->size() != 1 || delta->size() != 1 || (*delta)[0] == 0)
    return {};
  double count = std::ceil((static_cast<double>((*limit)[0]) - static_cast<double>((*start)[0])) /
                           static_cast<double>((*delta)[0]));
  if (count > ShapeValue::kMaxElements)
    return {};
  return build(std::max<int64_t>(static_cast<int64_t>(count), 0), inputs[0]->type, [&](IntsRef i) {
    return makeInteger(getDimConstant(n.getContext(), (*start)[0] + i[0] * (*delta)[0]));
  });
}

//===----------------------------------------------------------------------===//
// Operators: arithmetic
//===----------------------------------------------------------------------===//

template <ElementFunction function, bool isTest = false> Values evaluateBinary(Node &n) {
  SmallVector<const ShapeValue *> inputs = knownInputs(n);
  if (inputs.empty() || n.getOpset() < 7)
    return {};
  Type type = inputs[0]->type;
  std::optional<Ints> shape = broadcastShapes(inputs);
  if (!shape || llvm::any_of(inputs, [&](const ShapeValue *v) { return v->type != type; }))
    return {};
  return build(*shape, isTest ? n.i1() : type, [&](IntsRef index) {
    Element result = elementAt(*inputs[0], index);
    for (const ShapeValue *input : ArrayRef(inputs).drop_front()) {
      const Element &other = elementAt(*input, index);
      result = result.isKnown() && other.isKnown() ? function(result, other, type) : Element();
    }
    return isTest ? result : castElement(result, type, type);
  });
}

template <Element (*function)(const Element &)> Values evaluateUnary(Node &n) {
  const ShapeValue *value = n.known(0);
  if (!value)
    return {};
  return build(value->shape, value->type, [&](IntsRef index) { return function(elementAt(*value, index)); });
}

Values evaluateNeg(Node &n) {
  const ShapeValue *value = n.known(0);
  if (!value || value->type.isUnsignedInteger())
    return {};
  return build(value->shape, value->type, [&](IntsRef index) {
    const Element &element = elementAt(*value, index);
    return element.isKnown() ? subElements(makeNumber(0, n.getContext()), element, value->type) : Element();
  });
}

Values evaluateSqrt(Node &n) {
  const ShapeValue *value = n.known(0);
  if (!value)
    return {};
  return build(value->shape, value->type,
               [&](IntsRef index) { return sqrtElement(elementAt(*value, index), value->type); });
}

Values evaluateMod(Node &n) { return n.getInt("fmod", 0) ? Values() : evaluateBinary<modElements>(n); }

Values evaluateCast(Node &n) {
  const ShapeValue *value = n.known(0);
  // Versions below 6 name the type by a string; nothing computes shapes that way.
  if (!value || n.getOpset() < 6)
    return {};
  Type to = n.getOpType() == "CastLike" ? n.inputType(1).getElementType() : n.getDataType("to", value->type);
  if (to.getIntOrFloatBitWidth() < 16 && isa<FloatType>(to))
    return {};
  return build(value->shape, to,
               [&](IntsRef index) { return castElement(elementAt(*value, index), value->type, to); });
}

Values evaluateWhere(Node &n) {
  SmallVector<const ShapeValue *> inputs = knownInputs(n);
  if (inputs.size() != 3 || inputs[1]->type != inputs[2]->type)
    return {};
  std::optional<Ints> shape = broadcastShapes(inputs);
  if (!shape)
    return {};
  return build(*shape, inputs[1]->type, [&](IntsRef index) {
    std::optional<double> condition = elementAt(*inputs[0], index).getNumber();
    const Element &x = elementAt(*inputs[1], index), &y = elementAt(*inputs[2], index);
    if (condition)
      return *condition != 0 ? x : y;
    return x.expr && x.expr == y.expr && x.divisor == y.divisor ? x : Element();
  });
}

template <ElementFunction function> Values evaluateReduce(Node &n) {
  const ShapeValue *value = n.known(0);
  std::optional<Ints> axes = n.hasInput(1) ? constantsAt(n, 1) : n.getInts("axes");
  if (!value || value->shape.size() != 1 || value->elements.empty() || (n.hasInput(1) && !axes) ||
      ((!axes || axes->empty()) && n.getBool("noop_with_empty_axes", false)))
    return {};
  Element result = value->elements[0];
  for (const Element &element : ArrayRef(value->elements).drop_front())
    result = result.isKnown() && element.isKnown() ? function(result, element, value->type) : Element();
  Ints shape = n.getBool("keepdims", true) ? Ints{1} : Ints{};
  return build(shape, value->type, [&](IntsRef) { return result; });
}

using Evaluator = Values (*)(Node &);
const llvm::StringMap<Evaluator> &getEvaluators() {
  static const llvm::StringMap<Evaluator> table = {
      {"Shape", evaluateShape},
      {"Size", evaluateSize},
      {"Identity", evaluateIdentity},
      {"Reshape", evaluateReshape},
      {"Unsqueeze", evaluateUnsqueeze},
      {"Squeeze", evaluateSqueeze},
      {"Concat", evaluateConcat},
      {"Gather", evaluateGather},
      {"Slice", evaluateSlice},
      {"Transpose", evaluateTranspose},
      {"Expand", evaluateExpand},
      {"Split", evaluateSplit},
      {"ConstantOfShape", evaluateConstantOfShape},
      {"Range", evaluateRange},
      {"Add", evaluateBinary<addElements>},
      {"Sub", evaluateBinary<subElements>},
      {"Mul", evaluateBinary<mulElements>},
      {"Div", evaluateBinary<divElements>},
      {"Mod", evaluateMod},
      {"Pow", evaluateBinary<powElements>},
      {"Max", evaluateBinary<maxElements>},
      {"Min", evaluateBinary<minElements>},
      {"Sum", evaluateBinary<addElements>},
      {"Equal", evaluateBinary<equalElements, true>},
      {"Less", evaluateBinary<lessElements, true>},
      {"LessOrEqual", evaluateBinary<lessOrEqualElements, true>},
      {"Greater", evaluateBinary<greaterElements, true>},
      {"GreaterOrEqual", evaluateBinary<greaterOrEqualElements, true>},
      {"And", evaluateBinary<andElements>},
      {"Or", evaluateBinary<orElements>},
      {"Not", evaluateUnary<notElement>},
      {"Abs", evaluateUnary<absElement>},
      {"Floor", evaluateUnary<floorElement>},
      {"Ceil", evaluateUnary<ceilElement>},
      {"Neg", evaluateNeg},
      {"Sqrt", evaluateSqrt},
      {"Cast", evaluateCast},
      {"CastLike", evaluateCast},
      {"Where", evaluateWhere},
      {"ReduceSum", evaluateReduce<addElements>},
      {"ReduceProd", evaluateReduce<mulElements>},
      {"ReduceMax", evaluateReduce<maxElements>},
      {"ReduceMin", evaluateReduce<minElements>},
  };
  return table;
}

} // namespace

SmallVector<ShapeValue> onnx_import::evaluateShapeValues(Node &node) {
  auto it = getEvaluators().find(node.getOpType());
  if (it == getEvaluators().end() || !(node.getDomain().empty() || node.getDomain() == "ai.onnx"))
    return {};
  return it->second(node);
}
