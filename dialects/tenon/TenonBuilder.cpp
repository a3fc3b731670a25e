//===- TenonBuilder.cpp - creates common operations of the dialect --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/TenonBuilder.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon;

Value TenonBuilder::scalar(Type elementType, double value) {
  assert(elementType.isIntOrFloat() && "a scalar is a number");
  Attribute element;
  if (isa<FloatType>(elementType))
    element = builder.getFloatAttr(elementType, value);
  else
    element = builder.getIntegerAttr(elementType, APInt(elementType.getIntOrFloatBitWidth(),
                                                        static_cast<int64_t>(value), /*isSigned=*/true,
                                                        /*implicitTrunc=*/true));
  return WeightOp::create(builder, loc, DenseElementsAttr::get(RankedTensorType::get({}, elementType), element));
}

Value TenonBuilder::cast(Value value, Type elementType) {
  auto type = mlir::cast<RankedTensorType>(value.getType());
  if (type.getElementType() == elementType)
    return value;
  return CastOp::create(builder, loc, type.clone(elementType), value);
}

Value TenonBuilder::reshape(Value value, ArrayRef<AffineExpr> dims) {
  if (ArrayRef<AffineExpr>(getDims(value)) == dims)
    return value;
  assert(getConstant(
             subDims(getElementCount(value.getContext(), dims), getElementCount(value.getContext(), getDims(value))))
                 .value_or(0) == 0 &&
         "a reshape has as many elements as its source");
  return ReshapeOp::create(builder, loc, getTensorType(dims, getElementTypeOrSelf(value)), value);
}

Value TenonBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  assert(permutation.size() == getDims(value).size() && "a permutation has each dimension once");
  bool isIdentity = llvm::all_of(llvm::enumerate(permutation),
                                 [](auto entry) { return entry.value() == static_cast<int64_t>(entry.index()); });
  return isIdentity ? value : TransposeOp::create(builder, loc, value, permutation).getResult();
}
