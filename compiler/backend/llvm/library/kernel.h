//===- kernel.h - how a kernel of the library begins ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_LIBRARY_KERNEL_H
#define TENON_COMPILER_BACKEND_LLVM_LIBRARY_KERNEL_H

#include "runtime/format/Kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL(name)                                                                                                   \
  int32_t name(void *const *buffers, const int64_t *sizes, int64_t tile_begin, int64_t tile_end, void *scratch,        \
               int64_t last_end)

/// Declares the facts of the kernel before it (runtime/format/Kernel.h): each launch has one tile and one size per
/// buffer, and needs no scratch memory.
#define FACTS(name, buffers, ...) TENON_KERNEL_FACTS(name, buffers, buffers, 0, TENON_NUMBER(1), __VA_ARGS__)

#endif // TENON_COMPILER_BACKEND_LLVM_LIBRARY_KERNEL_H
