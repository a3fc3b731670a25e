//===- Numbers.cpp - scalars of what paths compute ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/Numbers.h"

using namespace mlir;
using namespace tenon;

Value tenon::createNumber(OpBuilder &b, Location loc, FloatType type, double value) {
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return WeightOp::create(b, loc, DenseElementsAttr::get(RankedTensorType::get({}, type), rounded));
}
