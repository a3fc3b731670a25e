//===- kernel.h - how a kernel of the library begins ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_KERNEL_H
#define TENON_LIBRARY_KERNEL_H

#include "runtime/format/Kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL(name)                                                                                         \
  int32_t name(void *const *buffers, const int64_t *sizes, int64_t tile_begin, int64_t tile_end, void *scratch,  \
               int64_t last_end)

#endif // TENON_LIBRARY_KERNEL_H
