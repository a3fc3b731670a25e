//===- ShapeValue.cpp - what is known of a tensor's elements at compile time ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ShapeValue.h"
#include "compiler/import/onnx/ShapeEvaluator.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <cassert>
#include <tuple>

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

int64_t onnx_import::countSteps(int64_t start, int64_t limit, int64_t delta, int64_t most) {
  __int128 distance = static_cast<__int128>(limit) - start, step = delta;
  if (step < 0)
    std::tie(distance, step) = std::pair(-distance, -step);
  return static_cast<int64_t>(std::clamp<__int128>((distance + step - 1) / step, 0, most));
}

//===----------------------------------------------------------------------===//
// What evaluators share
//===----------------------------------------------------------------------===//

int64_t onnx_import::countOf(IntsRef shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0 || size > ShapeValue::kMaxElements)
      return ShapeValue::kMaxElements + 1;
    count = std::min(count * size, ShapeValue::kMaxElements + 1);
  }
  return count;
}

Values onnx_import::build(IntsRef shape, Type type, llvm::function_ref<Element(IntsRef index)> source) {
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

const Element &onnx_import::elementAt(const ShapeValue &value, IntsRef index) {
  int64_t flat = 0;
  assert(index.size() >= value.shape.size() && "a value is broadcast to the rank of the index");
  size_t skip = index.size() - value.shape.size();
  for (size_t d = 0; d < value.shape.size(); ++d)
    flat = flat * value.shape[d] + (value.shape[d] == 1 ? 0 : index[skip + d]);
  assert(flat >= 0 && flat < static_cast<int64_t>(value.elements.size()) && "an index is one of the broadcast shape");
  return value.elements[flat];
}

std::optional<Ints> onnx_import::broadcastShapes(ArrayRef<const ShapeValue *> values) {
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

SmallVector<const ShapeValue *> onnx_import::knownInputs(Node &n) {
  SmallVector<const ShapeValue *> values;
  for (size_t i = 0; i < n.getNumInputs(); ++i) {
    const ShapeValue *value = n.known(i);
    if (!value)
      return {};
    values.push_back(value);
  }
  return values;
}

std::optional<Ints> onnx_import::constantsAt(Node &n, size_t i) {
  const ShapeValue *value = n.known(i);
  std::optional<Dims> dims = value ? value->getIntegers() : std::nullopt;
  return dims ? getConstants(*dims) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

SmallVector<ShapeValue> onnx_import::evaluateShapeValues(Node &node) {
  static const llvm::StringMap<const ShapeEvaluator *> table = [] {
    llvm::StringMap<const ShapeEvaluator *> table;
    for (const ShapeEvaluator &evaluator : getMovingEvaluators())
      table[evaluator.name] = &evaluator;
    for (const ShapeEvaluator &evaluator : getComputingEvaluators())
      table[evaluator.name] = &evaluator;
    return table;
  }();
  auto it = table.find(node.getOpType());
  if (it == table.end() || !(node.getDomain().empty() || node.getDomain() == "ai.onnx"))
    return {};
  return it->second->evaluate(node);
}
