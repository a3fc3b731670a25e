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

TEST_CASE_METHOD(Fixture, "one branch happens, which may use tensors from around it and branch itself") {
  Array x = make({2, 3}), y = make({2, 3});
  Tensor a = put(x), b = put(y), outer = a * b;
  auto sign = [&](const Tensor &z) { return sum(z, {0, 1}) > 0; };
  // Weights are made in the branches, too.
  auto choose = [&](double first, double second) {
    return cond(
        g.scalar(first) > 0,
        [&] {
          Tensor shifted = outer + g.scalar(1);
          return cond(g.scalar(second) > 0, [&] { return shifted * 2; }, [&] { return shifted - a; });
        },
        [&] { return outer; });
  };
  auto numbered = [&](double index) {
    return match(g.scalar(index, DType::i64), {[&] { return a; }, [&] { return a + 1; }, [&] { return a + 2; },
                                               [&] { return a + 3; }, [&] { return a + 4; }});
  };
  Tensors pair = cond(sign(a) | !sign(a), [&]() -> Tensors { return {a, b}; }, [&]() -> Tensors { return {b, a}; });
  auto results = run({choose(1, 1), choose(1, -1), choose(-1, 1), numbered(-3), numbered(1), numbered(3), numbered(9),
                      pair[0], pair[1]});
  std::vector<double> wanted[9];
  for (size_t i = 0; i < x.values.size(); ++i) {
    double p = double(x.values[i]) * y.values[i], q = x.values[i];
    double numbers[] = {(p + 1) * 2, p + 1 - q, p, q, q + 1, q + 3, q + 4, q, y.values[i]};
    for (size_t k = 0; k < 9; ++k)
      wanted[k].push_back(numbers[k]);
  }
  for (size_t k = 0; k < 9; ++k)
    checkClose(results[k], wanted[k]);
}

TEST_CASE_METHOD(Fixture, "loops of no, some and as many trips as a condition allows") {
  Array x = make({3}, 0.5f);
  Tensor a = put(x), one = g.scalar(1), none = g.scalar(0, DType::i64);
  auto add = [&](const Tensor &number, llvm::ArrayRef<Tensor> c) -> Tensors {
    return {c[0] + a * cast(number, DType::f32), c[1] * 2};
  };
  auto isSmall = [](llvm::ArrayRef<Tensor> c) { return c[1] < 20; };
  auto isNever = [](llvm::ArrayRef<Tensor> c) { return c[1] < 0; };
  std::vector<Tensors> loops{loop(0, {a, one}, add),
                             loop(none - 2, {a, one}, add),
                             loopWhile(isNever, {a, one}, add),
                             loop(5, isNever, {a, one}, add),
                             loop(4, {a, one}, add),
                             loop(none + 4, {a, one}, add),
                             loopWhile(isSmall, {a, one}, add),
                             loop(3, isSmall, {a, one}, add),
                             loop(9, isSmall, {a, one}, add)};
  std::vector<Tensor> flat;
  for (const Tensors &pair : loops)
    flat.insert(flat.end(), pair.begin(), pair.end());
  auto results = run(flat);
  int trips[] = {0, 0, 0, 0, 4, 4, 5, 3, 5};
  for (size_t i = 0; i < loops.size(); ++i) {
    std::vector<double> want;
    for (float value : x.values)
      want.push_back(value * (1 + trips[i] * (trips[i] - 1) / 2.0));
    checkClose(results[2 * i], want);
    checkClose(results[2 * i + 1], {std::pow(2, trips[i])});
  }
}

TEST_CASE_METHOD(Fixture, "a loop in a loop, with a branch that uses tensors of both") {
  Array x = make({4});
  Tensor a = put(x);
  auto outer = [&](const Tensor &i, llvm::ArrayRef<Tensor> sums) {
    Tensor scaled = a * cast(i + 1, DType::f32);
    return loop(i, sums, [&](const Tensor &j, llvm::ArrayRef<Tensor> inner) -> Tensors {
      return {cond(j == 1, [&] { return inner[0] + scaled; }, [&] { return inner[0] - 1; })};
    });
  };
  auto results = run({loop(4, {g.vector({0, 0, 0, 0})}, outer)[0]});
  std::vector<double> want(4, 0);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j)
      for (size_t k = 0; k < 4; ++k)
        want[k] += j == 1 ? double(x.values[k]) * (i + 1) : -1;
  checkClose(results[0], want);
}

