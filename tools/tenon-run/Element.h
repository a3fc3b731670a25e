//===- Element.h - single elements of any type as numbers ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_ELEMENT_H
#define TENON_TOOLS_TENON_RUN_ELEMENT_H

#include "tenon/runtime.h"

#include <cstdint>

namespace tenon::run {

/// True if elements of `dtype` are floating-point or complex numbers.
bool isFloat(tenon_dtype dtype);

/// Returns the numbers in one element: 2 for complex types, otherwise 1.
inline uint32_t partsOf(tenon_dtype dtype) { return dtype == TENON_C64 || dtype == TENON_C128 ? 2 : 1; }

/// Returns number `index` of `data`, where a complex element has two. Exact, except for integers of more than 53 bits.
double elementAt(tenon_dtype dtype, const void *data, uint64_t index);

/// Sets number `index` to the nearest value of the type; out-of-range values are clamped.
void setElement(tenon_dtype dtype, void *data, uint64_t index, double value);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_ELEMENT_H
