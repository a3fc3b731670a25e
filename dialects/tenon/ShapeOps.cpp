//===- ShapeOps.cpp - inference, checks and folds of what moves elements ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/FixedNumbers.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Weight
//===----------------------------------------------------------------------===//

void WeightOp::build(OpBuilder &builder, OperationState &state, ElementsAttr value, StringRef name) {
  build(builder, state, cast<RankedTensorType>(value.getType()), value,
        name.empty() ? StringAttr() : builder.getStringAttr(name));
}

OpFoldResult WeightOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult WeightOp::verify() {
  auto resource = dyn_cast<DenseResourceElementsAttr>(getValue());
  if (!resource)
    return success();
  // MLIR never checks the size of a blob, and all later code relies on it.
  const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return emitOpError("refers to the resource '") << resource.getRawHandle().getKey() << "', which has no data";
  Type element = getType().getElementType();
  int64_t bytes = getType().getNumElements() * ((element.getIntOrFloatBitWidth() + 7) / 8);
  if (static_cast<int64_t>(blob->getData().size()) != bytes)
    return emitOpError("needs ") << bytes << " bytes, but its resource has " << blob->getData().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

LogicalResult SizesOp::verify() {
  if (getType().getRank() > 1 || !getType().hasStaticShape() ||
      getType().getNumElements() != static_cast<int64_t>(getValues().getDims().size()))
    return emitOpError("has ") << getValues().getDims().size() << " values for a result of type " << getType();
  return success();
}

OpFoldResult SizesOp::fold(FoldAdaptor) {
  std::optional<SmallVector<int64_t>> values = getConstants(getValues().getDims());
  if (!values)
    return {};
  Type type = getType().getElementType();
  SmallVector<Attribute> elements;
  for (int64_t value : *values) {
    if (isa<FloatType>(type))
      elements.push_back(FloatAttr::get(type, static_cast<double>(value)));
    else
      elements.push_back(IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), value, true, true)));
  }
  return DenseElementsAttr::get(getType(), elements);
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  auto from = getInput().getType(), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type from ") << from.getElementType() << " to " << to.getElementType();
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements())
    return emitOpError("makes ") << to.getNumElements() << " elements (" << dimsToString(getDims(to)) << ") of "
                                 << from.getNumElements() << " (" << dimsToString(getDims(from)) << ")";
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()); dense && getType().hasStaticShape())
    return dense.reshape(getType());
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(adaptor.getInput());
      resource && getType().hasStaticShape())
    return DenseResourceElementsAttr::get(getType(), resource.getRawHandle());
  if (auto other = getInput().getDefiningOp<ReshapeOp>()) {
    setOperand(other.getInput());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Transpose, broadcast
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Dims in = getDims(adaptor.getInput()), dims;
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  for (int64_t axis : permutation)
    if (axis < 0 || axis >= static_cast<int64_t>(in.size()))
      return emitOptionalError(loc, "permutation names dimension ", axis, " of an input with ", in.size());
    else
      dims.push_back(in[axis]);
  types.push_back(getTensorType(dims, getElementTypeOrSelf(adaptor.getInput())));
  return success();
}

LogicalResult TransposeOp::verify() {
  llvm::SmallDenseSet<int64_t> seen(getPermutation().begin(), getPermutation().end());
  if (static_cast<int64_t>(getPermutation().size()) != getInput().getType().getRank() ||
      seen.size() != getPermutation().size())
    return emitOpError("needs a permutation of ")
           << getInput().getType().getRank() << " dimensions, found [" << getPermutation() << "]";
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::all_of(llvm::enumerate(getPermutation()),
                   [](auto it) { return it.value() == static_cast<int64_t>(it.index()); }))
    return getInput();
  if (auto other = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> joined;
    for (int64_t axis : getPermutation())
      joined.push_back(other.getPermutation()[axis]);
    setPermutation(joined);
    setOperand(other.getInput());
    return getResult();
  }
  return {};
}

LogicalResult BroadcastOp::verify() {
  if (getInput().getType().getElementType() != getType().getElementType())
    return emitOpError("changes the element type");
  FailureOr<Dims> dims = broadcastDims({getDims(getInput()), getDims(getType())});
  if (failed(dims) || failed(verifyCompatibleShape(getTensorType(*dims, getType().getElementType()), getType())))
    return emitOpError("cannot broadcast ")
           << dimsToString(getDims(getInput())) << " to " << dimsToString(getDims(getType()));
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput()); splat && getType().hasStaticShape())
    return splat.resizeSplat(getType());
  return {};
}

