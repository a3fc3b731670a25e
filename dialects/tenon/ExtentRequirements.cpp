//===- ExtentRequirements.cpp - what operations take for granted of extents ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tenon;

void ContractOp::collectExtentRequirements(ExtentRequirements &requirements) {
  llvm::SmallDenseMap<int64_t, AffineExpr> extents;
  for (auto [operand, indices] : {std::pair(getLhs(), getLhsDims()), std::pair(getRhs(), getRhsDims())})
    for (auto [index, dim] : llvm::zip(indices, getDims(operand))) {
      auto [it, isNew] = extents.try_emplace(index, dim);
      if (!isNew)
        requirements.addEqual(*this, it->second, dim);
    }
}

void ConvolveOp::collectExtentRequirements(ExtentRequirements &requirements) {
  AffineExpr groups = getDimConstant(getContext(), getGroups());
  requirements.addSame(*this, getDim(getInput(), getChannelDim()),
                       mulDims(getDim(getFilter(), getFilterChannelDim()), groups));
}

void LuOp::collectExtentRequirements(ExtentRequirements &requirements) {
  Dims dims = getDims(getInput());
  assert(dims.size() >= 2 && "the verifier wants matrices");
  requirements.addSame(*this, dims.back(), dims[dims.size() - 2]);
}

//===----------------------------------------------------------------------===//
// Moved elements
//===----------------------------------------------------------------------===//

void ConcatOp::collectExtentRequirements(ExtentRequirements &requirements) {
  Dims result = getDims(getResult());
  for (Value input : getInputs())
    for (auto [i, dims] : llvm::enumerate(llvm::zip(getDims(input), result)))
      if (i != getAxis())
        requirements.addEqual(*this, std::get<0>(dims), std::get<1>(dims));
}

void ReshapeOp::collectExtentRequirements(ExtentRequirements &requirements) {
  requirements.addSame(*this, getElementCount(getContext(), getDims(getInput())),
                       getElementCount(getContext(), getDims(getResult())));
}

/// Every element that a slice reads must be in bounds. A slice reads none if another dimension of its result is empty.
void SliceOp::collectExtentRequirements(ExtentRequirements &requirements) {
  AffineExpr zero = getDimConstant(getContext(), 0), one = getDimConstant(getContext(), 1);
  Dims result = getDims(getResult()), input = getDims(getInput());
  for (auto [i, start, step] : llvm::enumerate(getStarts().getDims(), getSteps())) {
    if (isUnknownDim(start))
      continue;
    Dims others;
    for (auto [j, dim] : llvm::enumerate(result))
      if (j != i && !getConstant(dim))
        others.push_back(dim);
    AffineExpr count = getElementCount(getContext(), others);
    AffineExpr end = addDims(start, mulDims(subDims(result[i], one), getDimConstant(getContext(), step)));
    requirements.addAtMost(*this, zero, step > 0 ? start : end, count);
    requirements.addAtMost(*this, step > 0 ? end : start, subDims(input[i], one), count);
  }
}

//===----------------------------------------------------------------------===//
// Indices: kernels take what these do not say to be in bounds
//===----------------------------------------------------------------------===//

static void addSameAll(ExtentRequirements &requirements, Operation *op, ArrayRef<AffineExpr> a,
                       ArrayRef<AffineExpr> b) {
  assert(a.size() <= b.size() && "each extent has one that it has to be equal to");
  for (auto [x, y] : llvm::zip(a, b))
    requirements.addSame(op, x, y);
}

/// Along all dimensions but `axis`, there must be no more indices than elements.
static void addWithin(ExtentRequirements &requirements, Operation *op, Value indices, Value input, uint64_t axis) {
  assert(axis < getDims(input).size() && "the verifier refuses an axis that the input has not");
  for (auto [i, dims] : llvm::enumerate(llvm::zip(getDims(indices), getDims(input))))
    if (i != axis)
      requirements.addAtMost(op, std::get<0>(dims), std::get<1>(dims));
}

void GatherElementsOp::collectExtentRequirements(ExtentRequirements &requirements) {
  addWithin(requirements, *this, getIndices(), getInput(), getAxis());
}

void ScatterElementsOp::collectExtentRequirements(ExtentRequirements &requirements) {
  addWithin(requirements, *this, getIndices(), getInput(), getAxis());
  addSameAll(requirements, *this, getDims(getUpdates()), getDims(getIndices()));
}

void GatherNDOp::collectExtentRequirements(ExtentRequirements &requirements) {
  Dims input = getDims(getInput());
  addSameAll(requirements, *this, ArrayRef(input).take_front(getBatchDims()), getDims(getIndices()));
}

void ScatterNDOp::collectExtentRequirements(ExtentRequirements &requirements) {
  Dims input = getDims(getInput()), wanted = getDims(getIndices());
  int64_t count = *getConstant(wanted.pop_back_val());
  wanted.append(input.begin() + count, input.end());
  addSameAll(requirements, *this, getDims(getUpdates()), wanted);
}

void TopKOp::collectExtentRequirements(ExtentRequirements &requirements) {
  requirements.addAtMost(*this, getDim(getValues(), getAxis()), getDim(getInput(), getAxis()));
}

void RoiAlignOp::collectExtentRequirements(ExtentRequirements &requirements) {
  requirements.addSame(*this, getDim(getRois(), 0), getDim(getBatches(), 0));
  requirements.addSame(*this, getDim(getRois(), 1), getDimConstant(getContext(), 4));
}

void NmsOp::collectExtentRequirements(ExtentRequirements &requirements) {
  requirements.addSame(*this, getDim(getBoxes(), 0), getDim(getScores(), 0));
  requirements.addSame(*this, getDim(getBoxes(), 1), getDim(getScores(), 2));
  requirements.addSame(*this, getDim(getBoxes(), 2), getDimConstant(getContext(), 4));
}
