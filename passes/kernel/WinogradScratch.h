//===- WinogradScratch.h - what a Winograd convolution keeps of a tile ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_WINOGRADSCRATCH_H
#define TENON_PASSES_KERNEL_WINOGRADSCRATCH_H

#include "dialects/kernel/KernelDialect.h"
#include "passes/kernel/ScratchLayout.h"

namespace tenon {

/// Three buffers, one after the other: some channels of the input that a tile reads; that input transformed,
/// [point, square, channel]; and the products with some filters, in whole panels, [point, square, filter]. The former
/// two are of i16 where the input is of i8. All counts are of elements.
struct WinogradScratch {
  int64_t windowRows, windowColumns;
  /// Of the input at a time: what a line of memory has once it is transformed, which is enough for any length of
  /// vectors.
  int64_t windowChannels;
  int64_t squares, channels, filters;
  int64_t transformedStride, productsStride; ///< from point to point
  ScratchLayout layout;
};

/// Whether the input is int8, which is transformed to i16, of which pairs are multiplied.
bool isInt8(kernel::WinogradOp op);

/// Of a tile that is as large as the operation's `tile` allows.
WinogradScratch getWinogradScratch(kernel::WinogradOp op);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_WINOGRADSCRATCH_H
