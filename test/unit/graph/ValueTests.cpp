//===- ValueTests.cpp - what functions of a graph compute -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Graphs of constants are compiled and run, and compared with plain loops.
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "compiler/driver/Evaluate.h"
#include "compiler/graph/Elements.h"
#include "compiler/graph/Graph.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace tenon::graph;

namespace {

using Extents = std::vector<int64_t>;

int64_t count(const Extents &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// Numbers of some shape.
struct Array {
  Extents shape;
  std::vector<float> values;

  float at(const Extents &index) const {
    int64_t place = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      place = place * shape[i] + index[i];
    return values[place];
  }
};

struct Fixture {
  mlir::MLIRContext context{makeRegistry(), mlir::MLIRContext::Threading::DISABLED};
  Graph g{&context, "test"};
  std::mt19937 random{3};

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    tenon::registerDialects(registry);
    tenon::getBackendRegistry().registerDialects(registry);
    return registry;
  }
  int64_t choose(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  Array make(Extents shape, float low = -1) {
    Array array{shape, std::vector<float>(count(shape))};
    for (float &value : array.values)
      value = std::uniform_real_distribution<float>(low, 1)(random);
    return array;
  }
  Tensor put(const Array &array) { return g.weight("w" + std::to_string(weights++), array.shape, array.values); }

  /// The values of tensors, as doubles.
  std::vector<std::vector<double>> run(std::vector<Tensor> results) {
    for (auto [i, result] : llvm::enumerate(results))
      g.output("y" + std::to_string(i), result);
    mlir::OwningOpRef<mlir::ModuleOp> module = g.finish();
    REQUIRE(module);
    std::vector<std::vector<double>> values;
    for (mlir::ElementsAttr elements : tenon::evaluateConstants(*module)) {
      mlir::DenseElementsAttr dense = tenon::toDense(elements);
      auto &list = values.emplace_back();
      if (llvm::isa<mlir::FloatType>(dense.getElementType()))
        for (const llvm::APFloat &value : dense.getValues<llvm::APFloat>())
          list.push_back(value.convertToDouble());
      else
        for (const llvm::APInt &value : dense.getValues<llvm::APInt>())
          list.push_back(double(value.getSExtValue()));
    }
    REQUIRE(values.size() == results.size());
    return values;
  }

private:
  int weights = 0;
};

void checkClose(const std::vector<double> &got, const std::vector<double> &want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i)
    REQUIRE(got[i] == Approx(want[i]).margin(1e-5));
}

/// Extents of results, and places in the input, of a window.
struct Moves {
  int64_t size, stride, dilation, low, high;
  int64_t countResults(int64_t extent) const { return (extent + low + high - (size - 1) * dilation - 1) / stride + 1; }
  int64_t place(int64_t result, int64_t tap) const { return result * stride - low + tap * dilation; }
};

} // namespace

TEST_CASE_METHOD(Fixture, "a convolution of images, with groups, strides, dilations and padding") {
  for (int round = 0; round < 4; ++round) {
    int64_t groups = choose(1, 3), in = groups * choose(1, 5), out = groups * choose(1, 7), height = choose(7, 13),
            width = choose(7, 11);
    Moves rows{choose(1, 3), choose(1, 3), choose(1, 2), choose(0, 2), choose(0, 1)},
        columns{choose(1, 3), choose(1, 2), choose(1, 2), choose(0, 2), choose(0, 2)};
    Array x = make({2, in, height, width}), filter = make({out, in / groups, rows.size, columns.size}),
          bias = make({out});
    Graph own(&context, "round");
    auto leaf = [&](const char *name, const Array &a) { return own.weight(name, a.shape, a.values); };
    Tensor y = convolve(leaf("x", x), leaf("f", filter), leaf("b", bias),
                        {.strides = {rows.stride, columns.stride},
                         .dilations = {rows.dilation, columns.dilation},
                         .low = {rows.low, columns.low},
                         .high = {rows.high, columns.high}},
                        groups);
    std::vector<double> want;
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t o = 0; o < out; ++o)
        for (int64_t i = 0; i < rows.countResults(height); ++i)
          for (int64_t j = 0; j < columns.countResults(width); ++j) {
            double sum = bias.values[o];
            for (int64_t c = 0; c < in / groups; ++c)
              for (int64_t s = 0; s < rows.size; ++s)
                for (int64_t t = 0; t < columns.size; ++t) {
                  int64_t row = rows.place(i, s), column = columns.place(j, t);
                  if (row >= 0 && row < height && column >= 0 && column < width)
                    sum += double(x.at({n, o / (out / groups) * (in / groups) + c, row, column})) *
                           filter.at({o, c, s, t});
                }
            want.push_back(sum);
          }
    own.output("y", y);
    mlir::OwningOpRef<mlir::ModuleOp> module = own.finish();
    REQUIRE(module);
    auto results = tenon::evaluateConstants(*module);
    REQUIRE(results.size() == 1);
    std::vector<double> got;
    for (float value : tenon::toDense(results[0]).getValues<float>())
      got.push_back(value);
    checkClose(got, want);
  }
}

TEST_CASE_METHOD(Fixture, "pooling counts what is there, and padding where it is asked to") {
  Array x = make({1, 3, 11});
  Moves moves{3, 2, 1, 1, 1};
  Steps steps{.strides = {2}, .low = {1}};
  auto results = run({maxPool(put(x), 3, steps), averagePool(put(x), 3, steps), averagePool(put(x), 3, steps, true)});
  std::vector<double> largest, mean, all;
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t i = 0; i < moves.countResults(11); ++i) {
      double most = -INFINITY, sum = 0, seen = 0;
      for (int64_t t = 0; t < 3; ++t)
        if (int64_t place = moves.place(i, t); place >= 0 && place < 11) {
          most = std::max<double>(most, x.at({0, c, place}));
          sum += x.at({0, c, place});
          ++seen;
        }
      largest.push_back(most);
      mean.push_back(sum / seen);
      all.push_back(sum / 3);
    }
  checkClose(results[0], largest);
  checkClose(results[1], mean);
  checkClose(results[2], all);
}

