//===- GraphFunctions.cpp - operations on the tensors of a graph ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Apply.h"
#include "compiler/graph/GraphBuilder.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::graph;

//===----------------------------------------------------------------------===//
// Making one tensor of others
//===----------------------------------------------------------------------===//

Graph *graph::findGraph(ArrayRef<Tensor> operands) {
  Graph *graph = nullptr;
  for (const Tensor &operand : operands)
    graph = graph ? graph : operand.getGraph();
  for (const Tensor &operand : operands)
    if (graph && operand.getGraph() != graph) {
      graph->fail(operand.getGraph() ? "has operands of two graphs" : "has an empty tensor as an operand");
      return nullptr;
    }
  return graph;
}

Tensor graph::apply(ArrayRef<Tensor> operands, llvm::function_ref<Value(GraphBuilder &)> make) {
  Graph *graph = findGraph(operands);
  if (!graph)
    return {};
  bool fits = !graph->hasFailed() && llvm::all_of(operands, [&](const Tensor &x) { return graph->checkVisible(x); });
  return Tensor(*graph, fits ? make(graph->getBuilder()) : Value());
}

Tensor graph::applyAlong(int64_t axis, int64_t rank, ArrayRef<Tensor> operands,
                         llvm::function_ref<Value(GraphBuilder &, int64_t)> make) {
  return apply(operands, [&](GraphBuilder &b) -> Value {
    if (axis >= -rank && axis < rank)
      return make(b, axis < 0 ? axis + rank : axis);
    b.fail("has no axis " + Twine(axis) + ": there are " + Twine(rank));
    return {};
  });
}

