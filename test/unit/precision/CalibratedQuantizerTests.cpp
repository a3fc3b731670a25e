//===- CalibratedQuantizerTests.cpp ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/CalibratedQuantizer.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace tenon;

static constexpr GroupFormat kInt4{4, 32, false, true};

namespace {
/// A matrix, and vectors that products with it sum with.
struct Problem {
  int64_t rows, depth;
  std::vector<float> elements, restored;
  std::vector<double> moments;

  Problem(int64_t rows, int64_t depth, int64_t sources, unsigned seed = 1);

  void quantize(const GroupFormat &format, const CalibratedQuantizer *calibrated);
  /// The squared error of products.
  double getError(double damping = 0) const;
};
} // namespace

/// Vectors that mix a few sources are correlated, with as many features as `depth`.
Problem::Problem(int64_t rows, int64_t depth, int64_t sources, unsigned seed)
    : rows(rows), depth(depth), moments(depth * depth) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < rows * depth; ++i)
    elements.push_back(static_cast<float>(normal(random)));
  std::vector<double> mix(depth * sources), x(depth);
  for (double &value : mix)
    value = normal(random);
  for (int64_t sample = 0; sample < 4 * depth; ++sample) {
    std::fill(x.begin(), x.end(), 0);
    for (int64_t source = 0; source < sources; ++source) {
      double z = normal(random);
      for (int64_t i = 0; i < depth; ++i)
        x[i] += z * mix[i * sources + source];
    }
    for (int64_t i = 0; i < depth; ++i)
      x[i] += 0.3 * normal(random);
    for (int64_t i = 0; i < depth; ++i)
      for (int64_t k = 0; k < depth; ++k)
        moments[i * depth + k] += x[i] * x[k];
  }
}

void Problem::quantize(const GroupFormat &format, const CalibratedQuantizer *calibrated) {
  FloatMatrix matrix{reinterpret_cast<const char *>(elements.data()), FloatKind::f32, rows, depth, depth, 1};
  int64_t groups = (depth + format.group - 1) / format.group;
  std::vector<char> numbers(rows * depth), scales(rows * groups * (format.hasF16Scales ? 2 : 4)), zeros(rows * groups);
  QuantizedStorage storage{numbers.data(), scales.data(), format.isAsymmetric ? zeros.data() : nullptr, groups, 1};
  QuantizationError error = quantizeRows(matrix, 0, rows, format, storage, calibrated);
  CHECK(error.isFinite);
  restored.resize(rows * depth);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < depth; ++i) {
      int64_t group = row * groups + i / format.group;
      char number = numbers[row * depth + i];
      int value = format.isSigned() ? static_cast<signed char>(number) : static_cast<unsigned char>(number);
      int zero = format.isAsymmetric ? static_cast<unsigned char>(zeros[group])
                 : format.isSigned() ? 0
                                     : 1 << (format.bits - 1);
      REQUIRE(value < (format.isSigned() ? 128 : 1 << format.bits));
      float scale = toFloat(format.hasF16Scales ? FloatKind::f16 : FloatKind::f32,
                            scales.data() + group * (format.hasF16Scales ? 2 : 4));
      restored[row * depth + i] = static_cast<float>(value - zero) * scale;
    }
}

double Problem::getError(double damping) const {
  double sum = 0, mean = 0;
  for (int64_t i = 0; i < depth; ++i)
    mean += moments[i * depth + i] / static_cast<double>(depth);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < depth; ++i)
      for (int64_t k = 0; k < depth; ++k) {
        double moment = moments[i * depth + k] + (i == k ? damping * mean : 0);
        sum += (double(elements[row * depth + i]) - restored[row * depth + i]) * moment *
               (double(elements[row * depth + k]) - restored[row * depth + k]);
      }
  return sum;
}

TEST_CASE("products with the inputs of a calibration are off by less") {
  for (GroupFormat format : {kInt4, GroupFormat{4, 32, true, true}, GroupFormat{4, 16, false, false},
                             GroupFormat{8, 32, false, true}, GroupFormat{8, 32, true, true}}) {
    Problem problem(70, 96, 12);
    problem.quantize(format, nullptr);
    double before = problem.getError();
    auto calibrated = CalibratedQuantizer::create(problem.moments, problem.depth);
    REQUIRE(calibrated);
    problem.quantize(format, calibrated.get());
    CHECK(problem.getError() < 0.35 * before);
  }
}