TEST_CASE_METHOD(Fixture, "random numbers have their distribution, and follow from a seed") {
  constexpr int64_t size = 20000;
  auto results = run({g.randomUniform({size}, -1, 3), g.randomUniform({size}), g.randomNormal({size}, 2, 3),
                      g.randomUniform({size}, 0, 1, DType::f64, 5), g.randomUniform({size}, 0, 1, DType::f64, 5),
                      g.randomUniform({size}, 0, 1, DType::f64, 6), g.randomNormal({size}, 0, 1, DType::bf16, 6)});
  auto getMoments = [](const std::vector<double> &values) {
    double mean = std::accumulate(values.begin(), values.end(), 0.0) / size, squares = 0;
    for (double value : values)
      squares += (value - mean) * (value - mean) / size;
    return std::pair(mean, std::sqrt(squares));
  };
  double wanted[][2] = {{1, 4 / std::sqrt(12)},   {0.5, 1 / std::sqrt(12)}, {2, 3}, {0.5, 1 / std::sqrt(12)},
                        {0.5, 1 / std::sqrt(12)}, {0.5, 1 / std::sqrt(12)}, {0, 1}};
  for (size_t i = 0; i < 7; ++i) {
    auto [mean, deviation] = getMoments(results[i]);
    CHECK(mean == Approx(wanted[i][0]).margin(0.1));
    CHECK(deviation == Approx(wanted[i][1]).margin(0.1));
  }
  auto [low, high] = std::minmax_element(results[0].begin(), results[0].end());
  CHECK(*low >= -1);
  CHECK(*high <= 3);
  CHECK(results[3] == results[4]);
  CHECK(results[3] != results[5]);
  // Both are uniform numbers of the run's seed, of different streams.
  CHECK((results[0][0] + 1) / 4 != Approx(results[1][0]));
}

TEST_CASE_METHOD(Fixture, "losses of labels, some of which are ignored, and of numbers") {
  Array x = make({3, 4, 2}), y = make({3, 4, 2});
  std::vector<double> labels{0, 3, -1, 2, 1, 1};
  Tensor logits = put(x), classes = reshape(cast(g.vector(labels), DType::i64), {3, 2});
  Tensor valid = reshape(maximum(g.vector(labels), g.scalar(0)), {3, 2});
  Tensors losses{crossEntropyLoss(logits, classes, Reduction::none, -1),
                 crossEntropyLoss(logits, classes, Reduction::mean, -1),
                 crossEntropyLoss(logits, classes, Reduction::sum, -1),
                 crossEntropyLoss(logits, cast(valid, DType::i32)),
                 mseLoss(logits, put(y), Reduction::none),
                 mseLoss(logits, put(y)),
                 mseLoss(logits, put(y), Reduction::sum)};
  auto results = run({losses.begin(), losses.end()});
  std::vector<double> each, squares;
  double all = 0, sum = 0;
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t i = 0; i < 2; ++i) {
      double total = 0, label = labels[n * 2 + i];
      for (int64_t c = 0; c < 4; ++c)
        total += std::exp(double(x.at({n, c, i})));
      double loss = std::log(total) - x.at({n, std::max<int64_t>(int64_t(label), 0), i});
      all += loss;
      each.push_back(label < 0 ? 0 : loss);
      sum += each.back();
    }
  double square = 0;
  for (size_t i = 0; i < x.values.size(); ++i) {
    squares.push_back(std::pow(double(x.values[i]) - y.values[i], 2));
    square += squares.back();
  }
  checkClose(results[0], each);
  checkClose(results[1], {sum / 5});
  checkClose(results[2], {sum});
  checkClose(results[3], {all / 6});
  checkClose(results[4], squares);
  checkClose(results[5], {square / 24});
  checkClose(results[6], {square});
}

TEST_CASE_METHOD(Fixture, "numbers of a key, elements in other places, and what is drawn of weights") {
  constexpr int64_t size = 40;
  auto key = [&](double number) { return g.scalar(number, DType::i64); };
  Tensor x = g.weight("x", {2, 4}, {1, 2, NAN, 4, 5, 6, 7, 8});
  Tensor places = cast(g.weight("places", {2, 2}, {3, 0, 1, 1}), DType::i64),
         updates = g.weight("updates", {2, 2}, {-1, -2, -3, -3});
  Tensor filters = g.weight("filters", {2, 3}, {0, 0, 0, 1, 0, 0}), uniform = g.weight("uniform", {2}, {0.5, 0.9});
  Tensor weights = g.weight("weights", {2, 4}, {1, 1, 0, 2, 3, 1, 2, 1});
  auto results = run({g.randomUniform({size}, key(5)), g.randomUniform({size}, key(5)), g.randomUniform({size}, key(6)),
                      cast(isNaN(x), DType::f32), scatter(x, places, updates, 1), scatter(x, places, updates, -1),
                      cast(key(12) ^ key(10), DType::f32), sample(weights, filters, uniform)});
  CHECK(results[0] == results[1]);
  CHECK(results[0] != results[2]);
  for (double number : results[0])
    CHECK((number >= 0 && number < 1));
  CHECK(results[3] == std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0});
  results[4][2] = results[5][2] = 0;
  CHECK(results[4] == std::vector<double>{-2, 2, 0, -1, 5, -3, 7, 8});
  CHECK(results[4] == results[5]);
  CHECK(results[6] == std::vector<double>{6});
  CHECK(results[7] == std::vector<double>{3, 0});
}