//===----------------------------------------------------------------------===//
// Slice, pad, concat
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  auto in = getInput().getType(), out = getType();
  size_t rank = in.getRank();
  if (static_cast<size_t>(out.getRank()) != rank || getStarts().getDims().size() != rank || getSteps().size() != rank ||
      in.getElementType() != out.getElementType())
    return emitOpError("needs a start, a step and a result extent for each of ") << rank << " dimensions";
  for (size_t i = 0; i < rank; ++i) {
    int64_t step = getSteps()[i];
    if (step == 0)
      return emitOpError("has a step of 0 in dimension ") << i;
    std::optional<int64_t> start = getConstant(getStarts().getDims()[i]);
    if (!start || in.isDynamicDim(i) || out.isDynamicDim(i) || out.getDimSize(i) == 0)
      continue;
    int64_t last = *start + (out.getDimSize(i) - 1) * step;
    if (*start < 0 || last < 0 || *start >= in.getDimSize(i) || last >= in.getDimSize(i))
      return emitOpError("reads elements ")
             << *start << " to " << last << " of dimension " << i << ", which has " << in.getDimSize(i);
  }
  return success();
}

int64_t UnpackOp::getNeighbours(int64_t dim) {
  if (dim == getK4Axis())
    return 4;
  if (dim != getPackedI32Axis())
    return 1;
  return getBits() ? FixedNumbers(*getBits()).group : 32 / getType().getElementTypeBitWidth();
}

int64_t UnpackOp::getPackedI32s(int64_t dim) {
  return dim == getPackedI32Axis() && getBits() ? FixedNumbers(*getBits()).words : 1;
}

LogicalResult UnpackOp::verify() {
  auto in = getInput().getType(), out = getType();
  int64_t axis = getAxis();
  if (getBits() && (!getPackedI32Axis() || !FixedNumbers::isKnown(*getBits())))
    return emitOpError("has numbers of ")
           << *getBits() << " bits, which are an even number from 8 to 24 and need a 'packed_i32_axis'";
  Type element = out.getElementType();
  bool isSmall = element.isUnsignedInteger(4) || element.isInteger(8) || element.isSignlessInteger(16);
  bool fits = hasSmallIntegers() ? in.getElementType().isSignlessInteger(32) && isSmall
                                 : in.getElementType() == out.getElementType() &&
                                       (!getBits() || in.getElementType().isSignlessInteger(32));
  if (in.getRank() != out.getRank() + 1 || !fits)
    return emitOpError("needs an input with one more dimension, for the panels, and of its own type or of i32");
  if (axis < 0 || axis >= out.getRank())
    return emitOpError("has axis ") << axis << ", but the result has " << out.getRank() << " dimensions";
  std::optional<int64_t> k4Axis = getK4Axis();
  if (k4Axis && *k4Axis != out.getRank() - (axis + 1 == out.getRank() ? 2 : 1))
    return emitOpError("interleaves groups of four along dimension ")
           << *k4Axis << ", which is not the last one besides its axis";
  if (getBits() && (out.isDynamicDim(*getPackedI32Axis()) ||
                    out.getDimSize(*getPackedI32Axis()) % getNeighbours(*getPackedI32Axis()) != 0))
    return emitOpError("needs whole groups of ")
           << getNeighbours(*getPackedI32Axis()) << " numbers along dimension " << *getPackedI32Axis();
  if (in.isDynamicDim(in.getRank() - 1) || getPanelColumns() < 1)
    return emitOpError("needs panels of a constant number of elements");
  AffineExpr columns = getDimConstant(getContext(), getPanelColumns());
  Dims panels = getDims(getInput()), wanted{ceilDivDims(getDim(getResult(), axis), columns)};
  for (int64_t i = 0; i < out.getRank(); ++i) {
    AffineExpr groups = ceilDivDims(getDim(getResult(), i), getDimConstant(getContext(), getNeighbours(i)));
    if (i != axis)
      wanted.push_back(mulDims(groups, getDimConstant(getContext(), getPackedI32s(i))));
  }
  wanted.push_back(panels.back());
  if (panels != wanted)
    return emitOpError("needs panels of ") << dimsToString(wanted) << ", found " << dimsToString(panels);
  return success();
}

/// Verifies that `terms` has the shape for the terms of `whole`, whose last dimension is stored in steps.
static LogicalResult verifyTerms(Operation *op, RankedTensorType whole, RankedTensorType terms) {
  bool isOfTerms = terms.getElementType().isBF16() || terms.getElementType().isSignlessInteger(8);
  bool isFloat = terms.getElementType().isF32() || terms.getElementType().isF16();
  bool isItself = isa<MergeTermsOp>(op) && isFloat && terms.getRank() > 1 && terms.getShape().end()[-2] == 1;
  if (!whole.getElementType().isF32() || (!isOfTerms && !isItself) || whole.getRank() < 1 ||
      terms.getRank() != whole.getRank() + 2)
    return op->emitOpError("needs f32, and bf16 or i8 of two dimensions more");
  ArrayRef<int64_t> last = terms.getShape().take_back(2);
  if (last[0] < 1 || last[0] > 3 || last[1] < 1)
    return op->emitOpError("needs one to three terms, and steps of a constant length");
  Dims wanted = getDims(whole), found = getDims(terms);
  wanted.back() = ceilDivDims(wanted.back(), found.back());
  if (ArrayRef(found).drop_back(2) != ArrayRef(wanted))
    return op->emitOpError("needs steps of ") << dimsToString(wanted) << ", found " << dimsToString(found);
  return success();
}