/// A number of the element type that `like` has.
static Tensor scalarLike(double value, const Tensor &like) {
  return apply(like, [&](GraphBuilder &b) { return b.scalarLike(value, like.getValue()); });
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

namespace tenon::graph {

#define TENON_GRAPH_UNARY(NAME, METHOD)                                                                                \
  Tensor NAME(const Tensor &x) {                                                                                       \
    return apply(x, [&](GraphBuilder &b) { return b.METHOD(x.getValue()); });                                          \
  }
TENON_GRAPH_UNARY(operator-, neg)
TENON_GRAPH_UNARY(operator!, bitNot)
TENON_GRAPH_UNARY(abs, abs)
TENON_GRAPH_UNARY(exp, exp)
TENON_GRAPH_UNARY(log, log)
TENON_GRAPH_UNARY(sqrt, sqrt)
TENON_GRAPH_UNARY(rsqrt, rsqrt)
TENON_GRAPH_UNARY(sin, sin)
TENON_GRAPH_UNARY(cos, cos)
TENON_GRAPH_UNARY(tanh, tanh)
TENON_GRAPH_UNARY(erf, erf)
TENON_GRAPH_UNARY(isNaN, isNaN)
TENON_GRAPH_UNARY(sigmoid, sigmoid)
TENON_GRAPH_UNARY(relu, relu)
#undef TENON_GRAPH_UNARY

#define TENON_GRAPH_BINARY(NAME, METHOD)                                                                               \
  Tensor NAME(const Tensor &x, const Tensor &y) {                                                                      \
    return apply({x, y}, [&](GraphBuilder &b) { return b.METHOD(x.getValue(), y.getValue()); });                       \
  }
TENON_GRAPH_BINARY(operator&, bitAnd)
TENON_GRAPH_BINARY(operator|, bitOr)
TENON_GRAPH_BINARY(operator^, bitXor)
TENON_GRAPH_BINARY(pow, pow)
TENON_GRAPH_BINARY(minimum, min)
TENON_GRAPH_BINARY(maximum, max)
TENON_GRAPH_BINARY(matmul, matmul)

#define TENON_GRAPH_OPERATOR(OP, METHOD)                                                                               \
  TENON_GRAPH_BINARY(operator OP, METHOD)                                                                              \
  Tensor operator OP(const Tensor &x, double y) { return x OP scalarLike(y, x); }                                      \
  Tensor operator OP(double x, const Tensor &y) { return scalarLike(x, y) OP y; }
TENON_GRAPH_OPERATOR(+, add)
TENON_GRAPH_OPERATOR(-, sub)
TENON_GRAPH_OPERATOR(*, mul)
TENON_GRAPH_OPERATOR(/, div)
TENON_GRAPH_OPERATOR(==, equal)
TENON_GRAPH_OPERATOR(!=, notEqual)
TENON_GRAPH_OPERATOR(<, less)
TENON_GRAPH_OPERATOR(<=, lessOrEqual)
TENON_GRAPH_OPERATOR(>, greater)
TENON_GRAPH_OPERATOR(>=, greaterOrEqual)
#undef TENON_GRAPH_OPERATOR
#undef TENON_GRAPH_BINARY

} // namespace tenon::graph

Tensor graph::silu(const Tensor &x) { return x * sigmoid(x); }

Tensor graph::gelu(const Tensor &x, bool tanh) {
  return apply(x, [&](GraphBuilder &b) { return b.gelu(x.getValue(), tanh); });
}

Tensor graph::where(const Tensor &condition, const Tensor &x, const Tensor &y) {
  return apply({condition, x, y},
               [&](GraphBuilder &b) { return b.select(condition.getValue(), x.getValue(), y.getValue()); });
}
Tensor graph::where(const Tensor &condition, const Tensor &x, double y) {
  return where(condition, x, scalarLike(y, x));
}

Tensor graph::cast(const Tensor &x, DType type) {
  return apply(x, [&](GraphBuilder &b) { return b.cast(x.getValue(), getType(b.getContext(), type)); });
}

//===----------------------------------------------------------------------===//
// Contractions and reductions
//===----------------------------------------------------------------------===//

Tensor graph::linear(const Tensor &x, const Tensor &weight, const Tensor &bias) {
  Tensor product = apply({x, weight}, [&](GraphBuilder &b) -> Value {
    int64_t rank = x.rank();
    if (rank < 1 || weight.rank() != 2) {
      b.fail("expects an input of rank 1 or more and a weight of rank 2, found " + Twine(rank) + " and " +
             Twine(weight.rank()));
      return {};
    }
    Ints result = rangeOf(0, rank - 1);
    result.push_back(rank);
    return b.contract(x.getValue(), weight.getValue(), rangeOf(0, rank), {rank, rank - 1}, result);
  });
  return bias.getGraph() ? product + bias : product;
}

/// Returns the dimensions that letters denote; none if there is another character or a repeated letter.
static std::optional<Ints> parseLetters(StringRef letters) {
  Ints dims;
  for (char letter : letters) {
    if (!llvm::isAlpha(letter) || llvm::is_contained(dims, letter))
      return std::nullopt;
    dims.push_back(letter);
  }
  return dims;
}

Tensor graph::einsum(StringRef equation, const Tensor &x, const Tensor &y) {
  auto [operands, resultLetters] = equation.split("->");
  auto [xLetters, yLetters] = operands.split(',');
  std::optional<Ints> xDims = parseLetters(xLetters), yDims = parseLetters(yLetters),
                      result = parseLetters(resultLetters);
  return apply({x, y}, [&](GraphBuilder &b) -> Value {
    if (equation.contains("->") && xDims && yDims && result && static_cast<int64_t>(xDims->size()) == x.rank() &&
        static_cast<int64_t>(yDims->size()) == y.rank())
      return b.contract(x.getValue(), y.getValue(), *xDims, *yDims, *result);
    b.fail("'" + equation + "' is no equation of operands of rank " + Twine(x.rank()) + " and " + Twine(y.rank()) +
           ", which looks like 'bik,bjk->bij'");
    return {};
  });
}

using ReduceMethod = Value (GraphBuilder::*)(Value, IntsRef, bool);

static Tensor reduce(const Tensor &x, ArrayRef<int64_t> axes, bool keepdims, ReduceMethod method) {
  return apply(x, [&](GraphBuilder &b) -> Value {
    Ints counted;
    for (int64_t axis : axes) {
      counted.push_back(axis < 0 ? axis + x.rank() : axis);
      if (counted.back() < 0 || counted.back() >= x.rank()) {
        b.fail("has no axis " + Twine(axis) + ": there are " + Twine(x.rank()));
        return {};
      }
    }
    return (b.*method)(x.getValue(), counted, keepdims);
  });
}

Tensor graph::sum(const Tensor &x, ArrayRef<int64_t> axes, bool keepdims) {
  return reduce(x, axes, keepdims, &GraphBuilder::reduceSum);
}
Tensor graph::mean(const Tensor &x, ArrayRef<int64_t> axes, bool keepdims) {
  return reduce(x, axes, keepdims, &GraphBuilder::reduceMean);
}
Tensor graph::amax(const Tensor &x, ArrayRef<int64_t> axes, bool keepdims) {
  return reduce(x, axes, keepdims, &GraphBuilder::reduceMax);
}
Tensor graph::amin(const Tensor &x, ArrayRef<int64_t> axes, bool keepdims) {
  return reduce(x, axes, keepdims, &GraphBuilder::reduceMin);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static Dims toDims(GraphBuilder &b, ShapeRef shape) {
  Dims dims;
  for (const Dim &dim : shape)
    dims.push_back(dim.getExpr(b.getContext()));
  return dims;
}

Tensor graph::reshape(const Tensor &x, ShapeRef shape) {
  return apply(x, [&](GraphBuilder &b) { return b.reshape(x.getValue(), toDims(b, shape)); });
}
Tensor graph::transpose(const Tensor &x, ArrayRef<int64_t> permutation) {
  return apply(x, [&](GraphBuilder &b) { return b.transpose(x.getValue(), permutation); });
}
Tensor graph::broadcast(const Tensor &x, ShapeRef shape) {
  return apply(x, [&](GraphBuilder &b) { return b.broadcast(x.getValue(), toDims(b, shape)); });
}

Tensor graph::slice(const Tensor &x, int64_t axis, const Dim &start, const Dim &extent) {
  return applyAlong(axis, x.rank(), x, [&](GraphBuilder &b, int64_t axis) {
    MLIRContext *context = b.getContext();
    return b.sliceAxis(x.getValue(), axis, start.getExpr(context), extent.getExpr(context));
  });
}

SmallVector<Tensor, 4> graph::split(const Tensor &x, int64_t axis, int64_t count) {
  Dim whole = x.dim(axis), part = whole / std::max<int64_t>(count, 1);
  if (x && !(part * count == whole))
    x.getGraph()->fail("cannot split a dimension of " + whole.toString() + " into " + Twine(count) + " equal parts");
  SmallVector<Tensor, 4> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(slice(x, axis, part * i, part));
  return parts;
}

Tensor graph::concat(ArrayRef<Tensor> values, int64_t axis) {
  if (values.empty())
    return {};
  return applyAlong(axis, values[0].rank(), values, [&](GraphBuilder &b, int64_t axis) {
    SmallVector<Value> operands;
    for (const Tensor &value : values)
      operands.push_back(value.getValue());
    return b.concat(operands, axis);
  });
}

Tensor graph::unsqueeze(const Tensor &x, int64_t axis) {
  return applyAlong(axis, x.rank() + 1, x,
                    [&](GraphBuilder &b, int64_t axis) { return b.unsqueeze(x.getValue(), axis); });
}

Tensor graph::argMax(const Tensor &x, int64_t axis) {
  return applyAlong(axis, x.rank(), x,
                    [&](GraphBuilder &b, int64_t axis) { return b.argMax(x.getValue(), axis, /*keepdims=*/false); });
}
Tensor graph::argMin(const Tensor &x, int64_t axis) {
  return applyAlong(axis, x.rank(), x,
                    [&](GraphBuilder &b, int64_t axis) { return b.argMin(x.getValue(), axis, /*keepdims=*/false); });
}

std::pair<Tensor, Tensor> graph::topK(const Tensor &x, const Dim &count, int64_t axis) {
  Value indices;
  Tensor values = applyAlong(axis, x.rank(), x, [&](GraphBuilder &b, int64_t axis) {
    auto [largest, places] = b.topK(x.getValue(), axis, count.getExpr(b.getContext()), /*largest=*/true);
    indices = places;
    return largest;
  });
  return {values, values.getGraph() ? Tensor(*values.getGraph(), indices) : Tensor()};
}

Tensor graph::sample(const Tensor &weights, const Tensor &filters, const Tensor &uniform) {
  return apply({weights, filters, uniform},
               [&](GraphBuilder &b) { return b.sample(weights.getValue(), filters.getValue(), uniform.getValue()); });
}

Tensor graph::cumulativeSum(const Tensor &x, int64_t axis) {
  return applyAlong(axis, x.rank(), x,
                    [&](GraphBuilder &b, int64_t axis) { return b.cumulativeSum(x.getValue(), axis); });
}
Tensor graph::gather(const Tensor &x, const Tensor &indices, int64_t axis) {
  return applyAlong(axis, x.rank(), {x, indices},
                    [&](GraphBuilder &b, int64_t axis) { return b.gather(x.getValue(), indices.getValue(), axis); });
}
Tensor graph::scatter(const Tensor &x, const Tensor &indices, const Tensor &updates, int64_t axis) {
  return applyAlong(axis, x.rank(), {x, indices, updates}, [&](GraphBuilder &b, int64_t axis) {
    return b.scatterElements("assign", x.getValue(), indices.getValue(), updates.getValue(), axis);
  });
}
Tensor graph::embedding(const Tensor &table, const Tensor &ids) { return gather(table, ids, 0); }

//===----------------------------------------------------------------------===//
// Parts of networks
//===----------------------------------------------------------------------===//

Tensor graph::softmax(const Tensor &x, int64_t axis) {
  return applyAlong(axis, x.rank(), x, [&](GraphBuilder &b, int64_t axis) { return b.softmax(x.getValue(), axis); });
}
Tensor graph::logSoftmax(const Tensor &x, int64_t axis) {
  return applyAlong(axis, x.rank(), x,
                    [&](GraphBuilder &b, int64_t axis) { return b.softmax(x.getValue(), axis, /*log=*/true); });
}

Tensor graph::layerNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, double epsilon) {
  SmallVector<Tensor> operands{x, scale};
  if (bias.getGraph())
    operands.push_back(bias);
  return applyAlong(-1, x.rank(), operands, [&](GraphBuilder &b, int64_t axis) {
    return b.layerNorm(x.getValue(), scale.getValue(), bias.getValue(), axis, epsilon);
  });
}
Tensor graph::rmsNorm(const Tensor &x, const Tensor &scale, double epsilon) {
  return applyAlong(-1, x.rank(), {x, scale}, [&](GraphBuilder &b, int64_t axis) {
    return b.rmsNorm(x.getValue(), scale.getValue(), axis, epsilon);
  });
}

Tensor graph::rope(const Tensor &x, const Tensor &cosines, const Tensor &sines) {
  SmallVector<Tensor, 4> half = split(x, -1, 2);
  return concat({half[0] * cosines - half[1] * sines, half[1] * cosines + half[0] * sines}, -1);
}

/// Returns the most negative finite number of the tensor's type: if all keys are masked, the weights stay finite.
static double getLowest(const Tensor &x) {
  auto type = dyn_cast_or_null<FloatType>(x ? getElementTypeOrSelf(x.getValue()) : Type());
  return type ? llvm::APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true).convertToDouble() : 0;
}

