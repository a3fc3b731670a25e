//===- ElementwiseOps.cpp - inference, checks and folds of elementwise operations --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static LogicalResult inferBroadcast(std::optional<Location> loc, ValueRange operands, Type elementType,
                                    SmallVectorImpl<Type> &types) {
  SmallVector<Dims> shapes;
  for (Value operand : operands)
    shapes.push_back(getDims(operand));
  FailureOr<Dims> dims = broadcastDims(shapes);
  if (failed(dims)) {
    std::string text;
    for (const Dims &shape : shapes)
      text += (text.empty() ? "" : " and ") + dimsToString(shape);
    return emitOptionalError(loc, "shapes ", text, " do not broadcast against each other");
  }
  types.push_back(getTensorType(*dims, elementType));
  return success();
}

LogicalResult tenon::inferElementwise(std::optional<Location> loc, ValueRange operands, SmallVectorImpl<Type> &types) {
  for (Value operand : operands.drop_front())
    if (getElementTypeOrSelf(operand) != getElementTypeOrSelf(operands[0]))
      return emitOptionalError(loc, "operands have element types ", getElementTypeOrSelf(operands[0]), " and ",
                               getElementTypeOrSelf(operand), ", which must be equal");
  return inferBroadcast(loc, operands, getElementTypeOrSelf(operands[0]), types);
}

LogicalResult tenon::inferPredicate(std::optional<Location> loc, ValueRange operands, SmallVectorImpl<Type> &types) {
  if (failed(inferElementwise(loc, operands, types)))
    return failure();
  types[0] = cast<RankedTensorType>(types[0]).clone(IntegerType::get(types[0].getContext(), 1));
  return success();
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Type type = getElementTypeOrSelf(adaptor.getLhs());
  if (type != getElementTypeOrSelf(adaptor.getRhs()))
    return emitOptionalError(loc, "the two choices have element types ", type, " and ",
                             getElementTypeOrSelf(adaptor.getRhs()), ", which must be equal");
  return inferBroadcast(loc, adaptor.getOperands(), type, types);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

LogicalResult CastOp::verify() {
  if (failed(verifyCompatibleShape(getInput().getType(), getType())))
    return emitOpError("changes the shape from ") << getInput().getType() << " to " << getType();
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? getInput() : OpFoldResult(); }

/// A boolean counts as the byte that stores it.
static unsigned getBits(Type type) { return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth(); }

LogicalResult BitcastOp::verify() {
  if (failed(verifyCompatibleShape(getInput().getType(), getType())))
    return emitOpError("changes the shape from ") << getInput().getType() << " to " << getType();
  Type from = getInput().getType().getElementType(), to = getType().getElementType();
  if (getBits(from) != getBits(to))
    return emitOpError("takes the bits of ")
           << from << ", of which there are " << getBits(from) << ", for " << to << ", which has " << getBits(to);
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? getInput() : OpFoldResult(); }

//===----------------------------------------------------------------------===//
// Neutral elements
//===----------------------------------------------------------------------===//

/// True if the value is a splat weight of `number`.
static bool isSplat(Attribute attr, double number) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(attr);
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().isExactlyValue(number) ||
           splat.getSplatValue<APFloat>().convertToDouble() == number;
  return isa<IntegerType>(splat.getElementType()) && !splat.getElementType().isInteger(1) &&
         splat.getSplatValue<APInt>() == static_cast<uint64_t>(number);
}

// x + 0 is x except for x = -0, where IEEE yields +0: the two compare equal, and other compilers fold it, too.
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0) && getLhs().getType() == getType())
    return getLhs();
  return {};
}
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0) && getLhs().getType() == getType())
    return getLhs();
  return {};
}
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1) && getLhs().getType() == getType())
    return getLhs();
  return {};
}
OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1) && getLhs().getType() == getType())
    return getLhs();
  return {};
}
