//===- ShapeMoving.cpp - known elements through operators that move them --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ShapeEvaluator.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

// Evaluators return no value for an invalid node; the operator's handler reports the error.

/// An axis in [0, rank), or -1.
int64_t wrapAxis(int64_t axis, int64_t rank) {
  return axis < -rank || axis >= rank ? -1 : axis < 0 ? axis + rank : axis;
}

Values reshaped(const ShapeValue &value, Ints shape) {
  if (countOf(shape) != static_cast<int64_t>(value.elements.size()))
    return {};
  return {ShapeValue{std::move(shape), value.type, value.elements}};
}

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
    if (size < -1 || (size == -1 && open))
      return {};
    if (size == -1)
      open = &size;
    else
      known *= std::clamp<int64_t>(size, 0, ShapeValue::kMaxElements + 1);
    if (known > ShapeValue::kMaxElements)
      return {};
  }
  if (open && known == 0)
    return {};
  if (open)
    *open = static_cast<int64_t>(value->elements.size()) / known;
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
  Ints named;
  for (int64_t axis : axes.value_or(Ints())) {
    axis = wrapAxis(axis, value->shape.size());
    if (axis < 0 || value->shape[axis] != 1 || llvm::is_contained(named, axis))
      return {};
    named.push_back(axis);
  }
  Ints shape;
  for (auto [i, size] : llvm::enumerate(value->shape))
    if (!(axes ? llvm::is_contained(named, static_cast<int64_t>(i)) : size == 1))
      shape.push_back(size);
  return reshaped(*value, shape);
}

Values evaluateConcat(Node &n) {
  // An unknown input leaves gaps, but the other elements are known.
  Ints shape;
  SmallVector<const ShapeValue *> values;
  int64_t total = 0;
  if (wrapAxis(n.getInt("axis", 1), 1) < 0 && n.getOpset() >= 4)
    return {};
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
  Ints shape(value->shape), from(rank, 0), by(rank, 1), cut;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = wrapAxis(axes ? (*axes)[i] : i, rank), step = steps ? (*steps)[i] : 1;
    if (axis < 0 || step == 0 || llvm::is_contained(cut, axis))
      return {};
    cut.push_back(axis);
    int64_t size = value->shape[axis], start = (*starts)[i], end = (*ends)[i];
    start = start < 0 ? start + size : start;
    end = end < 0 ? std::max<int64_t>(end, -size - 1) + size : end;
    // An empty dimension has no first element in either direction.
    start = std::clamp<int64_t>(start, 0, step > 0 ? size : std::max<int64_t>(size - 1, 0));
    end = step > 0 ? std::clamp<int64_t>(end, 0, size) : std::clamp<int64_t>(end, -1, size - 1);
    // The distance fits INT64_MAX, which therefore replaces the magnitude of a step of -2^63.
    int64_t distance = step > 0 ? end - start : start - end, stride = step == INT64_MIN ? INT64_MAX : std::abs(step);
    shape[axis] = distance <= 0 || size == 0 ? 0 : 1 + (distance - 1) / stride;
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
  for (auto [i, axis] : llvm::enumerate(permutation)) {
    if (axis < 0 || axis >= rank || llvm::is_contained(ArrayRef(permutation).take_front(i), axis))
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
  if (!value || value->shape.size() != 1 || (n.hasInput(1) && !sizes) || wrapAxis(n.getInt("axis", 0), 1) < 0)
    return {};
  int64_t total = value->shape[0], parts = n.getNumOutputs();
  if (n.getInt("num_outputs", parts) != parts || (n.getOpset() < 18 && !sizes && total % parts != 0))
    return {};
  if (sizes && static_cast<int64_t>(sizes->size()) != parts)
    return {};
  int64_t left = total;
  for (int64_t size : sizes.value_or(Ints{total})) {
    if (size < 0 || size > left)
      return {};
    left -= size;
  }
  if (left != 0)
    return {};
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
  int64_t count = countSteps((*start)[0], (*limit)[0], (*delta)[0], ShapeValue::kMaxElements + 1);
  if (count > ShapeValue::kMaxElements)
    return {};
  return build(count, inputs[0]->type, [&](IntsRef i) {
    // The element is in range, but the product may overflow, so the arithmetic is unsigned.
    auto offset = static_cast<uint64_t>(i[0]) * static_cast<uint64_t>((*delta)[0]);
    return makeInteger(
        getDimConstant(n.getContext(), static_cast<int64_t>(static_cast<uint64_t>((*start)[0]) + offset)));
  });
}

} // namespace

llvm::ArrayRef<ShapeEvaluator> onnx_import::getMovingEvaluators() {
  static const ShapeEvaluator evaluators[] = {
      {"Concat", evaluateConcat},       {"ConstantOfShape", evaluateConstantOfShape},
      {"Expand", evaluateExpand},       {"Gather", evaluateGather},
      {"Identity", evaluateIdentity},   {"Range", evaluateRange},
      {"Reshape", evaluateReshape},     {"Shape", evaluateShape},
      {"Size", evaluateSize},           {"Slice", evaluateSlice},
      {"Split", evaluateSplit},         {"Squeeze", evaluateSqueeze},
      {"Transpose", evaluateTranspose}, {"Unsqueeze", evaluateUnsqueeze},
  };
  return evaluators;
}
