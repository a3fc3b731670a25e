//===- CalibratedQuantizer.cpp - a matrix quantized for the inputs that it gets ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/CalibratedQuantizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cassert>
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace tenon;

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using WideMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct CalibratedQuantizer::Hessian {
  int64_t depth;
  std::vector<int64_t> order;    ///< of rounding: the columns by decreasing diagonal
  Matrix matrix;                 ///< divided by the mean of its diagonal, and damped
  Matrix factor;                 ///< in that order: the upper U of U^T U, the inverse of `matrix`
  std::vector<float> importance; ///< the diagonal of `matrix`
  Matrix target;                 ///< rows times it are what is quantized; empty: the rows
};

/// The upper U of U^T U, the inverse of `matrix`; empty where that is not positive definite.
static WideMatrix factorInverse(const WideMatrix &matrix) {
  // With its rows and columns reversed, the lower factor of a matrix is an upper one, R of R R^T; U is its inverse.
  Eigen::LLT<WideMatrix> reversed(matrix.reverse());
  if (reversed.info() != Eigen::Success)
    return {};
  WideMatrix upper = WideMatrix(reversed.matrixL()).reverse();
  return upper.triangularView<Eigen::Upper>().solve(WideMatrix::Identity(matrix.rows(), matrix.cols()));
}

std::unique_ptr<CalibratedQuantizer> CalibratedQuantizer::create(ArrayRef<double> moments, int64_t depth,
                                                                 ArrayRef<double> cross, double identity) {
  assert(moments.size() == static_cast<size_t>(depth * depth) && "moments are those of pairs of elements");
  WideMatrix wide = Eigen::Map<const WideMatrix>(moments.data(), depth, depth);
  double mean = wide.diagonal().mean();
  if (!wide.allFinite() || !(mean > 0) || !std::isnormal(mean))
    return nullptr;
  wide /= mean;
  wide.diagonal().array() += identity;
  auto hessian = std::make_unique<Hessian>();
  hessian->depth = depth;
  hessian->order.resize(depth);
  std::iota(hessian->order.begin(), hessian->order.end(), 0);
  stable_sort(hessian->order, [&](int64_t a, int64_t b) { return wide(a, a) > wide(b, b); });
  // Inputs that are linearly dependent have no inverse without it; a part of the mean is what the paper adds.
  constexpr double kFirstDamping = 0.01, kMaxDamping = 1; // math: shares of the mean
  WideMatrix factor, damped;
  double used = 0;
  for (double damping = kFirstDamping; damping <= kMaxDamping && factor.size() == 0; damping *= 10) {
    used = identity + damping;
    damped = wide;
    damped.diagonal().array() += damping;
    hessian->matrix = damped.cast<float>();
    factor = factorInverse(damped(hessian->order, hessian->order));
  }
  if (factor.size() == 0 || !factor.allFinite())
    return nullptr;
  hessian->factor = factor.cast<float>();
  if (!cross.empty()) {
    WideMatrix both = Eigen::Map<const WideMatrix>(cross.data(), depth, depth) / mean;
    if (!both.allFinite())
      return nullptr;
    // With what both are damped by, inputs that say little leave a row as it is.
    both.diagonal().array() += used;
    hessian->target = damped.llt().solve(both.transpose()).transpose().cast<float>();
  }
  for (int64_t i = 0; i < depth; ++i)
    hessian->importance.push_back(hessian->matrix(i, i));
  return std::unique_ptr<CalibratedQuantizer>(new CalibratedQuantizer(std::move(hessian)));
}

CalibratedQuantizer::CalibratedQuantizer(std::unique_ptr<Hessian> hessian) : hessian(std::move(hessian)) {}
CalibratedQuantizer::~CalibratedQuantizer() = default;

namespace {
/// Rows that are being quantized.
class Rows {
public:
  Rows(const CalibratedQuantizer::Hessian &hessian, ArrayRef<float> elements, const GroupFormat &format,
       MutableArrayRef<GroupCode> codes)
      : hessian(hessian), format(format), depth(hessian.depth), count(static_cast<int64_t>(elements.size()) / depth),
        groups(static_cast<int64_t>(divideCeil(depth, format.group))), codes(codes),
        elements(Eigen::Map<const Matrix>(elements.data(), count, depth)), numbers(count, depth) {
    if (hessian.target.size() > 0)
      this->elements = this->elements * hessian.target;
    assert(codes.size() == static_cast<size_t>(count * groups) && "each group has a code");
  }

  void chooseCodes();
  void roundInOrder();
  void descend();
  void store(MutableArrayRef<char> stored) const;
  QuantizationError measure();

private:
  GroupCode &getCode(int64_t row, int64_t i) { return codes[row * groups + i / format.group]; }
  float round(int64_t row, int64_t i, float value);
  Matrix getErrors();
  bool refitScales(int64_t row, float *slope);
  bool moveNumbers(int64_t row, float *slope);

  const CalibratedQuantizer::Hessian &hessian;
  const GroupFormat &format;
  int64_t depth, count, groups;
  MutableArrayRef<GroupCode> codes;
  Matrix elements;
  Matrix numbers; ///< less their zero points
};
} // namespace

