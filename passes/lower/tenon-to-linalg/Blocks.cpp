//===- Blocks.cpp - parts of tensors as matrices -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/Blocks.h"
#include "dialects/kernel/Bf16Pairs.h"
#include "dialects/kernel/ScheduleRequest.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tenon;

using Values = LineWriter::Values;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value BlockWriter::empty(ArrayRef<int64_t> extents, Type elementType) { return w.empty(extents, elementType); }

Value BlockWriter::fill(Value tensor, double number) {
  return linalg::FillOp::create(w.b, w.loc, constant(number), tensor).getResult(0);
}

Value BlockWriter::constant(double number) {
  return arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(type, number));
}

AffineMap BlockWriter::map(unsigned numLoops, ArrayRef<unsigned> loops) {
  SmallVector<AffineExpr> dims;
  for (unsigned loop : loops)
    dims.push_back(dim(loop));
  return AffineMap::get(numLoops, 0, dims, w.b.getContext());
}

Values BlockWriter::forEach(unsigned numLoops, ValueRange inputs, ArrayRef<AffineMap> maps, ValueRange outputs,
                            Body body) {
  SmallVector<utils::IteratorType> iterators(numLoops, utils::IteratorType::parallel);
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (llvm::any_of(maps.take_back(outputs.size()), [&](AffineMap map) { return !map.isFunctionOfDim(loop); }))
      iterators[loop] = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      w.b, w.loc, TypeRange(outputs), inputs, outputs, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange elements) { linalg::YieldOp::create(b, loc, body(elements)); });
  return Values(generic.getResults());
}

