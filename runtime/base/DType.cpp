//===- DType.cpp - names and sizes of element types ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/CheckedMath.h"
#include "runtime/format/plan_generated.h"
#include "tenon/runtime.h"

// The public enumeration and that of the format must have the same values.
static_assert(int(TENON_F32) == int(tenon::fmt::DType::f32));
static_assert(int(TENON_BOOL) == int(tenon::fmt::DType::bool_));
static_assert(int(TENON_F8E8M0) == int(tenon::fmt::DType::f8e8m0));
static_assert(int(TENON_F4E2M1) == int(tenon::fmt::DType::f4e2m1));
static_assert(int(TENON_C128) == int(tenon::fmt::DType::c128));
static_assert(int(TENON_C128) == int(tenon::fmt::DType::MAX), "a new element type needs its line here");

namespace {
struct Info {
  const char *name;
  uint32_t bits;
};
constexpr Info kTypes[] = {
    {"f32", 32},       {"f64", 64},   {"f16", 16},       {"bf16", 16},  {"i8", 8},     {"i16", 16}, {"i32", 32},
    {"i64", 64},       {"u8", 8},     {"u16", 16},       {"u32", 32},   {"u64", 64},   {"bool", 8}, {"f8e4m3fn", 8},
    {"f8e4m3fnuz", 8}, {"f8e5m2", 8}, {"f8e5m2fnuz", 8}, {"f8e8m0", 8}, {"i4", 4},     {"u4", 4},   {"f4e2m1", 4},
    {"i2", 2},         {"u2", 2},     {"string", 0},     {"c64", 64},   {"c128", 128},
};
static_assert(sizeof(kTypes) / sizeof(kTypes[0]) == TENON_C128 + 1);

bool known(tenon_dtype dtype) { return unsigned(dtype) <= unsigned(TENON_C128); }
} // namespace

extern "C" const char *tenon_dtype_name(tenon_dtype dtype) { return known(dtype) ? kTypes[dtype].name : "unknown"; }

extern "C" uint32_t tenon_dtype_bits(tenon_dtype dtype) { return known(dtype) ? kTypes[dtype].bits : 0; }

extern "C" uint64_t tenon_tensor_bytes(tenon_dtype dtype, uint32_t rank, const int64_t *dims) {
  uint64_t bits = tenon_dtype_bits(dtype);
  if (!bits)
    return UINT64_MAX;
  uint64_t count = 1;
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      return UINT64_MAX;
    empty |= dims[i] == 0;
  }
  // A zero extent makes the product zero, however large the other dimensions are.
  if (empty)
    return 0;
  for (uint32_t i = 0; i < rank; ++i)
    if (!tenon::rt::checkedMul(count, uint64_t(dims[i]), &count))
      return UINT64_MAX;
  uint64_t bytes;
  if (!tenon::rt::checkedMul(count, bits < 8 ? 1 : bits / 8, &bytes))
    return UINT64_MAX;
  return bytes <= uint64_t(INT64_MAX) ? bytes : UINT64_MAX;
}
