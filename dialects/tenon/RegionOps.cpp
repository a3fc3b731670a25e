//===- RegionOps.cpp - checks of dispatch regions, attention, launches and calls -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("launches '") << getKernel() << "', which is no function of this module";
  // Later passes append arguments to a kernel: destinations, sizes, a range of tiles.
  if (kernel.getNumArguments() != getInputs().size())
    return success();
  if (!areCompatible(TypeRange(getInputs()), kernel.getArgumentTypes()) ||
      !areCompatible(getResultTypes(), kernel.getResultTypes())) {
    InFlightDiagnostic diagnostic = emitOpError("does not fit the kernel '")
                                    << getKernel() << "', which has other types";
    diagnostic.attachNote(kernel.getLoc()) << "the kernel is here, of type " << kernel.getFunctionType();
    return diagnostic;
  }
  return success();
}

LogicalResult CallOp::verify() {
  for (Type type : llvm::concat<Type>(SmallVector<Type>(getInputs().getTypes()), SmallVector<Type>(getResultTypes())))
    if (auto tensor = cast<RankedTensorType>(type); tensor.getRank() != 1)
      return emitOpError("takes and gives lists, found ") << tensor;
  return success();
}

//===----------------------------------------------------------------------===//
// Host calls
//===----------------------------------------------------------------------===//

LogicalResult HostCallOp::verify() {
  auto isAllowed = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; };
  if (getPlugin().empty() || !llvm::all_of(getPlugin(), isAllowed))
    return emitOpError("names a plug-in '") << getPlugin() << "': letters, digits, '_' and '-' are wanted";
  if (llvm::count(getPresent(), true) != static_cast<int64_t>(getInputs().size()))
    return emitOpError("has ") << getInputs().size() << " operands, which does not match 'present'";
  for (NamedAttribute attribute : getParameters())
    if (!isa<DenseI64ArrayAttr, DenseF64ArrayAttr, StringAttr>(attribute.getValue()))
      return emitOpError("has an attribute '")
             << attribute.getName().getValue() << "' that is neither numbers nor a string";
  if (!getInfers())
    return getNumResults() == 0 || getOutputs() ? emitOpError("computes results, and infers none") : success();
  if (!getOutputs() || getNumResults() != 1)
    return emitOpError("infers the shapes of 'outputs' as one vector");
  int64_t extents = 0;
  for (Type type : getOutputs()->getAsValueRange<TypeAttr>())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      extents += tensor.getRank();
    else
      return emitOpError("has an output that is no tensor: ") << type;
  auto result = cast<RankedTensorType>(getResult(0).getType());
  if (result.getRank() != 1 || result.getDimSize(0) != extents || !result.getElementType().isSignlessInteger(64))
    return emitOpError("infers ") << extents << " extents, its result is " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the only index of `some` that is in none of `others`, or -1.
static int64_t findOnly(ArrayRef<int64_t> some, ArrayRef<ArrayRef<int64_t>> others) {
  int64_t found = -1;
  for (int64_t index : some) {
    if (llvm::any_of(others, [&](ArrayRef<int64_t> other) { return llvm::is_contained(other, index); }))
      continue;
    if (found >= 0)
      return -1;
    found = index;
  }
  return found;
}

int64_t AttentionOp::getKeyIndex() { return findOnly(getScoreDims(), {getResultDims()}); }
int64_t AttentionOp::getSizeIndex() { return findOnly(getQueryDims(), {getScoreDims()}); }
int64_t AttentionOp::getValueIndex() { return findOnly(getResultDims(), {getScoreDims()}); }

std::optional<int64_t> AttentionOp::getQueryIndex() {
  std::optional<int64_t> longest;
  int64_t most = 1;
  for (auto [index, dim] : llvm::zip(getScoreDims(), getDims(getScores()))) {
    if (llvm::is_contained(getKeyDims(), index) || llvm::is_contained(getValueDims(), index))
      continue;
    int64_t extent = getConstant(dim).value_or(std::numeric_limits<int64_t>::max());
    if (extent < most)
      continue;
    longest = index;
    most = extent;
  }
  return longest;
}