Value BlockWriter::cut(Value matrix, OpFoldResult rows, OpFoldResult columns) {
  OpFoldResult zero = w.b.getIndexAttr(0), one = w.b.getIndexAttr(1);
  auto shape = cast<RankedTensorType>(matrix.getType()).getShape();
  if (getConstantIntValue(rows) == shape[0] && getConstantIntValue(columns) == shape[1])
    return matrix;
  return tensor::ExtractSliceOp::create(w.b, w.loc, matrix, ArrayRef{zero, zero}, ArrayRef{rows, columns},
                                        ArrayRef{one, one});
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Matrix BlockWriter::slice(Value tensor, ArrayRef<AffineExpr> at, const Span &rows, const Span &columns) {
  unsigned row = outer.size(), column = row + 1;
  int64_t rowDim = -1, columnDim = -1;
  for (auto [i, index] : llvm::enumerate(at))
    for (auto [loop, found] : {std::pair(row, &rowDim), std::pair(column, &columnDim)}) {
      if (!index.isFunctionOfDim(loop))
        continue;
      if (*found >= 0 || subDims(index, dim(loop)).isFunctionOfDim(loop))
        return {};
      *found = i;
    }
  if (rowDim < 0 || columnDim < 0 || rowDim == columnDim)
    return {};
  Values loops(outer);
  loops.append({rows.first, columns.first});
  ElementEmitter emitter(scope, w.b, w.loc, loops);
  SmallVector<OpFoldResult> offsets, sizes(at.size(), w.b.getIndexAttr(1)), strides = sizes;
  for (AffineExpr index : at)
    offsets.push_back(getAsOpFoldResult(emitter.materialize(index)));
  sizes[rowDim] = rows.count;
  sizes[columnDim] = columns.count;
  bool isTransposed = columnDim < rowDim;
  SmallVector<int64_t> shape;
  for (int64_t i : {std::min(rowDim, columnDim), std::max(rowDim, columnDim)})
    shape.push_back(getConstantIntValue(sizes[i]).value_or(ShapedType::kDynamic));
  auto sliceType = RankedTensorType::get(shape, getElementTypeOrSelf(tensor));
  return {tensor::ExtractSliceOp::create(w.b, w.loc, sliceType, tensor, offsets, sizes, strides), isTransposed};
}

std::optional<ElementSource> BlockWriter::findTensor(Value value, ArrayRef<AffineExpr> at) {
  std::optional<ElementSource> source = ElementSource{value, SmallVector<AffineExpr>(at)};
  while (source && !scope.lookupTensor(source->value))
    source = getMovedElement(source->value, source->indices);
  return source;
}

Matrix BlockWriter::readInPlace(Value value, ArrayRef<AffineExpr> at, const Span &rows, const Span &columns) {
  std::optional<ElementSource> source = findTensor(value, at);
  return source ? slice(scope.lookupTensor(source->value), source->indices, rows, columns) : Matrix{};
}

Value BlockWriter::copy(Value value, ArrayRef<AffineExpr> at, const Span &rows, int64_t columns) {
  Value target = cut(empty({rows.most, columns}), rows.count, w.b.getIndexAttr(columns));
  Type elementType = getElementTypeOrSelf(value);
  return forEach(2, {}, map(2, {0, 1}), target, [&](ValueRange) -> Values {
    Values loops(outer);
    loops.push_back(w.add(rows.first, linalg::IndexOp::create(w.b, w.loc, 0)));
    loops.push_back(linalg::IndexOp::create(w.b, w.loc, 1));
    ElementEmitter emitter(scope, w.b, w.loc, loops);
    FailureOr<Value> element = emitter.emit(value, at);
    hasFailed |= failed(element);
    return {hasFailed ? constant(0) : castScalar(w.b, w.loc, *element, elementType, type)};
  })[0];
}

Value BlockWriter::transpose(const Matrix &matrix, OpFoldResult rows, OpFoldResult columns, Value target) {
  Value part = cut(target, columns, rows);
  AffineMap from = matrix.isTransposed ? map(2, {0, 1}) : map(2, {1, 0});
  Value transposed = forEach(2, matrix.tensor, {from, map(2, {0, 1})}, part,
                             [](ValueRange elements) { return Values{elements[0]}; })[0];
  if (part == target)
    return transposed;
  OpFoldResult zero = w.b.getIndexAttr(0), one = w.b.getIndexAttr(1);
  return tensor::InsertSliceOp::create(w.b, w.loc, transposed, target, ArrayRef{zero, zero}, ArrayRef{columns, rows},
                                       ArrayRef{one, one});
}

Values BlockWriter::contract(const Matrix &matrix, bool isOfColumns, Value vectors, Value out, Body body) {
  // The loops are rows of the result, the summed dimension, and queries.
  bool isTransposed = matrix.isTransposed != isOfColumns;
  AffineMap maps[] = {isTransposed ? map(3, {1, 0}) : map(3, {0, 1}), map(3, {1, 2}), map(3, {0, 2})};
  return forEach(3, {matrix.tensor, vectors}, maps, out, body);
}

Value BlockWriter::multiply(const Matrix &matrix, bool isOfColumns, Value vectors, Value out) {
  return contract(matrix, isOfColumns, vectors, out, [&](ValueRange elements) {
    Value product =
        arith::MulFOp::create(w.b, w.loc, elements[0], elements[1],
                              arith::FastMathFlagsAttr::get(w.b.getContext(), arith::FastMathFlags::contract));
    return Values{arith::AddFOp::create(w.b, w.loc, elements[2], product)};
  })[0];
}

//===----------------------------------------------------------------------===//
// Pairs of bf16
//===----------------------------------------------------------------------===//

Value BlockWriter::multiplyPairs(const Matrix &matrix, bool isOfColumns, Value vectors, Value out,
                                 kernel::MicroKernel microKernel) {
  Value sums = contract(matrix, isOfColumns, vectors, out, [&](ValueRange elements) {
    Value products = kernel::emitBf16Dot(w.b, w.loc, elements[0], elements[1]);
    return Values{arith::AddFOp::create(w.b, w.loc, elements[2], products)};
  })[0];
  if (microKernel != kernel::MicroKernel::automatic) {
    kernel::ScheduleFields fields;
    fields.microKernel = microKernel;
    sums.getDefiningOp()->setAttr(kernel::kScheduleAttr, kernel::ScheduleAttr::get(w.b.getContext(), fields));
  }
  return sums;
}

Value BlockWriter::fillPairs(Value tensor) {
  Value zero = arith::ConstantOp::create(w.b, w.loc, w.b.getI32IntegerAttr(0));
  return linalg::FillOp::create(w.b, w.loc, zero, tensor).getResult(0);
}

Matrix BlockWriter::pairUp(const Matrix &matrix, const Span &rows, const Span &columns, bool areOfRows,
                           std::optional<int64_t> numPairs) {
  // The dimensions as they are in memory, and the one along which elements are paired.
  const Span *spans[] = {&rows, &columns};
  if (matrix.isTransposed)
    std::swap(spans[0], spans[1]);
  unsigned paired = areOfRows == matrix.isTransposed ? 1 : 0;
  int64_t most[] = {spans[0]->most, spans[1]->most};
  most[paired] = numPairs.value_or(llvm::divideCeil(most[paired], 2));
  auto compute = [&](AffineExpr expr) {
    return affine::makeComposedFoldedAffineApply(w.b, w.loc, AffineMap::get(0, 1, expr), {spans[paired]->count});
  };
  AffineExpr count = w.b.getAffineSymbolExpr(0);
  OpFoldResult wholePairs = compute(count.floorDiv(2)), halfPairs = compute(count % 2), zero = w.b.getIndexAttr(0),
               one = w.b.getIndexAttr(1);
  SmallVector<OpFoldResult> ones{one, one}, sizes{spans[0]->count, spans[1]->count};
  OpFoldResult needed = compute(count.ceilDiv(2));
  sizes[paired] = numPairs ? w.b.getIndexAttr(*numPairs) : needed;
  Value pairs = cut(empty(most, w.b.getI32Type()), sizes[0], sizes[1]);
  if (numPairs && getConstantIntValue(needed) != numPairs)
    pairs = fillPairs(pairs);
  // Writes `number` pairs from pair `first` on, of elements that follow each other or of one and zero.
  auto write = [&](OpFoldResult first, OpFoldResult number, bool areWhole) {
    if (isZeroInteger(number))
      return;
    SmallVector<OpFoldResult> partSizes(sizes), offsets{zero, zero}, strides(ones);
    partSizes[paired] = number;
    strides[paired] = w.b.getIndexAttr(2);
    SmallVector<Value> elements;
    for (unsigned half : llvm::seq(areWhole ? 2u : 1u)) {
      offsets[paired] = areWhole ? w.b.getIndexAttr(half) : compute(count - 1);
      elements.push_back(tensor::ExtractSliceOp::create(w.b, w.loc, matrix.tensor, offsets, partSizes, strides));
    }
    offsets[paired] = first;
    Value part = tensor::ExtractSliceOp::create(w.b, w.loc, pairs, offsets, partSizes, ones);
    SmallVector<AffineMap> maps(elements.size() + 1, map(2, {0, 1}));
    Type elementType = getElementTypeOrSelf(matrix.tensor);
    Value written = forEach(2, elements, maps, part, [&](ValueRange read) {
      Value low = castScalar(w.b, w.loc, read[0], elementType, type);
      Value high = areWhole ? castScalar(w.b, w.loc, read[1], elementType, type) : constant(0);
      return Values{kernel::emitBf16Pair(w.b, w.loc, low, high)};
    })[0];
    pairs = tensor::InsertSliceOp::create(w.b, w.loc, written, pairs, offsets, partSizes, ones);
  };
  write(zero, wholePairs, /*areWhole=*/true);
  write(wholePairs, halfPairs, /*areWhole=*/false);
  return {pairs, matrix.isTransposed};
}