TEST_CASE("inputs that are independent leave nothing to make up for") {
  Problem problem(8, 64, 1);
  std::fill(problem.moments.begin(), problem.moments.end(), 0);
  for (int64_t i = 0; i < problem.depth; ++i)
    problem.moments[i * problem.depth + i] = 3;
  problem.quantize(kInt4, nullptr);
  double before = problem.getError();
  problem.quantize(kInt4, CalibratedQuantizer::create(problem.moments, problem.depth).get());
  CHECK(problem.getError() <= before * 1.0001);
}

TEST_CASE("no other number in the place of one is better") {
  Problem problem(4, 64, 6);
  auto calibrated = CalibratedQuantizer::create(problem.moments, problem.depth);
  std::vector<char> numbers(problem.elements.size());
  std::vector<GroupCode> codes(problem.rows * 2);
  calibrated->quantize(problem.elements, kInt4, codes, numbers);
  auto restore = [&] {
    problem.restored.resize(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const GroupCode &code = codes[i / 32];
      problem.restored[i] = code.scale * static_cast<float>(numbers[i] - code.zero);
    }
    return problem.getError(/*damping=*/0.01);
  };
  double best = restore();
  for (char &number : numbers)
    for (int step : {-1, 1}) {
      if (number + step < 0 || number + step > 15)
        continue;
      number = static_cast<char>(number + step);
      CHECK(restore() >= best * 0.999);
      number = static_cast<char>(number - step);
    }
}

TEST_CASE("inputs that say nothing are told from those that do") {
  std::vector<double> moments(16);
  CHECK_FALSE(CalibratedQuantizer::create(moments, 4));
  moments[5] = 2;
  CHECK(CalibratedQuantizer::create(moments, 4));
  moments[0] = std::numeric_limits<double>::infinity();
  CHECK_FALSE(CalibratedQuantizer::create(moments, 4));
  moments[0] = std::nan("");
  CHECK_FALSE(CalibratedQuantizer::create(moments, 4));
}

TEST_CASE("inputs may be few, dependent or 0") {
  // A single vector, of which half is 0.
  Problem problem(5, 40, 2);
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t k = 0; k < 40; ++k)
      problem.moments[i * 40 + k] = i < 20 && k < 20 ? 1e-3 * static_cast<double>((i + 1) * (k + 1)) : 0;
  for (GroupFormat format : {kInt4, GroupFormat{4, 40, false, false}, GroupFormat{8, 8, true, true}}) {
    problem.quantize(format, CalibratedQuantizer::create(problem.moments, 40).get());
    double squares = 0;
    for (size_t i = 0; i < problem.elements.size(); ++i) {
      CHECK(std::isfinite(problem.restored[i]));
      squares += std::pow(problem.elements[i] - problem.restored[i], 2);
    }
    // What is never read is still close.
    CHECK(squares < 0.2 * static_cast<double>(problem.elements.size()));
  }
}

TEST_CASE("rows are chosen for products with the inputs that the model had") {
  Problem problem(6, 64, 8);
  auto plain = CalibratedQuantizer::create(problem.moments, 64);
  problem.quantize(kInt4, plain.get());
  std::vector<float> before = problem.restored;
  auto same = CalibratedQuantizer::create(problem.moments, 64, problem.moments);
  problem.quantize(kInt4, same.get());
  double difference = 0;
  for (size_t i = 0; i < before.size(); ++i)
    difference += std::pow(before[i] - problem.restored[i], 2);
  CHECK(difference < 0.02 * static_cast<double>(before.size()));
  // Inputs x that are twice the y they were: rows become half of what they are.
  std::vector<double> cross = problem.moments;
  for (double &value : cross)
    value /= 2;
  problem.quantize(kInt4, CalibratedQuantizer::create(problem.moments, 64, cross).get());
  for (float &value : problem.restored)
    value *= 2;
  double off = problem.getError();
  problem.restored.assign(problem.restored.size(), 0);
  CHECK(off < 0.01 * problem.getError());
}

TEST_CASE("a matrix that is looked up in stays close itself") {
  Problem problem(32, 64, 4);
  auto getSquaredError = [&] {
    double sum = 0;
    for (size_t i = 0; i < problem.elements.size(); ++i)
      sum += std::pow(problem.elements[i] - problem.restored[i], 2);
    return sum;
  };
  problem.quantize(kInt4, CalibratedQuantizer::create(problem.moments, 64).get());
  double products = problem.getError(), elements = getSquaredError();
  problem.quantize(kInt4, CalibratedQuantizer::create(problem.moments, 64, {}, /*identity=*/1).get());
  CHECK(problem.getError() > products);
  CHECK(getSquaredError() < elements);
}
