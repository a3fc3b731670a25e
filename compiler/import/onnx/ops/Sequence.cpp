//===- Sequence.cpp - sequences and optionals -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Compound.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Text.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"
#include <numeric>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Returns a copy of a sequence operand, so that concatenating it for one use does not affect others.
std::optional<Sequence> sequenceInput(Node &n, size_t i) {
  ImportedValue *value = n.imported(i);
  if (value && value->sequence)
    return *value->sequence;
  (void)n.invalid("needs a sequence as input '" + n.inputName(i) + "'");
  return std::nullopt;
}

LogicalResult setValue(Node &n, size_t i, ImportedValue value) {
  if (n.hasFailed() || n.hasFault())
    return failure();
  n.setImported(i, std::move(value));
  return success();
}

LogicalResult setSequence(Node &n, Sequence sequence) { return setValue(n, 0, toImported(n, std::move(sequence))); }

/// An operand that is one integer and constant.
std::optional<int64_t> constantInt(Node &n, size_t i) {
  const ShapeValue *known = n.known(i);
  std::optional<Dims> values = known ? known->getIntegers() : std::nullopt;
  return values && values->size() == 1 ? getConstant(values->front()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Places in a sequence
//===----------------------------------------------------------------------===//

/// The position of a tensor in a sequence: its number, and the start of its elements. Both are bound symbols.
struct Place {
  AffineExpr number, begin;
};

/// The elements before each tensor: (length).
Value beginnings(Node &n, const Sequence &s) {
  return n.cumulativeSum(n.reduceProd(s.shapes, 1, false), 0, /*exclusive=*/true);
}

/// Returns the position that an operand specifies, where negative numbers count from the end; it is checked at run
/// time. `count` is the number of valid positions: that of the tensors, or one more.
Place findPlace(Node &n, const Sequence &s, Value position, AffineExpr count) {
  Value zero = intScalar(n, 0);
  position = n.reshape(n.cast(position, n.i64()), IntsRef());
  Value length = n.size(getLength(n, s), n.i64());
  position = n.select(n.less(position, zero), n.add(position, length), position);
  AffineExpr number = n.bindSizes(n.reshape(position, IntsRef(1)), std::numeric_limits<int64_t>::min()).front();
  n.require(number, "a position before the first tensor of its sequence");
  n.require(subDims(subDims(count, n.constantDim(1)), number), "a position after the last tensor of its sequence");
  // One more beginning than tensors: the end.
  Value total = n.size(n.dim(s.elements, 0), n.i64());
  Value begins = n.concat({beginnings(n, s), n.reshape(total, IntsRef(1))}, 0);
  return {number, n.bindSizes(n.reshape(n.gather(begins, position, 0), IntsRef(1))).front()};
}

/// Tensor `place` of a joined sequence.
Value takeTensor(Node &n, const Sequence &s, const Place &place) {
  Value row = n.sliceAxis(s.shapes, 0, place.number, n.constantDim(1));
  Dims dims = s.rank == 0 ? Dims() : n.bindSizes(n.reshape(row, IntsRef(s.rank)));
  AffineExpr count = getElementCount(n.getContext(), dims);
  n.require(subDims(subDims(n.dim(s.elements, 0), place.begin), count), "a tensor beyond the end of its sequence");
  return n.reshape(n.sliceAxis(s.elements, 0, place.begin, count), dims);
}

//===----------------------------------------------------------------------===//
// Making and changing
//===----------------------------------------------------------------------===//

LogicalResult importSequenceEmpty(Node &n) {
  return setSequence(n, {n.getDataType("dtype", n.f32()), -1, SmallVector<Value>(), {}, {}});
}

LogicalResult importSequenceConstruct(Node &n) {
  SmallVector<Value> tensors = n.allInputs();
  if (n.hasFailed())
    return failure();
  Sequence s{n.elementType(tensors.front()), n.rank(tensors.front()), tensors, {}, {}};
  for (Value tensor : tensors)
    if (!setRank(n, s, n.rank(tensor)))
      return failure();
  return setSequence(n, s);
}

/// Returns a constant position in a sequence with a static number of tensors; `count` is the number of valid positions.
std::optional<size_t> fixedPosition(Node &n, const Sequence &s, size_t input, size_t count, size_t otherwise) {
  if (!s.tensors)
    return std::nullopt;
  if (!n.hasInput(input))
    return otherwise;
  std::optional<int64_t> position = constantInt(n, input);
  if (!position)
    return std::nullopt;
  int64_t at = *position < 0 ? *position + static_cast<int64_t>(s.tensors->size()) : *position;
  if (at >= 0 && at < static_cast<int64_t>(count))
    return static_cast<size_t>(at);
  (void)n.invalid("position " + Twine(*position) + " is outside of a sequence of " + Twine(s.tensors->size()));
  return std::nullopt;
}

LogicalResult importSequenceInsert(Node &n) {
  std::optional<Sequence> s = sequenceInput(n, 0);
  Value x = n.input(1);
  if (!s || n.hasFailed() || !setRank(n, *s, n.rank(x)))
    return failure();
  size_t length = s->tensors ? s->tensors->size() : 0;
  std::optional<size_t> fixed = fixedPosition(n, *s, 2, length + 1, length);
  if (n.hasFault())
    return failure();
  if (fixed) {
    s->tensors->insert(s->tensors->begin() + static_cast<int64_t>(*fixed), x);
    s->elements = s->shapes = {};
    return setSequence(n, *s);
  }
  if (!join(n, *s))
    return failure();
  AffineExpr count = getLength(n, *s), total = n.dim(s->elements, 0);
  Place place{count, total};
  if (n.hasInput(2))
    place = findPlace(n, *s, n.input(2), addDims(count, n.constantDim(1)));
  auto insert = [&](Value values, Value added, AffineExpr at, AffineExpr size) {
    Value before = n.sliceAxis(values, 0, n.constantDim(0), at), after = n.sliceAxis(values, 0, at, subDims(size, at));
    return n.hasInput(2) ? n.concat({before, added, after}, 0) : n.concat({values, added}, 0);
  };
  Value row = s->rank == 0 ? n.constantInts({}, {0}, n.i64()) : extentsOf(n, x);
  Sequence result{s->type, s->rank, std::nullopt, {}, {}};
  result.shapes = insert(s->shapes, n.unsqueeze(row, 0), place.number, count);
  Value flat = n.reshape(x, getElementCount(n.getContext(), n.dims(x)));
  result.elements = insert(s->elements, flat, place.begin, total);
  return setSequence(n, result);
}

LogicalResult importSequenceErase(Node &n) {
  std::optional<Sequence> s = sequenceInput(n, 0);
  if (!s)
    return failure();
  size_t length = s->tensors ? s->tensors->size() : 0;
  if (s->tensors && length == 0)
    return n.invalid("takes a tensor out of an empty sequence");
  if (!needRank(n, *s, "takes a tensor out of"))
    return failure();
  std::optional<size_t> fixed = fixedPosition(n, *s, 1, length, length - 1);
  if (n.hasFault())
    return failure();
  if (fixed) {
    s->tensors->erase(s->tensors->begin() + static_cast<int64_t>(*fixed));
    s->elements = s->shapes = {};
    return setSequence(n, *s);
  }
  if (!join(n, *s))
    return failure();
  AffineExpr count = getLength(n, *s), one = n.constantDim(1);
  Value position = n.hasInput(1) ? n.input(1) : intScalar(n, -1);
  Place place = findPlace(n, *s, position, count);
  Value taken = takeTensor(n, *s, place);
  auto erase = [&](Value values, AffineExpr at, AffineExpr size) {
    AffineExpr end = addDims(at, size);
    return n.concat(
        {n.sliceAxis(values, 0, n.constantDim(0), at), n.sliceAxis(values, 0, end, subDims(n.dim(values, 0), end))}, 0);
  };
  Sequence result{s->type, s->rank, std::nullopt, {}, {}};
  result.shapes = erase(s->shapes, place.number, one);
  result.elements = erase(s->elements, place.begin, getElementCount(n.getContext(), n.dims(taken)));
  return setSequence(n, result);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

LogicalResult importSequenceAt(Node &n) {
  std::optional<Sequence> s = sequenceInput(n, 0);
  if (!s)
    return failure();
  std::optional<size_t> fixed = fixedPosition(n, *s, 1, s->tensors ? s->tensors->size() : 0, 0);
  if (n.hasFault())
    return failure();
  if (fixed)
    return n.setResult((*s->tensors)[*fixed]);
  if (!needRank(n, *s, "reads"))
    return failure();
  if (!join(n, *s))
    return failure();
  return n.setResult(takeTensor(n, *s, findPlace(n, *s, n.input(1), getLength(n, *s))));
}

LogicalResult importSequenceLength(Node &n) {
  std::optional<Sequence> s = sequenceInput(n, 0);
  if (!s)
    return failure();
  ImportedValue length;
  length.type = RankedTensorType::get({}, n.i64());
  length.known = ShapeValue{{}, n.i64(), {{getLength(n, *s), 1, std::nullopt}}};
  length.loc = n.getLoc();
  return setValue(n, 0, length);
}

//===----------------------------------------------------------------------===//
// Splitting and joining
//===----------------------------------------------------------------------===//

/// Returns for each of `total` elements the number of the part that contains it, given the end of each part.
Value findPart(Node &n, Value ends, AffineExpr total) {
  Value numbers = n.reshape(n.iota(total, 0, n.i64()), {total, n.constantDim(1)});
  return n.reduceSum(toInt(n, n.greaterOrEqual(numbers, n.unsqueeze(ends, 0))), 1, false);
}

/// A sequence's tensors differ along one axis only; concatenated along it, they are [outer, all, inner]. Returns for
/// each element of the concatenation its position in the sequence. `sizes` has the extent of each tensor along the
/// axis.
Value indicesOfJoined(Node &n, Value sizes, AffineExpr outer, AffineExpr all, AffineExpr inner) {
  Value ends = n.cumulativeSum(sizes, 0), part = findPart(n, ends, all);
  Value size = n.gather(sizes, part, 0), begin = n.sub(n.gather(ends, part, 0), size);
  Value local = n.sub(n.iota(all, 0, n.i64()), begin);
  Dims shape{outer, all, inner};
  Value o = n.iota(shape, 0, n.i64()), i = n.iota(shape, 2, n.i64());
  Value outerSize = n.size(outer, n.i64()), innerSize = n.size(inner, n.i64());
  auto along = [&](Value v) { return n.alongAxis(v, 1, 3); };
  // begin * outer * inner elements come before; within the tensor, elements are [outer, size, inner].
  Value row = n.add(n.mul(o, along(size)), along(local));
  return n.add(n.mul(n.add(n.mul(along(begin), outerSize), row), innerSize), i);
}

LogicalResult importConcatFromSequence(Node &n) {
  std::optional<Sequence> s = sequenceInput(n, 0);
  if (!s)
    return failure();
  bool isNew = n.getBool("new_axis", false);
  if (s->tensors && s->tensors->empty())
    return n.invalid("concatenates the tensors of an empty sequence");
  if (!needRank(n, *s, "joins the tensors of"))
    return failure();
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), s->rank + isNew);
  if (!axis)
    return failure();
  if (s->tensors) {
    SmallVector<Value> parts;
    for (Value tensor : *s->tensors)
      parts.push_back(isNew ? n.unsqueeze(tensor, *axis) : tensor);
    return n.setResult(n.concat(parts, *axis));
  }
  Value first = n.sliceAxis(s->shapes, 0, n.constantDim(0), n.constantDim(1));
  Dims dims = s->rank == 0 ? Dims() : n.bindSizes(n.reshape(first, IntsRef(s->rank)));
  if (isNew) {
    Dims stacked = dims;
    stacked.insert(stacked.begin(), getLength(n, *s));
    Ints order = rangeOf(1, s->rank + 1);
    order.insert(order.begin() + *axis, 0);
    return n.setResult(n.transpose(n.reshape(s->elements, stacked), order));
  }
  Value sizes = n.reshape(n.sliceAxis(s->shapes, 1, n.constantDim(*axis), n.constantDim(1)), getLength(n, *s));
  dims[*axis] = n.bindSizes(n.reduceSum(sizes, 0)).front();
  AffineExpr outer = getElementCount(n.getContext(), ArrayRef(dims).take_front(*axis));
  AffineExpr inner = getElementCount(n.getContext(), ArrayRef(dims).drop_front(*axis + 1));
  Value indices = indicesOfJoined(n, sizes, outer, dims[*axis], inner);
  return n.setResult(n.reshape(n.gather(s->elements, indices, 0), dims));
}

/// Parts of sizes that are known when compiling.
LogicalResult splitFixed(Node &n, Value x, int64_t axis, ArrayRef<AffineExpr> sizes, bool dropsAxis) {
  Sequence s{n.elementType(x), n.rank(x) - dropsAxis, SmallVector<Value>(), {}, {}};
  AffineExpr start = n.constantDim(0);
  for (AffineExpr size : sizes) {
    Value part = n.sliceAxis(x, axis, start, size);
    s.tensors->push_back(dropsAxis ? n.squeeze(part, axis) : part);
    start = addDims(start, size);
  }
  return setSequence(n, s);
}

/// Returns the unknown sizes of the parts as a vector: one each, chunks of one size, or a list.
Value readSplitSizes(Node &n, AffineExpr total) {
  Value one = intScalar(n, 1);
  if (!n.hasInput(1))
    return n.broadcast(one, total);
  Value split = n.cast(n.input(1), n.i64());
  if (n.rank(split) == 1)
    return split;
  // A part is clamped to the total, so that no sum overflows.
  Value all = n.size(total, n.i64());
  split = n.min(split, n.max(all, one));
  Value count = n.div(n.sub(n.add(all, split), one), split);
  AffineExpr parts = n.bindSizes(n.reshape(count, IntsRef(1))).front();
  return n.min(split, n.sub(all, n.mul(n.iota(parts, 0, n.i64()), split)));
}

LogicalResult importSplitToSequence(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  if (!axis)
    return failure();
  AffineExpr total = n.dim(x, *axis);
  std::optional<int64_t> extent = getConstant(total);
  bool dropsAxis = !n.hasInput(1) && !n.getBool("keepdims", true);
  if (!n.hasInput(1) && extent && *extent <= ShapeValue::kMaxElements)
    return splitFixed(n, x, *axis, Dims(*extent, n.constantDim(1)), dropsAxis);
  if (n.hasInput(1) && n.isConstantOperand(1) && extent) {
    Ints split = *n.intsOperand(1, "split");
    if (n.inputType(1).getRank() == 0) {
      int64_t chunk = split.front();
      if (chunk < 1)
        return n.invalid("splits into parts of " + Twine(chunk));
      split.clear();
      for (int64_t at = 0; at < *extent; at += chunk)
        split.push_back(std::min(chunk, *extent - at));
    }
    int64_t sum = 0;
    for (int64_t size : split)
      sum += size;
    if (sum != *extent || llvm::any_of(split, [](int64_t size) { return size < 0; }))
      return n.invalid("splits " + Twine(*extent) + " elements into parts of " + dimsToString(n.constantDims(split)));
    return splitFixed(n, x, *axis, n.constantDims(split), dropsAxis);
  }
  Value sizes = readSplitSizes(n, total);
  AffineExpr sum = n.bindSizes(n.reduceSum(sizes, 0)).front(), length = n.dim(sizes, 0);
  n.require(subDims(total, sum), "splits into more elements than there are");
  n.require(subDims(sum, total), "splits into fewer elements than there are");
  Dims dims = n.dims(x);
  AffineExpr outer = getElementCount(n.getContext(), ArrayRef(dims).take_front(*axis));
  AffineExpr inner = getElementCount(n.getContext(), ArrayRef(dims).drop_front(*axis + 1));
  Sequence s{n.elementType(x), n.rank(x) - dropsAxis, std::nullopt, {}, {}};
  // Each element goes to where joining would read it.
  AffineExpr count = getElementCount(n.getContext(), dims);
  Value places = n.reshape(indicesOfJoined(n, sizes, outer, total, inner), count);
  s.elements = n.scatterElements("assign", n.broadcast(n.scalarLike(0, x), count), places, n.reshape(x, count), 0);
  SmallVector<Value> columns;
  for (int64_t d = 0; d < n.rank(x); ++d) {
    Value column = d == *axis ? sizes : n.broadcast(n.size(dims[d], n.i64()), length);
    if (!(d == *axis && dropsAxis))
      columns.push_back(n.unsqueeze(column, 1));
  }
  s.shapes = columns.empty() ? n.broadcast(intScalar(n, 0), {length, n.constantDim(0)}) : n.concat(columns, 1);
  return setSequence(n, s);
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

/// Creates a placeholder for the content of an empty optional: a sequence without tensors, or a tensor without elements
/// if its shape allows that.
ImportedValue makeContent(Node &n, const onnx::TypeProto &type) {
  bool isSequence = type.has_sequence_type();
  const onnx::TypeProto_Tensor &tensor =
      isSequence ? type.sequence_type().elem_type().tensor_type() : type.tensor_type();
  const onnx::TensorShapeProto &shape = tensor.shape();
  Ints dims;
  for (const auto &dim : shape.dim())
    dims.push_back(std::max<int64_t>(dim.dim_value(), 0));
  if (!isSequence && tensor.elem_type() == onnx::TensorProto::STRING) {
    IntsRef open(dims);
    int64_t count = std::accumulate(open.begin(), open.end(), int64_t(1), std::multiplies<int64_t>());
    return toImported(n, makeStrings(n, Texts(std::min<int64_t>(count, kMaxElements)), open));
  }
  Type element = n.toElementType(tensor.elem_type());
  if (isSequence)
    return toImported(n, Sequence{element, tensor.has_shape() ? shape.dim_size() : -1, SmallVector<Value>(), {}, {}});
  return toImported(n, n.broadcast(n.scalar(0, element), n.constantDims(dims)));
}

LogicalResult importOptional(Node &n) {
  Optional optional{makeConstant(n, n.hasInput(0), n.i1()), {}};
  if (n.hasInput(0))
    optional.content = *n.imported(0);
  else if (const onnx::TypeProto *type = n.getType("type"))
    optional.content = makeContent(n, *type);
  return setValue(n, 0, toImported(n, optional));
}

/// A value that is no optional is present; an omitted input is not.
LogicalResult importOptionalHasElement(Node &n) {
  ImportedValue *value = n.imported(0);
  if (value && value->optional)
    return setValue(n, 0, value->optional->has);
  return setValue(n, 0, makeConstant(n, value != nullptr, n.i1()));
}

LogicalResult importOptionalGetElement(Node &n) {
  ImportedValue *value = n.imported(0);
  if (!value)
    return n.invalid("reads an optional that is left out");
  if (value->optional && value->optional->content.hasFailed())
    return n.invalid("reads an optional that holds nothing");
  return setValue(n, 0, value->optional ? value->optional->content : *value);
}

} // namespace

ArrayRef<OpEntry> onnx_import::getSequenceOps() {
  static const OpEntry ops[] = {
      {"ConcatFromSequence", importConcatFromSequence},
      {"Optional", importOptional},
      {"OptionalGetElement", importOptionalGetElement},
      {"OptionalHasElement", importOptionalHasElement},
      {"SequenceAt", importSequenceAt},
      {"SequenceConstruct", importSequenceConstruct},
      {"SequenceEmpty", importSequenceEmpty},
      {"SequenceErase", importSequenceErase},
      {"SequenceInsert", importSequenceInsert},
      {"SequenceLength", importSequenceLength},
      {"SplitToSequence", importSplitToSequence},
  };
  return ops;
}
