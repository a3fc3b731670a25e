//===- LargestMagnitude.cpp - the largest magnitude of rows or images ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/LargestMagnitude.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "passes/cost/PathPolicy.h"

using namespace mlir;
using namespace tenon;

int64_t tenon::chooseMagnitudePart(int64_t count, int64_t least, int64_t most) {
  assert(least > 0 && "a part has an element");
  for (int64_t part = std::min(most, count); part >= least; --part)
    if (count % part == 0)
      return part;
  return 0;
}

/// Returns the two dimensions that those of an image are joined to, of parts and of the elements of one. Where extents
/// are open, or have no such divisor, parts are the lines of the image.
static Dims joinImage(ArrayRef<AffineExpr> image) {
  assert(image.size() > 1 && "an image has several dimensions");
  const PathPolicy policy;
  AffineExpr all = image.front(), line = image[1];
  for (AffineExpr dim : image.drop_front(2))
    line = mulDims(line, dim);
  all = mulDims(all, line);
  std::optional<int64_t> count = getConstant(all);
  int64_t part = count ? chooseMagnitudePart(*count, policy.leastMagnitudePart, policy.mostMagnitudePart) : 0;
  if (part == 0)
    return {image.front(), line};
  return {getDimConstant(line.getContext(), *count / part), getDimConstant(line.getContext(), part)};
}

Value tenon::emitLargestMagnitude(OpBuilder &b, Location loc, Value x, int64_t first) {
  Dims dims = getDims(x);
  int64_t rank = static_cast<int64_t>(dims.size());
  assert(first < rank && "magnitudes are those of some dimension");
  bool isImage = first + 1 < rank;
  if (isImage) {
    Dims joined(ArrayRef(dims).take_front(first));
    llvm::append_range(joined, joinImage(ArrayRef(dims).drop_front(first)));
    x = TenonBuilder(b, loc).reshape(x, joined);
  }
  auto reduceLast = [&](Value of, int64_t axis) -> Value {
    return ReduceOp::create(b, loc, ReduceKind::max, of, axis, /*keepdims=*/false);
  };
  Value most = reduceLast(AbsOp::create(b, loc, x.getType(), x), isImage ? first + 1 : first);
  return isImage ? reduceLast(most, first) : most;
}