LogicalResult SplitTermsOp::verify() { return verifyTerms(*this, getInput().getType(), getType()); }
LogicalResult MergeTermsOp::verify() { return verifyTerms(*this, getType(), getInput().getType()); }

LogicalResult UnpackTermsOp::verify() {
  auto in = getInput().getType(), out = getType();
  int64_t axis = getAxis(), depthAxis = getDepthAxis(), rank = out.getRank();
  bool isWhole = in.getElementType().isF32();
  bool isOfTerms = in.getElementType().isBF16() || in.getElementType().isSignlessInteger(8);
  if ((!isWhole && !isOfTerms) || !out.getElementType().isF32() || in.getRank() != rank + 3 || !in.hasStaticShape() ||
      !out.hasStaticShape())
    return emitOpError(
        "needs an input of bf16, i8 or f32 with three dimensions more than the f32 of the result, all constant");
  if (axis < 0 || axis >= rank || depthAxis < 0 || depthAxis >= rank || axis == depthAxis)
    return emitOpError("needs two different dimensions of the result, found ") << axis << " and " << depthAxis;
  if (isWhole && getNumTerms() != 1)
    return emitOpError("needs one term of f32, found ") << getNumTerms();
  int64_t neighbours = getNeighbours();
  if (getNumTerms() < 1 || getNumTerms() > 3 || getStep() < neighbours || getPanelColumns() < 1 ||
      in.getShape().back() % neighbours != 0)
    return emitOpError("needs one to three terms, and ") << neighbours << " neighbours of each column";
  SmallVector<int64_t> wanted{llvm::divideCeilSigned(out.getDimSize(axis), getPanelColumns())};
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && i != depthAxis)
      wanted.push_back(out.getDimSize(i));
  wanted.push_back(llvm::divideCeilSigned(out.getDimSize(depthAxis), getStep()));
  if (in.getShape().drop_back(3) != ArrayRef(wanted))
    return emitOpError("has panels and steps of another size than its result");
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool whole = llvm::all_of(getStarts().getDims(), [](AffineExpr start) { return getConstant(start) == 0; }) &&
               llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  return whole && getInput().getType() == getType() ? getInput() : OpFoldResult();
}

LogicalResult PadOp::verify() {
  size_t rank = getInput().getType().getRank();
  if (static_cast<size_t>(getType().getRank()) != rank || getLow().getDims().size() != rank ||
      getInterior().size() != rank)
    return emitOpError("needs low, interior and a result extent for each of ") << rank << " dimensions";
  if (getInput().getType().getElementType() != getType().getElementType() ||
      getValue().getType().getElementType() != getType().getElementType() || getValue().getType().getRank() != 0)
    return emitOpError("needs a scalar value, and one element type throughout");
  for (int64_t interior : getInterior())
    if (interior < 0 || (interior > 0 && getMode() != PadMode::constant))
      return emitOpError("has interior padding of ")
             << interior << ", which mode " << stringifyPadMode(getMode()) << " does not allow";
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "needs at least one input");
  Dims dims = getDims(adaptor.getInputs()[0]);
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= static_cast<int64_t>(dims.size()))
    return emitOptionalError(loc, "has axis ", axis, ", but the inputs have ", dims.size(), " dimensions");
  for (Value input : adaptor.getInputs().drop_front()) {
    Dims other = getDims(input);
    if (other.size() != dims.size() || getElementTypeOrSelf(input) != getElementTypeOrSelf(adaptor.getInputs()[0]))
      return emitOptionalError(loc, "inputs differ in rank or element type: ", adaptor.getInputs()[0].getType(),
                               " and ", input.getType());
    for (size_t i = 0; i < dims.size(); ++i) {
      if (static_cast<int64_t>(i) == axis) {
        dims[i] = addDims(dims[i], other[i]);
        continue;
      }
      std::optional<int64_t> a = getConstant(dims[i]), b = getConstant(other[i]);
      if (a && b && *a != *b)
        return emitOptionalError(loc, "inputs have ", *a, " and ", *b, " elements in dimension ", i,
                                 ", which is not the axis ", axis);
      if (b)
        dims[i] = other[i];
    }
  }
  types.push_back(getTensorType(dims, getElementTypeOrSelf(adaptor.getInputs()[0])));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 && getInputs()[0].getType() == getType() ? getInputs()[0] : OpFoldResult();
}

LogicalResult IotaOp::verify() {
  int64_t axis = getAxis();
  if (axis < 0 || axis >= getType().getRank())
    return emitOpError("has axis ") << axis << ", but the result has " << getType().getRank() << " dimensions";
  return success();
}
