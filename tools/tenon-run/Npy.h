//===- Npy.h - NumPy's file format ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// numpy.lib.format, versions 1 to 3. Types that NumPy lacks are stored as the
// ml_dtypes package does, or one element a byte:
//
//   bf16                      '<V2'
//   f8*                       '|V1'
//   i4, i2                    '|i1', one element a byte
//   u4, u2, f4e2m1 (its code) '|u1', one element a byte
//
// Strings are NumPy's own: arrays of code points, '<U5', all as long as the longest and filled up with zeros,
// which therefore no string can end with. Bytes, '|S5', are read as UTF-8.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_NPY_H
#define TENON_TOOLS_TENON_RUN_NPY_H

#include "tools/tenon-run/HostValue.h"

namespace tenon::run {

/// Reads an array with elements of type `wanted`, in one of the above formats. Big-endian and Fortran-ordered files are
/// converted. Nothing is rounded: another type is an error.
Status parseNpy(const uint8_t *bytes, size_t size, tenon_dtype wanted, HostTensor *tensor);

/// Reads an array of strings.
Status parseNpyStrings(const uint8_t *bytes, size_t size, HostTensor *tensor);

/// Writes version 1. An incomplete file is removed.
Status writeNpy(const char *path, const tenon_tensor &tensor);
Status writeNpyStrings(const char *path, const TensorView &strings);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_NPY_H