/// The extents of what each split of the keys gives: splits, those of `result_dims`, and behind the values two more.
static LogicalResult verifySplits(AttentionOp op) {
  Dims dims = getDims(op.getResult());
  auto getExtentOf = [](Value tensor, ArrayRef<int64_t> indices, int64_t index) {
    return getDim(tensor, llvm::find(indices, index) - indices.begin());
  };
  AffineExpr keys = getExtentOf(op.getScores(), op.getScoreDims(), op.getKeyIndex());
  AffineExpr values = getExtentOf(op.getValues(), op.getValueDims(), op.getValueIndex());
  AffineExpr length = getDimConstant(op.getContext(), *op.getSplitKeys());
  if (op.getResultDims().back() != op.getValueIndex() || dims.front() != ceilDivDims(keys, length) ||
      dims.back() != addDims(values, getDimConstant(op.getContext(), CombineSplitsOp::kNumStatistics)))
    return op.emitOpError("has splits of ")
           << *op.getSplitKeys() << " keys, for each of which the result needs values and "
           << CombineSplitsOp::kNumStatistics << " more elements in its last dimension";
  Type type = getElementTypeOrSelf(op.getResult());
  if (type.isF32() || (type.isF64() && getElementTypeOrSelf(op.getScores()).isF64()))
    return success();
  return op.emitOpError("needs a result of f32 where keys are split, or of f64 as the scores, and has ") << type;
}

LogicalResult AttentionOp::verifyRegions() {
  if (getBody().getNumArguments() != 1 || !isa<RankedTensorType>(getScores().getType()))
    return emitOpError("needs a body of the scores");
  size_t numAdded = getSplitKeys() ? 1 : 0;
  std::tuple<Value, ArrayRef<int64_t>, size_t> tensors[] = {{getQueries(), getQueryDims(), 0},
                                                            {getKeys(), getKeyDims(), 0},
                                                            {getScores(), getScoreDims(), 0},
                                                            {getValues(), getValueDims(), 0},
                                                            {getResult(), getResultDims(), numAdded}};
  for (auto [tensor, indices, added] : tensors)
    if (getDims(tensor).size() != indices.size() + added)
      return emitOpError("has ") << indices.size() << " indices for a tensor of type " << tensor.getType();
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().size() != 1 || getDims(yield.getValues()[0]) != getDims(getScores())) {
    InFlightDiagnostic diagnostic = emitOpError("needs a body that yields a number for each score");
    diagnostic.attachNote(getBody().front().getTerminator()->getLoc()) << "the body ends here";
    return diagnostic;
  }
  if (getKeyIndex() < 0 || getSizeIndex() < 0 || getValueIndex() < 0 ||
      getSizeIndex() != findOnly(getKeyDims(), {getScoreDims()}) ||
      getValueIndex() != findOnly(getValueDims(), {getScoreDims()}))
    return emitOpError("needs one index each for keys, sizes and values");
  if (getBf16Products() && (getSplitKeys() || getElementTypeOrSelf(getScores()).isF64()))
    return emitOpError("rounds factors to bf16, which it does not for scores of f64, or for splits of its keys");
  return getSplitKeys() ? verifySplits(*this) : success();
}

LogicalResult CombineSplitsOp::verify() {
  Dims parts = getDims(getParts()), result = getDims(getResult());
  if (parts.size() != result.size() + 1 || result.empty() ||
      ArrayRef(parts).drop_front().drop_back() != ArrayRef(result).drop_back() ||
      parts.back() != addDims(result.back(), getDimConstant(getContext(), kNumStatistics)))
    return emitOpError("has parts of type ")
           << getParts().getType() << ", which give no result of type " << getResult().getType();
  return success();
}
