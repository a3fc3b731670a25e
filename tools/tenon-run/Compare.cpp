//===- Compare.cpp - got against wanted ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Compare.h"

#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/Json.h"

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

/// The distance of two numbers: 0 where they count as equal, NaN where they can not be near.
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

Status compare(const char *name, const tenon_tensor &got, const tenon_tensor &want, const Tolerance &tolerance) {
  TENON_TRY(compareTypes(name, got, want));
  bool exact = !isFloat(got.dtype) && !tolerance.forIntegers;
  double relative = exact ? 0 : tolerance.relative, absolute = exact ? 0 : tolerance.absolute;
  uint64_t parts = partsOf(got.dtype), count = tenon_tensor_bytes(TENON_U8, got.rank, got.dims) * parts;
  uint64_t wrong = 0, first = 0;
  double largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double wanted = elementAt(want.dtype, want.data, i);
    double error = distance(elementAt(got.dtype, got.data, i), wanted);
    if (error == 0 && exact && differAsWords(got.dtype, got.data, want.data, i))
      error = 1;
    // Also true of a NaN, which then stays the largest.
    if (!(error <= largest))
      largest = std::isnan(largest) ? largest : error;
    // Two infinities have no distance, so this is never infinity <= infinity.
    if (error <= absolute + relative * std::fabs(wanted) || error == 0)
      continue;
    if (wrong++ == 0)
      first = i;
  }
  if (!wrong)
    return {};
  return Status::make(kMismatch,
                      "output '%s' at %s: got %s, want %s; %llu of %llu elements differ, largest error %.6g "
                      "(allowed %g + %g * |want|)",
                      name, indexText(first / parts, got.dims, got.rank).c_str(),
                      valueText(got.dtype, got.data, first).c_str(), valueText(want.dtype, want.data, first).c_str(),
                      (unsigned long long)wrong, (unsigned long long)count, largest, absolute, relative);
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

Status compareValues(const std::string &name, const ValueView &got, const ValueView &want, const Tolerance &tolerance) {
  if (got.has != want.has || got.isSequence != want.isSequence || got.tensors.size() != want.tensors.size())
    return Status::make(kMismatch, "output '%s' is %s, want %s", name.c_str(), kindText(got).c_str(),
                        kindText(want).c_str());
  for (size_t i = 0; i < got.tensors.size(); ++i) {
    std::string tensor = got.isSequence ? name + format("[%zu]", i) : name;
    const TensorView &left = got.tensors[i], &right = want.tensors[i];
    TENON_TRY(left.tensor.dtype == TENON_STRING ? compareStrings(tensor.c_str(), left, right)
                                                : compare(tensor.c_str(), left.tensor, right.tensor, tolerance));
  }
  return {};
}

} // namespace tenon::run