void Rows::chooseCodes() {
  for (int64_t row = 0; row < count; ++row)
    for (int64_t start = 0; start < depth; start += format.group) {
      size_t length = static_cast<size_t>(std::min(format.group, depth - start));
      ArrayRef<float> own(&elements(row, start), length);
      getCode(row, start) = chooseCode(own, ArrayRef(hessian.importance).slice(start, length), format);
    }
}

/// The number that `value` becomes in the place of an element.
float Rows::round(int64_t row, int64_t i, float value) {
  const GroupCode &code = getCode(row, i);
  return code.scale == 0 ? 0 : getNumberRange(format, code).round(value / code.scale);
}

void Rows::roundInOrder() {
  constexpr int64_t kBlock = 128; // limit: columns whose errors reach those behind them as one product
  Matrix rest = elements(Eigen::all, hessian.order), errors(count, kBlock);
  for (int64_t begin = 0; begin < depth; begin += kBlock) {
    int64_t end = std::min(begin + kBlock, depth);
    for (int64_t row = 0; row < count; ++row)
      for (int64_t i = begin; i < end; ++i) {
        int64_t column = hessian.order[i];
        float number = round(row, column, rest(row, i));
        numbers(row, column) = number;
        float error = (rest(row, i) - number * getCode(row, column).scale) / hessian.factor(i, i);
        errors(row, i - begin) = error;
        rest.row(row).segment(i + 1, end - i - 1) -= error * hessian.factor.row(i).segment(i + 1, end - i - 1);
      }
    rest.rightCols(depth - end).noalias() -=
        errors.leftCols(end - begin) * hessian.factor.block(begin, end, end - begin, depth - end);
  }
}

/// What elements are off by.
Matrix Rows::getErrors() {
  Matrix errors(count, depth);
  for (int64_t row = 0; row < count; ++row)
    for (int64_t i = 0; i < depth; ++i)
      errors(row, i) = elements(row, i) - numbers(row, i) * getCode(row, i).scale;
  return errors;
}

using Slope = Eigen::Map<Eigen::RowVectorXf>;

/// Gives each group of a row the scale that is best for its numbers. `slope` is the product of the row's errors and the
/// Hessian, before and after. Returns whether that changed any.
bool Rows::refitScales(int64_t row, float *slope) {
  bool isChanged = false;
  for (int64_t start = 0; start < depth; start += format.group) {
    int64_t length = std::min(format.group, depth - start);
    GroupCode &code = getCode(row, start);
    auto own = numbers.row(row).segment(start, length);
    float square = own.dot(own * hessian.matrix.block(start, start, length, length));
    if (code.scale == 0 || !(square > 0))
      continue;
    float best = code.scale + Slope(slope + start, length).dot(own) / square;
    float rounded = roundScale(best, format), step = rounded - code.scale;
    // Rounding may undo the gain, and a scale that f16 does not have is worse than a good one.
    if (!(std::abs(rounded - best) < std::abs(code.scale - best)) || rounded == 0 ||
        (format.hasF16Scales && !fitsF16(rounded)))
      continue;
    code.scale = rounded;
    Slope(slope, depth).noalias() -= step * (own * hessian.matrix.middleRows(start, length));
    isChanged = true;
  }
  return isChanged;
}

/// Gives each element of a row the number that is best with all others as they are.
bool Rows::moveNumbers(int64_t row, float *slope) {
  bool isChanged = false;
  for (int64_t i = 0; i < depth; ++i) {
    const GroupCode &code = getCode(row, i);
    float wanted = numbers(row, i) * code.scale + slope[i] / hessian.matrix(i, i);
    float number = round(row, i, wanted), step = (number - numbers(row, i)) * code.scale;
    if (step == 0)
      continue;
    numbers(row, i) = number;
    Slope(slope, depth).noalias() -= step * hessian.matrix.row(i);
    isChanged = true;
  }
  return isChanged;
}

void Rows::descend() {
  constexpr int kSweeps = 8; // limit: of effort; most rows rest before
  Matrix slopes = getErrors() * hessian.matrix;
  for (int64_t row = 0; row < count; ++row)
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      bool isRefitted = refitScales(row, slopes.row(row).data());
      if (!moveNumbers(row, slopes.row(row).data()) && !isRefitted)
        break;
    }
}

void Rows::store(MutableArrayRef<char> stored) const {
  for (int64_t row = 0; row < count; ++row)
    for (int64_t i = 0; i < depth; ++i) {
      int32_t zero = codes[row * groups + i / format.group].zero;
      stored[row * depth + i] = static_cast<char>(static_cast<int32_t>(numbers(row, i)) + zero);
    }
}

QuantizationError Rows::measure() {
  auto sum = [&](const Matrix &rows) { return (rows * hessian.matrix).cwiseProduct(rows).cast<double>().sum(); };
  QuantizationError error;
  error.squaredOutputError = sum(getErrors());
  error.outputSquares = sum(elements);
  return error;
}

QuantizationError CalibratedQuantizer::quantize(ArrayRef<float> elements, const GroupFormat &format,
                                                MutableArrayRef<GroupCode> codes, MutableArrayRef<char> numbers) const {
  Rows rows(*hessian, elements, format, codes);
  rows.chooseCodes();
  rows.roundInOrder();
  rows.descend();
  rows.store(numbers);
  return rows.measure();
}
