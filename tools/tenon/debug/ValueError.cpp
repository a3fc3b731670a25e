//===- ValueError.cpp - how far a value is off ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/ValueError.h"
#include "tools/tenon-run/Compare.h"
#include "tools/tenon-run/Element.h"
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

/// The distance of two elements: infinite where one is a number and the other is not, or infinity.
static double getDistance(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want)))
    return 0;
  double distance = std::abs(got - want);
  return std::isnan(distance) ? INFINITY : distance;
}

/// Beyond these numbers, which f64 can hold, a type has only infinity.
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

llvm::Expected<ValueError> debug::compareTensors(const CapturedTensor &got, const CapturedTensor &want) {
  ValueError result;
  result.isFloat = run::isFloat(got.dtype);
  if (got.dims != want.dims || result.isFloat != run::isFloat(want.dtype) ||
      (!result.isFloat && got.dtype != want.dtype)) {
    result.mismatch = got.describeType() + ", want " + want.describeType();
    return result;
  }
  auto gotElements = got.readElements();
  if (!gotElements)
    return gotElements.takeError();
  auto wantElements = want.readElements();
  if (!wantElements)
    return wantElements.takeError();
  const char *x = (*gotElements)->getBufferStart(), *y = (*wantElements)->getBufferStart();
  result.count = got.getCount();
  double largest = 0, limit = getLargestFinite(got.dtype);
  for (uint64_t i = 0, e = result.count * run::partsOf(got.dtype); i < e; ++i) {
    double wanted = run::elementAt(want.dtype, y, i);
    if (std::abs(wanted) > limit)
      wanted = std::copysign(INFINITY, wanted);
    double distance = getDistance(run::elementAt(got.dtype, x, i), wanted);
    if (std::isfinite(wanted))
      largest = std::max(largest, std::abs(wanted));
    result.differing += distance > 0;
    result.error = std::max(result.error, distance);
  }
  if (result.isFloat && result.error > 0)
    result.error = largest > 0 ? result.error / largest : INFINITY;
  return result;
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
