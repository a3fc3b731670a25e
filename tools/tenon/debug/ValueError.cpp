//===- ValueError.cpp - how far a value is off ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/ValueError.h"
#include "tools/tenon-run/Compare.h"
#include "tools/tenon-run/Element.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::debug;

std::string ValueError::describe() const {
  if (!mismatch.empty())
    return mismatch;
  if (!isFloat && differing)
    return run::format("%llu of %llu differ", static_cast<unsigned long long>(differing),
                       static_cast<unsigned long long>(count));
  return error == 0 ? "0" : run::format("%.1e", error);
}

/// Returns the distance of two elements: infinite if only one is a number, or infinity.
static double getDistance(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want)))
    return 0;
  double distance = std::abs(got - want);
  return std::isnan(distance) ? INFINITY : distance;
}

/// Returns the largest finite number of a type; f64 values beyond it are infinity in that type.
static double getLargestFinite(tenon_dtype dtype) {
  switch (dtype) {
  case TENON_F32:
  case TENON_C64:
    return std::numeric_limits<float>::max();
  case TENON_F16:
    return 65504;
  case TENON_BF16:
    return 0x1.fep127;
  default:
    return INFINITY;
  }
}

/// Returns the numbers of a tensor, where those beyond `limit` become infinite.
static llvm::Expected<std::vector<double>> readNumbers(const CapturedTensor &tensor, double limit) {
  auto elements = tensor.readElements();
  if (!elements)
    return elements.takeError();
  std::vector<double> numbers(tensor.getCount() * run::partsOf(tensor.dtype));
  for (size_t i = 0; i < numbers.size(); ++i) {
    double number = run::elementAt(tensor.dtype, (*elements)->getBufferStart(), i);
    numbers[i] = std::abs(number) > limit ? std::copysign(INFINITY, number) : number;
  }
  return numbers;
}

/// Compares numbers one by one.
static ValueError compareNumbers(llvm::ArrayRef<double> got, llvm::ArrayRef<double> want, tenon_dtype dtype) {
  ValueError result;
  result.isFloat = run::isFloat(dtype);
  result.count = got.size() / run::partsOf(dtype);
  double largest = 0;
  for (auto [number, wanted] : llvm::zip_equal(got, want)) {
    double distance = getDistance(number, wanted);
    if (std::isfinite(wanted))
      largest = std::max(largest, std::abs(wanted));
    result.differing += distance > 0;
    result.error = std::max(result.error, distance);
  }
  if (result.isFloat && result.error > 0)
    result.error = largest > 0 ? result.error / largest : INFINITY;
  return result;
}

/// The numbers of both tensors.
static llvm::Expected<std::pair<std::vector<double>, std::vector<double>>> readBoth(const CapturedTensor &got,
                                                                                    const CapturedTensor &want) {
  llvm::Expected<std::vector<double>> x = readNumbers(got, INFINITY),
                                      y = readNumbers(want, getLargestFinite(got.dtype));
  if (llvm::Error error = llvm::joinErrors(x.takeError(), y.takeError()))
    return error;
  return std::pair(std::move(*x), std::move(*y));
}

/// True if the numbers of both can be compared.
static bool haveLikeTypes(const CapturedTensor &got, const CapturedTensor &want) {
  return got.dtype == want.dtype || (run::isFloat(got.dtype) && run::isFloat(want.dtype));
}

static ValueError refuse(const CapturedTensor &got, const CapturedTensor &want) {
  ValueError result;
  result.mismatch = got.describeType() + ", want " + want.describeType();
  return result;
}

llvm::Expected<ValueError> debug::compareTensors(const CapturedTensor &got, const CapturedTensor &want) {
  llvm::Expected<std::vector<ValueError>> whole = compareParts(got, want, 0);
  if (!whole)
    return whole.takeError();
  return whole->front();
}

llvm::Expected<std::vector<ValueError>> debug::compareParts(const CapturedTensor &got, const CapturedTensor &want,
                                                            size_t numDims) {
  assert(numDims <= got.dims.size() && "a part has what other dimensions count");
  if (got.dims != want.dims || !haveLikeTypes(got, want))
    return std::vector{refuse(got, want)};
  auto numbers = readBoth(got, want);
  if (!numbers)
    return numbers.takeError();
  auto &[x, y] = *numbers;
  assert(x.size() == y.size() && "tensors of one shape have as many numbers");
  int64_t count = 1;
  for (int64_t dim : llvm::ArrayRef(got.dims).take_front(numDims))
    count *= dim;
  std::vector<ValueError> parts;
  for (int64_t i = 0; i < count; ++i) {
    size_t size = x.size() / count;
    parts.push_back(
        compareNumbers(llvm::ArrayRef(x).slice(i * size, size), llvm::ArrayRef(y).slice(i * size, size), got.dtype));
  }
  return parts;
}

llvm::Expected<ValueError> debug::compareElements(const CapturedTensor &got, const CapturedTensor &want) {
  if (got.getCount() != want.getCount() || !haveLikeTypes(got, want))
    return refuse(got, want);
  auto numbers = readBoth(got, want);
  if (!numbers)
    return numbers.takeError();
  auto &[x, y] = *numbers;
  // NaN comes last, so that the order is one.
  auto isLess = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? !std::isnan(a) && std::isnan(b) : a < b;
  };
  llvm::sort(x, isLess);
  llvm::sort(y, isLess);
  return compareNumbers(x, y, got.dtype);
}

double ErrorLimit::getAllowed(tenon_dtype dtype) const {
  if (!run::isFloat(dtype))
    return dtype == TENON_I8 || dtype == TENON_U8 ? 1 : 0;
  if (maxError)
    return *maxError;
  run::Tolerance rounded;
  rounded.ofLargest = tolerance;
  bool isWide = dtype == TENON_F32 || dtype == TENON_F64;
  return isExact && isWide ? tolerance : run::getAllowedError(dtype, rounded);
}

bool ErrorLimit::allows(const ValueError &value, tenon_dtype dtype) const {
  return value.mismatch.empty() && value.error <= getAllowed(dtype);
}
