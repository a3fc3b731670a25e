//===- Compare.cpp - got against wanted ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Compare.h"

#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/Json.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tenon::run {

static bool sameShape(const tenon_tensor &a, const tenon_tensor &b) {
  if (a.rank != b.rank)
    return false;
  for (uint32_t d = 0; d < a.rank; ++d)
    if (a.dims[d] != b.dims[d])
      return false;
  return true;
}

/// Returns the distance of two numbers: 0 if they count as equal, NaN if only one is NaN.
static double distance(double got, double want) {
  if (std::isnan(got) && std::isnan(want))
    return 0;
  if (got == want)
    return 0;
  if (!std::isfinite(got) || !std::isfinite(want))
    return NAN;
  return std::fabs(got - want);
}

/// 64-bit integers that differ may be equal as doubles.
static bool differAsWords(tenon_dtype dtype, const void *got, const void *want, uint64_t index) {
  if (dtype != TENON_I64 && dtype != TENON_U64)
    return false;
  return memcmp(static_cast<const uint8_t *>(got) + index * 8, static_cast<const uint8_t *>(want) + index * 8, 8) != 0;
}

static std::string valueText(tenon_dtype dtype, const void *data, uint64_t index) {
  if (dtype == TENON_I64 || dtype == TENON_U64) {
    int64_t value;
    memcpy(&value, static_cast<const uint8_t *>(data) + index * 8, 8);
    return dtype == TENON_I64 ? std::to_string(value) : std::to_string(uint64_t(value));
  }
  return format("%.9g", elementAt(dtype, data, index));
}

static Status compareTypes(const char *name, const tenon_tensor &got, const tenon_tensor &want) {
  if (got.dtype == want.dtype && sameShape(got, want))
    return {};
  return Status::make(kMismatch, "output '%s' is %s, want %s", name, typeText(got.dtype, got.dims, got.rank).c_str(),
                      typeText(want.dtype, want.dims, want.rank).c_str());
}

double getAllowedError(tenon_dtype dtype, const Tolerance &tolerance) {
  double rounding = 0.125;
  switch (dtype) {
  case TENON_F64:
  case TENON_C128:
    rounding = 0;
    break;
  case TENON_F32:
  case TENON_C64:
    rounding = 1e-4;
    break;
  case TENON_F16:
    rounding = 1e-2;
    break;
  case TENON_BF16:
    rounding = 5e-2;
    break;
  default:
    break;
  }
  return std::max(tolerance.ofLargest, rounding);
}

void Difference::add(const Difference &other) {
  isMeasured |= other.isMeasured;
  // A NaN, once there, stays.
  error = std::isnan(error) || error >= other.error ? error : other.error;
  wrong += other.wrong;
  count += other.count;
}

namespace {
/// The elements of two tensors with the same type and shape.
struct Elements {
  const tenon_tensor &got, &want;
  bool isExact;
  uint64_t count;

  double wanted(uint64_t i) const { return elementAt(want.dtype, want.data, i); }

  double distanceAt(uint64_t i) const {
    double error = distance(elementAt(got.dtype, got.data, i), wanted(i));
    return error == 0 && isExact && differAsWords(got.dtype, got.data, want.data, i) ? 1 : error;
  }
};

/// The largest distance and its position, or NaN if two elements have none; and the largest finite element.
struct Extremes {
  double distance = 0, element = 0;
  uint64_t at = 0;

  explicit Extremes(const Elements &elements) {
    for (uint64_t i = 0; i < elements.count; ++i) {
      double wanted = elements.wanted(i), error = elements.distanceAt(i);
      if (std::isfinite(wanted))
        element = std::max(element, std::fabs(wanted));
      // Also true of a NaN, which then stays the largest.
      if (!(error <= distance) && !std::isnan(distance)) {
        distance = error;
        at = i;
      }
    }
  }

  /// Of zeros alone, the difference itself.
  double getError() const { return element > 0 ? distance / element : distance; }
};
} // namespace

static std::string describeElement(const char *name, const Elements &e, uint64_t i) {
  uint32_t parts = partsOf(e.got.dtype);
  return format("output '%s' at %s: got %s, want %s", name, indexText(i / parts, e.got.dims, e.got.rank).c_str(),
                valueText(e.got.dtype, e.got.data, i).c_str(), valueText(e.want.dtype, e.want.data, i).c_str());
}