TEST_CASE_METHOD(Fixture, "norms of batches and of groups of channels") {
  Array x = make({2, 6, 5}), scale = make({6}), bias = make({6}), mean = make({6}), variance = make({6}, 0.1f);
  Tensor image = put(x), s = put(scale), b = put(bias);
  auto results = run({batchNorm(image, s, b, put(mean), put(variance), 1e-3), groupNorm(image, 2, s, b, 1e-3)});
  std::vector<double> batch, group;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 6; ++c) {
      double sum = 0, squares = 0;
      for (int64_t other = c / 3 * 3; other < c / 3 * 3 + 3; ++other)
        for (int64_t i = 0; i < 5; ++i)
          sum += x.at({n, other, i}) / 15.0;
      for (int64_t other = c / 3 * 3; other < c / 3 * 3 + 3; ++other)
        for (int64_t i = 0; i < 5; ++i)
          squares += std::pow(x.at({n, other, i}) - sum, 2) / 15.0;
      for (int64_t i = 0; i < 5; ++i) {
        batch.push_back((x.at({n, c, i}) - mean.values[c]) / std::sqrt(variance.values[c] + 1e-3) * scale.values[c] +
                        bias.values[c]);
        group.push_back((x.at({n, c, i}) - sum) / std::sqrt(squares + 1e-3) * scale.values[c] + bias.values[c]);
      }
    }
  checkClose(results[0], batch);
  checkClose(results[1], group);
}

TEST_CASE_METHOD(Fixture, "brackets take elements, slices and what integers say") {
  Array x = make({5, 7, 3});
  Tensor t = put(x), places = cast(g.vector({4, 0, 4}), DType::i64);
  auto results = run({t[{1}], t[{-1, Slice{2, -1, 2}}], t[{Slice{}, 6, Slice{1}}], t[{places, Slice{}, 2}],
                      t[{Slice{3, 3}}], argMax(t, 1), topK(t, 2, 0).first, topK(t, 2, 0).second});
  std::vector<double> first, odd, rest, gathered, best, top, topPlaces;
  for (int64_t j = 0; j < 7; ++j)
    for (int64_t k = 0; k < 3; ++k)
      first.push_back(x.at({1, j, k}));
  for (int64_t j : {2, 4})
    for (int64_t k = 0; k < 3; ++k)
      odd.push_back(x.at({4, j, k}));
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t k = 1; k < 3; ++k)
      rest.push_back(x.at({i, 6, k}));
  for (int64_t i : {4, 0, 4})
    for (int64_t j = 0; j < 7; ++j)
      gathered.push_back(x.at({i, j, 2}));
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t k = 0; k < 3; ++k) {
      int64_t place = 0;
      for (int64_t j = 1; j < 7; ++j)
        place = x.at({i, j, k}) > x.at({i, place, k}) ? j : place;
      best.push_back(double(place));
    }
  for (int64_t rank = 0; rank < 2; ++rank)
    for (int64_t j = 0; j < 7; ++j)
      for (int64_t k = 0; k < 3; ++k) {
        std::vector<std::pair<float, int64_t>> column;
        for (int64_t i = 0; i < 5; ++i)
          column.push_back({-x.at({i, j, k}), i});
        std::sort(column.begin(), column.end());
        top.push_back(-column[rank].first);
        topPlaces.push_back(double(column[rank].second));
      }
  for (auto [got, want] : {std::pair(&results[0], &first),
                           {&results[1], &odd},
                           {&results[2], &rest},
                           {&results[3], &gathered},
                           {&results[5], &best},
                           {&results[6], &top},
                           {&results[7], &topPlaces}})
    checkClose(*got, *want);
  CHECK(results[4].empty());
}

TEST_CASE_METHOD(Fixture, "attention whose scores are capped, and numbers of few bits") {
  Array q = make({1, 2, 3, 4}), k = make({1, 2, 5, 4}), v = make({1, 2, 5, 4});
  auto bytes = tenon::makeUnpackedElements(
      mlir::RankedTensorType::get({2, 4}, mlir::IntegerType::get(&context, 4, mlir::IntegerType::Unsigned)),
      {0, 1, 2, 15, 8, 9, 3, 4}, "numbers");
  Array scale{{2, 2}, {0.5f, 2, 0.25f, 1}}, zero{{1, 1}, {3}};
  auto results = run({attention(put(q), put(k), put(v), 3, {}, 0.5),
                      dequantize(g.weight("numbers", bytes), put(scale), cast(put(zero), DType::u8), 1, 2)});
  std::vector<double> want;
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = 0; i < 3; ++i) {
      std::vector<double> weights;
      for (int64_t j = 0; j < 5; ++j) {
        double score = 0;
        for (int64_t d = 0; d < 4; ++d)
          score += q.at({0, h, i, d}) * k.at({0, h, j, d});
        weights.push_back(std::exp(0.5 * std::tanh(score * 3 / 0.5)));
      }
      double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (int64_t d = 0; d < 4; ++d) {
        double mixed = 0;
        for (int64_t j = 0; j < 5; ++j)
          mixed += weights[j] / sum * v.at({0, h, j, d});
        want.push_back(mixed);
      }
    }
  checkClose(results[0], want);
  checkClose(results[1], {-1.5, -1, -2, 24, 1.25, 1.5, 0, 1});
}
