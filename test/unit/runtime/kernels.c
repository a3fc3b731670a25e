//===- kernels.c - kernels written by hand for the runtime's tests ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Kernel.h"

#define KERNEL __attribute__((visibility("default"))) int32_t
#define ARGUMENTS                                                                                                      \
  (void *const *buffers, const int64_t *sizes, int64_t tile_begin, int64_t tile_end, void *scratch, int64_t last_end)

enum { kTile = 16 };

/// Facts that several kernels have: a tile is kTile of sizes[0] elements, of floats, or has one sum.
#define TILES TENON_FACT_SIZE, 0, TENON_FACT_CONSTANT, kTile, TENON_FACT_CEILDIV, TENON_FACT_END
#define FLOATS TENON_ELEMENTS(0, 4)
#define SUMS                                                                                                           \
  TENON_FACT_SIZE, 0, TENON_FACT_CONSTANT, kTile, TENON_FACT_CEILDIV, TENON_FACT_CONSTANT, 4, TENON_FACT_MUL,          \
      TENON_FACT_END

/// The elements of a range of tiles, cut at `count`.
#define FOR_EACH_ELEMENT(i, count) for (int64_t i = tile_begin * kTile; i < tile_end * kTile && i < (count); ++i)

/// buffers: x, y. sizes: elements. y = 2 x
KERNEL double_f32 ARGUMENTS {
  (void)scratch;
  const float *x = buffers[0];
  float *y = buffers[1];
  FOR_EACH_ELEMENT(i, sizes[0]) y[i] = x[i] * 2;
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(double_f32, 2, 1, 0, TILES, TENON_READS(FLOATS), TENON_WRITES(FLOATS));

/// The same, by a kernel whose facts promise nothing.
KERNEL careless_double_f32 ARGUMENTS { return double_f32(buffers, sizes, tile_begin, tile_end, scratch, last_end); }
TENON_KERNEL_FACTS(careless_double_f32, 2, 1, 0, TENON_ANY, TENON_READS(TENON_ANY), TENON_WRITES(TENON_ANY));

/// buffers: a, b, y. sizes: elements. y = a + b
KERNEL add_f32 ARGUMENTS {
  (void)scratch;
  const float *a = buffers[0], *b = buffers[1];
  float *y = buffers[2];
  FOR_EACH_ELEMENT(i, sizes[0]) y[i] = a[i] + b[i];
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(add_f32, 3, 1, 0, TILES, TENON_READS(FLOATS), TENON_READS(FLOATS), TENON_WRITES(FLOATS));

/// buffers: x, y. sizes: elements. Each tile sums its elements in scratch memory, which it fills first, so
/// that threads that shared it would be noticed.
KERNEL sum_in_scratch ARGUMENTS {
  const float *x = buffers[0];
  float *y = buffers[1];
  volatile float *own = scratch;
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    int64_t first = tile * kTile;
    for (int k = 0; k < kTile; ++k)
      own[k] = first + k < sizes[0] ? x[first + k] : 0;
    float sum = 0;
    for (int k = 0; k < kTile; ++k)
      sum += own[k] / 3;
    y[tile] = sum;
  }
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(sum_in_scratch, 2, 1, kTile * 4, TILES, TENON_READS(FLOATS), TENON_WRITES(SUMS));

/// buffers: y (i64). Each tile says whether it is one of a thread's first call in the launch; the others must find in
/// scratch memory what the call before left there.
KERNEL tell_first_calls ARGUMENTS {
  int64_t *y = buffers[0], *own = scratch;
  if (last_end != -1 && own[0] != last_end)
    return TENON_KERNEL_FAULT;
  own[0] = tile_end;
  for (int64_t tile = tile_begin; tile < tile_end; ++tile)
    y[tile] = last_end == -1;
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(tell_first_calls, 1, 0, 16, TENON_ANY, TENON_WRITES(TENON_NUMBER(8)));

/// buffers: index (i64), table (f32), y (f32). sizes: entries of the table.
KERNEL gather_one ARGUMENTS {
  (void)tile_begin, (void)tile_end, (void)scratch;
  int64_t index = *(const int64_t *)buffers[0];
  if (index < 0 || index >= sizes[0])
    return TENON_KERNEL_INDEX_OUT_OF_RANGE;
  *(float *)buffers[2] = ((const float *)buffers[1])[index];
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(gather_one, 3, 1, 0, TENON_ANY, TENON_READS(TENON_NUMBER(8)), TENON_READS(FLOATS),
                   TENON_WRITES(TENON_NUMBER(4)));

/// Fails with the code that stands in buffers[0] (i32), in the tile that sizes[0] names.
KERNEL fail_with ARGUMENTS {
  (void)scratch;
  if (sizes[0] >= tile_begin && sizes[0] < tile_end)
    return *(const int32_t *)buffers[0];
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(fail_with, 1, 1, 0, TENON_ANY, TENON_READS(TENON_NUMBER(4)));

/// buffers: a tenon_kernel_index_report, which the tile that sizes[0] names reports.
KERNEL report_index ARGUMENTS {
  if (sizes[0] < tile_begin || sizes[0] >= tile_end)
    return TENON_KERNEL_OK;
  *(tenon_kernel_index_report *)scratch = *(const tenon_kernel_index_report *)buffers[0];
  return TENON_KERNEL_INDEX_OUT_OF_RANGE;
}
TENON_KERNEL_FACTS(report_index, 1, 1, sizeof(tenon_kernel_index_report), TENON_ANY,
                   TENON_READS(TENON_NUMBER(sizeof(tenon_kernel_index_report))));

/// buffers: x (f32), count (i64). sizes: elements. How many elements are not zero.
KERNEL count_nonzero ARGUMENTS {
  (void)tile_begin, (void)tile_end, (void)scratch;
  int64_t count = 0;
  for (int64_t i = 0; i < sizes[0]; ++i)
    count += ((const float *)buffers[0])[i] != 0;
  *(int64_t *)buffers[1] = count;
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(count_nonzero, 2, 1, 0, TENON_ANY, TENON_READS(FLOATS), TENON_WRITES(TENON_NUMBER(8)));

/// buffers: x (f32), indices (i64). sizes: elements. The indices of the elements that are not zero.
KERNEL list_nonzero ARGUMENTS {
  (void)tile_begin, (void)tile_end, (void)scratch;
  int64_t *out = buffers[1];
  for (int64_t i = 0; i < sizes[0]; ++i)
    if (((const float *)buffers[0])[i] != 0)
      *out++ = i;
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(list_nonzero, 2, 1, 0, TENON_ANY, TENON_READS(FLOATS), TENON_WRITES(TENON_ANY));

/// buffers: counter (i64), more (bool). Counts down, and says whether there is more.
KERNEL count_down ARGUMENTS {
  (void)sizes, (void)tile_begin, (void)tile_end, (void)scratch;
  int64_t *counter = buffers[0];
  *counter -= 1;
  *(uint8_t *)buffers[1] = *counter > 0;
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(count_down, 2, 0, 0, TENON_ANY, TENON_WRITES(TENON_NUMBER(8)), TENON_WRITES(TENON_NUMBER(1)));

/// buffers: x (f32), total (f32). total += x[0]
KERNEL accumulate ARGUMENTS {
  (void)sizes, (void)tile_begin, (void)tile_end, (void)scratch;
  *(float *)buffers[1] += *(const float *)buffers[0];
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(accumulate, 2, 0, 0, TENON_ANY, TENON_READS(TENON_NUMBER(4)), TENON_WRITES(TENON_NUMBER(4)));

/// buffers: done (i64). sizes: tiles in all, tiles of a call. Counts tiles; the call with the first one does so when
/// all others are done, and fails where that takes very long.
KERNEL wait_for_others ARGUMENTS {
  (void)scratch;
  int64_t *done = buffers[0];
  for (int64_t i = 0; tile_begin == 0 && __atomic_load_n(done, __ATOMIC_RELAXED) < sizes[0] - sizes[1]; ++i)
    if (i == 10000000000)
      return TENON_KERNEL_BAD_VALUE;
  __atomic_fetch_add(done, tile_end - tile_begin, __ATOMIC_RELAXED);
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(wait_for_others, 1, 2, 0, TENON_ANY, TENON_WRITES(TENON_NUMBER(8)));

/// buffers: next (i64), order (i64). Appends the numbers of its tiles; for a single thread.
KERNEL note_tiles ARGUMENTS {
  (void)sizes, (void)scratch;
  int64_t *next = buffers[0];
  for (int64_t tile = tile_begin; tile < tile_end; ++tile)
    ((int64_t *)buffers[1])[(*next)++] = tile;
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(note_tiles, 2, 0, 0, TENON_ANY, TENON_WRITES(TENON_NUMBER(8)), TENON_WRITES(TENON_ANY));

/// Kernels that a compiler would not make.
KERNEL without_facts ARGUMENTS { return double_f32(buffers, sizes, tile_begin, tile_end, scratch, last_end); }
KERNEL with_bad_facts ARGUMENTS { return double_f32(buffers, sizes, tile_begin, tile_end, scratch, last_end); }
TENON_KERNEL_FACTS(with_bad_facts, 2, 1, 0, TENON_ANY, TENON_READS(TENON_ANY),
                   TENON_WRITES(TENON_FACT_SIZE, 1, TENON_FACT_END));

static const float kOne = 1, kTen = 10, kHundred = 100;
/// Pointers in constant data, so that the code needs relocations. It is not static: the compiler would make
/// offsets of it.
extern const float *const kScales[];
const float *const kScales[] = {&kOne, &kTen, &kHundred};

/// buffers: x, y (f32). sizes: which scale.
KERNEL scale_by_table ARGUMENTS {
  (void)tile_begin, (void)tile_end, (void)scratch;
  *(float *)buffers[1] = *(const float *)buffers[0] * *kScales[sizes[0]];
  return TENON_KERNEL_OK;
}
TENON_KERNEL_FACTS(scale_by_table, 2, 1, 0, TENON_ANY, TENON_READS(TENON_NUMBER(4)), TENON_WRITES(TENON_NUMBER(4)));