static Status compareByLargest(const char *name, const Elements &e, const Extremes &extremes, double allowed,
                               Difference &difference) {
  if (difference.error <= allowed)
    return {};
  for (uint64_t i = 0; i < e.count; ++i)
    difference.wrong += !(e.distanceAt(i) <= allowed * extremes.element);
  return Status::make(kMismatch,
                      "%s; %llu of %llu elements differ, the largest error is %.2g of the largest element "
                      "(allowed %g)",
                      describeElement(name, e, extremes.at).c_str(), (unsigned long long)difference.wrong,
                      (unsigned long long)e.count, difference.error, allowed);
}

static Status compareByElement(const char *name, const Elements &e, const Extremes &extremes, double absolute,
                               double relative, Difference &difference) {
  uint64_t first = 0;
  for (uint64_t i = 0; i < e.count; ++i) {
    double error = e.distanceAt(i);
    // The distance of two infinities is NaN, so this is never infinity <= infinity.
    if (error <= absolute + relative * std::fabs(e.wanted(i)) || error == 0)
      continue;
    if (difference.wrong++ == 0)
      first = i;
  }
  if (!difference.wrong)
    return {};
  return Status::make(kMismatch, "%s; %llu of %llu elements differ, largest error %.6g (allowed %g + %g * |want|)",
                      describeElement(name, e, first).c_str(), (unsigned long long)difference.wrong,
                      (unsigned long long)e.count, extremes.distance, absolute, relative);
}

Status compare(const char *name, const tenon_tensor &got, const tenon_tensor &want, const Tolerance &tolerance,
               Difference *difference) {
  TENON_TRY(compareTypes(name, got, want));
  bool isDiscrete = !isFloat(got.dtype), isExact = isDiscrete && !tolerance.forIntegers;
  Elements elements{got, want, isExact, tenon_tensor_bytes(TENON_U8, got.rank, got.dims) * partsOf(got.dtype)};
  Extremes extremes(elements);
  Difference found{true, extremes.getError(), 0, elements.count};
  Status status = tolerance.rule == Tolerance::byLargest && !isDiscrete
                      ? compareByLargest(name, elements, extremes, getAllowedError(got.dtype, tolerance), found)
                      : compareByElement(name, elements, extremes, isExact ? 0 : tolerance.absolute,
                                         isExact ? 0 : tolerance.relative, found);
  if (difference)
    difference->add(found);
  return status;
}

static Status compareStrings(const char *name, const TensorView &got, const TensorView &want) {
  TENON_TRY(compareTypes(name, got.tensor, want.tensor));
  uint64_t wrong = 0, first = 0, count = got.count();
  for (uint64_t i = 0; i < count; ++i)
    if (got.string(i) != want.string(i) && wrong++ == 0)
      first = i;
  if (!wrong)
    return {};
  return Status::make(kMismatch, "output '%s' at %s: got %s, want %s; %llu of %llu strings differ", name,
                      indexText(first, got.tensor.dims, got.tensor.rank).c_str(), jsonString(got.string(first)).c_str(),
                      jsonString(want.string(first)).c_str(), (unsigned long long)wrong, (unsigned long long)count);
}

static std::string kindText(const ValueView &value) {
  if (!value.has)
    return "nothing";
  return value.isSequence ? format("a sequence of %zu", value.tensors.size()) : "a tensor";
}

Status compareValues(const std::string &name, const ValueView &got, const ValueView &want, const Tolerance &tolerance,
                     Difference *difference) {
  if (got.has != want.has || got.isSequence != want.isSequence || got.tensors.size() != want.tensors.size())
    return Status::make(kMismatch, "output '%s' is %s, want %s", name.c_str(), kindText(got).c_str(),
                        kindText(want).c_str());
  for (size_t i = 0; i < got.tensors.size(); ++i) {
    std::string tensor = got.isSequence ? name + format("[%zu]", i) : name;
    const TensorView &left = got.tensors[i], &right = want.tensors[i];
    TENON_TRY(left.tensor.dtype == TENON_STRING
                  ? compareStrings(tensor.c_str(), left, right)
                  : compare(tensor.c_str(), left.tensor, right.tensor, tolerance, difference));
  }
  return {};
}

} // namespace tenon::run
