//===- CheckedMath.h - sums and products of sizes that a file names ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_CHECKEDMATH_H
#define TENON_RUNTIME_BASE_CHECKEDMATH_H

#include <cstdint>

namespace tenon::rt {

/// True if [offset, offset + size) is within `limit` bytes.
inline bool fits(uint64_t offset, uint64_t size, uint64_t limit) { return offset <= limit && size <= limit - offset; }

/// These return false, with `*result` undefined, if the value does not fit.
inline bool checkedAdd(uint64_t a, uint64_t b, uint64_t *result) { return !__builtin_add_overflow(a, b, result); }
inline bool checkedMul(uint64_t a, uint64_t b, uint64_t *result) { return !__builtin_mul_overflow(a, b, result); }

/// Rounds `value` up to a multiple of `alignment`, a power of two.
inline bool checkedAlign(uint64_t value, uint64_t alignment, uint64_t *result) {
  if (!checkedAdd(value, alignment - 1, result))
    return false;
  *result &= ~(alignment - 1);
  return true;
}

inline bool isPowerOfTwo(uint64_t value) { return value && !(value & (value - 1)); }

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_CHECKEDMATH_H
