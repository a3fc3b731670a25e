//===- Kernel.h - the calling convention of compiled kernels ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that a kernel and the runtime agree on. Plain C, no includes beyond
// stdint.h, so that a kernel can be written or read in any language.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_FORMAT_KERNEL_H
#define TENON_RUNTIME_FORMAT_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The alignment in bytes of the arena, the weights, the state, each thread's scratch and each output that the runtime
/// allocates. A buffer within one of them is aligned according to its offset, which the compiler knows. Inputs and
/// outputs that the caller binds are only aligned to their element type.
#define TENON_BUFFER_ALIGNMENT 64

/// What a kernel returns. Anything else counts as TENON_KERNEL_FAULT.
enum {
  TENON_KERNEL_OK = 0,
  /// An index that the model computed is out of bounds (Gather, ScatterND...). The kernel has left a
  /// tenon_kernel_index_report in its scratch.
  TENON_KERNEL_INDEX_OUT_OF_RANGE = 1,
  /// A value that the model computed is invalid (a negative repeat count, a division by zero...).
  TENON_KERNEL_BAD_VALUE = 2,
  TENON_KERNEL_FAULT = 3,
};

/// The content at the start of the scratch of a kernel that returned TENON_KERNEL_INDEX_OUT_OF_RANGE, if the scratch is
/// large enough: an index, and its valid range. `last` is less than `first` if the dimension is empty.
typedef struct {
  int64_t index, first, last;
} tenon_kernel_index_report;

/// Computes tiles [tile_begin, tile_end) of one launch.
///
/// `buffers`: one base pointer for each operand of the launch, in the launch's order. Results are written
///            to the ranges that the tiles stand for; ranges of different tiles never overlap, so any
///            split of the tiles over threads gives the same bytes.
/// `sizes`:   the values of the launch's expressions (symbols, as a rule), in the launch's order.
/// `scratch`: memory of this thread alone, as large as the plan's scratch_size. It has what the call before this one
///            of the same thread and launch left there; what it has in the first call is unknown.
/// `last_end`: where the tiles of that call ended, or -1 in the first one. Other threads compute those between.
///
/// A kernel keeps no state from launch to launch, calls nothing outside its code section, and does not know about
/// threads.
typedef int32_t (*tenon_kernel_fn)(void *const *buffers, const int64_t *sizes, int64_t tile_begin, int64_t tile_end,
                                   void *scratch, int64_t last_end);

/// The facts of a kernel: what a launch must be for the kernel to stay within its buffers. They stand in the code
/// section, which is trusted once its hash holds, as an array of 64-bit integers with the name of the entry point and
/// this suffix.
///
///   buffers, sizes, scratch bytes of a thread, TILES, then for each buffer: 1 where the kernel writes it and 0
///   otherwise, BYTES
///
/// TILES is how many tiles a launch has, and BYTES how many bytes the buffer has at least. Both are expressions over
/// the sizes, in postfix notation: TENON_FACT_CONSTANT and a value, TENON_FACT_SIZE and the number of a size, or an
/// operation on the two results before it. Each ends with TENON_FACT_END; an empty one of TILES allows any number, one
/// of BYTES any size.
#define TENON_FACTS_SUFFIX "_facts"

/// The values are those of tenon.fmt.ExprOp, the last one apart.
enum {
  TENON_FACT_CONSTANT = 0,
  TENON_FACT_SIZE = 1,
  TENON_FACT_ADD = 2,
  TENON_FACT_SUB = 3,
  TENON_FACT_MUL = 4,
  TENON_FACT_FLOORDIV = 5,
  TENON_FACT_CEILDIV = 6,
  TENON_FACT_MOD = 7,
  TENON_FACT_MIN = 8,
  TENON_FACT_MAX = 9,
  TENON_FACT_END = -1,
};

/// Facts of a kernel written in C, after its number of sizes and its bytes of scratch:
///
/// TENON_KERNEL_FACTS(double_f32, 2, 1, 0, TENON_ANY, TENON_READS(TENON_ELEMENTS(0, 4)), TENON_WRITES(TENON_ELEMENTS(0,
/// 4)));
#define TENON_ANY TENON_FACT_END
#define TENON_NUMBER(value) TENON_FACT_CONSTANT, value, TENON_FACT_END
#define TENON_ELEMENTS(size, bytes) TENON_FACT_SIZE, size, TENON_FACT_CONSTANT, bytes, TENON_FACT_MUL, TENON_FACT_END
#define TENON_READS(...) 0, __VA_ARGS__
#define TENON_WRITES(...) 1, __VA_ARGS__
#define TENON_KERNEL_FACTS(name, buffers, sizes, scratch, ...)                                                         \
  __attribute__((visibility("default"))) extern const int64_t name##_facts[];                                          \
  const int64_t name##_facts[] = {buffers, sizes, scratch, __VA_ARGS__}

#ifdef __cplusplus
}
#endif

#endif // TENON_RUNTIME_FORMAT_KERNEL_H
