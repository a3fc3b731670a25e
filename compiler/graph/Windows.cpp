//===- Windows.cpp - convolutions, pooling and norms of images ------------===//
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

/// Returns numbers for each of `count` spatial dimensions: the given ones, or the default if there are none. Returns
/// false after an error if their count is wrong.
static bool takeNumbers(GraphBuilder &b, const char *what, ArrayRef<int64_t> given, int64_t count, int64_t usual,
                        Ints &numbers) {
  numbers.assign(given.begin(), given.end());
  if (given.empty())
    numbers.assign(count, usual);
  if (static_cast<int64_t>(numbers.size()) == count)
    return true;
  b.fail("has " + Twine(numbers.size()) + " " + what + " for " + Twine(count) + " spatial dimensions");
  return false;
}

/// Returns the window of these sizes; none if the steps do not match it.
static std::optional<tenon::Window> makeWindow(GraphBuilder &b, ArrayRef<int64_t> sizes, const Steps &steps) {
  tenon::Window window;
  auto count = static_cast<int64_t>(sizes.size());
  window.sizes.assign(sizes.begin(), sizes.end());
  ArrayRef<int64_t> high = steps.high.empty() ? steps.low : steps.high;
  bool fits = takeNumbers(b, "strides", steps.strides, count, 1, window.strides) &&
              takeNumbers(b, "dilations", steps.dilations, count, 1, window.dilations) &&
              takeNumbers(b, "paddings", steps.low, count, 0, window.low) &&
              takeNumbers(b, "paddings", high, count, 0, window.high);
  return fits ? std::optional(window) : std::nullopt;
}

Tensor graph::convolve(const Tensor &x, const Tensor &filter, const Tensor &bias, const Steps &steps, int64_t groups) {
  Tensor result = apply({x, filter}, [&](GraphBuilder &b) -> Value {
    Ints sizes(std::max<int64_t>(filter.rank() - 2, 0));
    std::optional<tenon::Window> window = makeWindow(b, sizes, steps);
    return window ? b.convolve(x.getValue(), filter.getValue(), *window, groups) : Value();
  });
  if (!bias.getGraph())
    return result;
  return apply({result, bias}, [&](GraphBuilder &b) {
    return b.add(result.getValue(), b.alongAxis(bias.getValue(), 1, result.rank()));
  });
}

Tensor graph::maxPool(const Tensor &x, ArrayRef<int64_t> sizes, const Steps &steps) {
  return apply(x, [&](GraphBuilder &b) -> Value {
    std::optional<tenon::Window> window = makeWindow(b, sizes, steps);
    return window ? b.poolMax(x.getValue(), *window) : Value();
  });
}

Tensor graph::averagePool(const Tensor &x, ArrayRef<int64_t> sizes, const Steps &steps, bool countsPadding) {
  return apply(x, [&](GraphBuilder &b) -> Value {
    std::optional<tenon::Window> window = makeWindow(b, sizes, steps);
    return window ? b.poolAverage(x.getValue(), *window, /*ceil=*/false, countsPadding) : Value();
  });
}

/// Reshapes a vector with an element for each channel to run along dimension 1 of x.
static Tensor alongChannels(const Tensor &vector, const Tensor &x) {
  return apply({vector, x}, [&](GraphBuilder &b) { return b.alongAxis(vector.getValue(), 1, x.rank()); });
}

Tensor graph::batchNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, const Tensor &mean,
                        const Tensor &variance, double epsilon) {
  Tensor factor = scale * rsqrt(variance + epsilon);
  return x * alongChannels(factor, x) + alongChannels(bias - mean * factor, x);
}

Tensor graph::groupNorm(const Tensor &x, int64_t groups, const Tensor &scale, const Tensor &bias, double epsilon) {
  Dim channels = x.dim(1);
  if (Graph *graph = x.getGraph(); graph && (groups < 1 || !(channels % Dim(groups) == Dim(0)))) {
    graph->fail("cannot norm " + channels.toString() + " channels in " + Twine(groups) + " groups");
    return graph->missing();
  }
  Shape shape = x.shape(), flat{x.dim(0), groups, channels / Dim(std::max<int64_t>(groups, 1))};
  for (int64_t axis = 2; axis < x.rank(); ++axis)
    flat[2] = flat[2] * shape[axis];
  Tensor grouped = reshape(x, flat), centered = grouped - graph::mean(grouped, 2, /*keepdims=*/true);
  Tensor variance = graph::mean(centered * centered, 2, /*keepdims=*/true);
  return reshape(centered * rsqrt(variance + epsilon), shape) * alongChannels(scale, x) + alongChannels(bias, x);
}
