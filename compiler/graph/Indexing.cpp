//===- Indexing.cpp - parts of tensors ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Apply.h"
#include "compiler/graph/GraphBuilder.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::graph;

/// Resolves a position in a dimension of `extent`; negative numbers count from its end.
static Dim countFromStart(const Dim &place, const Dim &extent) {
  return place.isNumber() && place.getNumber() < 0 ? extent + place : place;
}

/// The part of x that a slice of an axis is.
static Tensor takeSlice(const Tensor &x, int64_t axis, const Slice &part) {
  Dim extent = x.dim(axis), begin = countFromStart(part.begin, extent),
      end = part.end ? countFromStart(*part.end, extent) : extent;
  return apply(x, [&](GraphBuilder &b) -> Value {
    if (part.step < 1) {
      b.fail("takes every " + Twine(part.step) + "th element; steps are at least 1");
      return {};
    }
    Dims starts, shape;
    for (int64_t i = 0; i < x.rank(); ++i) {
      starts.push_back(b.constantDim(0));
      shape.push_back(x.dim(i).getExpr(b.getContext()));
    }
    Ints steps(x.rank(), 1);
    steps[axis] = part.step;
    starts[axis] = begin.getExpr(b.getContext());
    shape[axis] = ((end - begin + (part.step - 1)) / part.step).getExpr(b.getContext());
    return b.slice(x.getValue(), starts, steps, shape);
  });
}

Tensor Tensor::operator[](std::initializer_list<Index> indices) const {
  Tensor result = *this;
  if (graph && static_cast<int64_t>(indices.size()) > rank()) {
    graph->fail("has " + Twine(rank()) + " dimensions, not " + Twine(indices.size()));
    return graph->missing();
  }
  int64_t axis = 0;
  for (const Index &index : indices) {
    if (graph && graph->hasFailed())
      return result;
    if (const auto *part = std::get_if<Slice>(&index)) {
      if (part->begin == Dim(0) && !part->end && part->step == 1)
        ++axis;
      else
        result = takeSlice(result, axis++, *part);
    } else if (const auto *place = std::get_if<Dim>(&index)) {
      Dim at = countFromStart(*place, result.dim(axis));
      Shape shape = result.shape();
      shape.erase(shape.begin() + axis);
      result = reshape(slice(result, axis, at, 1), shape);
    } else {
      const Tensor &places = std::get<Tensor>(index);
      result = gather(result, places, axis);
      axis += places.rank();
    }
  }
  return result;
}