Tensor graph::dequantize(const Tensor &x, const Tensor &scale, const Tensor &zero, int64_t axis, int64_t block) {
  SmallVector<Tensor> operands{x, scale};
  if (zero.getGraph())
    operands.push_back(zero);
  return applyAlong(axis, x.rank(), operands, [&](GraphBuilder &b, int64_t axis) {
    return b.dequantize(x.getValue(), scale.getValue(), zero.getValue(), axis, block, b.f32());
  });
}

static Tensor attendTo(const Tensor &scores, const Tensor &mask, double softcap) {
  Tensor capped = softcap == 0 ? scores : tanh(scores / softcap) * softcap;
  return softmax(mask.getGraph() ? where(mask, capped, getLowest(capped)) : capped, -1);
}

Tensor graph::attention(const Tensor &queries, const Tensor &keys, const Tensor &values, double scale,
                        const Tensor &mask, double softcap) {
  Graph *graph = findGraph({queries, keys, values});
  if (!graph)
    return {};
  Dim heads = queries.dim(1), keyHeads = keys.dim(1);
  if (keyHeads == heads) {
    Tensor scores = einsum("bhqd,bhkd->bhqk", queries, keys) * scale;
    return einsum("bhqk,bhkd->bhqd", attendTo(scores, mask, softcap), values);
  }
  if (keyHeads == Dim(0) || !(heads % keyHeads == Dim(0))) {
    graph->fail("cannot share the keys of " + keyHeads.toString() + " heads among " + heads.toString());
    return graph->missing();
  }
  // Groups of heads that share a key form an additional dimension, which the keys lack.
  Dim group = heads / keyHeads;
  Tensor grouped = reshape(queries, {queries.dim(0), keyHeads, group, queries.dim(2), queries.dim(3)});
  Tensor scores = einsum("bhgqd,bhkd->bhgqk", grouped, keys) * scale;
  Tensor weights = attendTo(scores, mask.rank() == 4 ? unsqueeze(mask, 2) : mask, softcap);
  Tensor result = einsum("bhgqk,bhkd->bhgqd", weights, values);
  return reshape(result, {queries.dim(0), heads, queries.dim(2), values.dim(3)});
}
