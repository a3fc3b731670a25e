//===- IndexMaps.cpp - where operations read the elements that they move ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

SmallVector<AffineExpr> tenon::getOperandIndices(Value operand, Value result, ArrayRef<AffineExpr> indices) {
  Dims dims = getDims(operand), resultDims = getDims(result);
  SmallVector<AffineExpr> at;
  assert(indices.size() == resultDims.size() && "an element has an index for each dimension of the result");
  assert(dims.size() <= resultDims.size() && "an operand that is broadcast has no more dimensions than the result");
  size_t missing = indices.size() - dims.size();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    // If both extents are 1 the index is kept, so that a value and its in-place replacement have the same map.
    bool isStretched = getConstant(dim) == 1 && resultDims[missing + i] != dim;
    at.push_back(isStretched ? getAffineConstantExpr(0, dim.getContext()) : indices[missing + i]);
  }
  return at;
}

/// Returns the indices of a reshape's input for a result element. Runs of dimensions with equal products are handled
/// separately, so that equal dimensions keep their indices, and a split needs no division.
static SmallVector<AffineExpr> getReshapeIndices(const Dims &from, const Dims &to, ArrayRef<AffineExpr> indices,
                                                 MLIRContext *context) {
  assert(indices.size() == to.size() && "an element has an index for each dimension of the result");
  SmallVector<AffineExpr> result;
  AffineExpr zero = getDimConstant(context, 0), one = getDimConstant(context, 1);
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t firstIn = i, firstOut = j;
    AffineExpr in = i < from.size() ? from[i++] : one, out = j < to.size() ? to[j++] : one;
    while (in != out && (i < from.size() || j < to.size())) {
      std::optional<int64_t> a = getConstant(in), b = getConstant(out);
      bool growIn =
          j >= to.size() || (i < from.size() && a && b ? *a < *b : i < from.size() && (j - firstOut) > (i - firstIn));
      if (growIn && i < from.size())
        in = mulDims(in, from[i++]);
      else
        out = mulDims(out, to[j++]);
    }
    AffineExpr linear = zero;
    for (size_t k = firstOut; k < j; ++k)
      linear = addDims(mulDims(linear, to[k]), indices[k]);
    if (i - firstIn == 1) {
      result.push_back(linear);
      continue;
    }
    AffineExpr stride = one;
    SmallVector<AffineExpr> group;
    for (size_t k = i; k-- > firstIn;) {
      if (getConstant(from[k]) == 1) {
        group.push_back(zero);
        continue;
      }
      AffineExpr index = divDims(linear, stride);
      stride = mulDims(stride, from[k]);
      bool isOutermost = llvm::all_of(ArrayRef(from).slice(firstIn, k - firstIn),
                                      [](AffineExpr dim) { return getConstant(dim) == 1; });
      group.push_back(isOutermost ? index : modDims(index, from[k]));
    }
    result.append(group.rbegin(), group.rend());
  }
  assert(result.size() == from.size() && "an element of the source has an index for each of its dimensions");
  return result;
}

SmallVector<AffineExpr> ReshapeOp::getSourceIndices(ArrayRef<AffineExpr> indices) {
  return getReshapeIndices(getDims(getInput()), getDims(getResult()), indices, getContext());
}

SmallVector<AffineExpr> BroadcastOp::getSourceIndices(ArrayRef<AffineExpr> indices) {
  return getOperandIndices(getInput(), getResult(), indices);
}

SmallVector<AffineExpr> TransposeOp::getSourceIndices(ArrayRef<AffineExpr> indices) {
  assert(indices.size() == getPermutation().size() && "an element has an index for each dimension of the result");
  SmallVector<AffineExpr> at(indices.size());
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    at[axis] = indices[i];
  return at;
}

SmallVector<AffineExpr> SliceOp::getSourceIndices(ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> at;
  for (auto [index, step, start] : llvm::zip_equal(indices, getSteps(), getStarts().getDims()))
    at.push_back(simplifyDim(index * step + start));
  return at;
}

bool SliceOp::keepsAllElements() { return false; }
