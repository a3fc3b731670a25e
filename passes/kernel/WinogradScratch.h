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
#include "passes/paths/winograd/Transforms.h"

namespace tenon {

/// Consecutive buffers: some channels of the input that a tile reads; the transformed input, [point, square, channel];
/// its scales, [point, square], if it is rounded to i16; and the products with some filters, in whole panels, [point,
/// square, filter]. The first two have i16 elements if the input is i8; the second one has the elements of the filter
/// if that is bf16. An input that is rounded to i16 is stored as f32 and then replaced, each channel's number at the
/// beginning of its square. All counts are numbers of elements.
struct WinogradScratch {
  int64_t windowRows, windowColumns;
  /// The channels of the input that are copied at a time: those that fill a cache line after the transform, which is a
  /// multiple of every vector length.
  int64_t windowChannels;
  int64_t squares, channels, filters;
  int64_t transformedStride, productsStride; ///< from point to point
  ScratchLayout layout;
};

/// How the factors are stored: as i16 if the input is int8, as bf16 if the filter is, and as i16 with scales if the
/// filter has pairs of i16 and the input is f32.
WinogradFactors getFactors(kernel::WinogradOp op);

/// The channels of the filter, with those of zeros at the end of a pair or beyond.
int64_t getFilterChannels(kernel::WinogradOp op);
/// The filters of a panel.
int64_t getPanelFilters(kernel::WinogradOp op);

/// Returns the layout for a tile of the largest size that `tile` allows: rows, columns and filters.
WinogradScratch getWinogradScratch(kernel::WinogradOp op, llvm::ArrayRef<int64_t> tile);
/// The same for the operation's own tile.
WinogradScratch getWinogradScratch(kernel::WinogradOp op);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_WINOGRADSCRATCH_H
