//===- WinogradScratch.cpp - what a Winograd convolution keeps of a tile --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/WinogradScratch.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/cost/CacheLines.h"
#include "passes/paths/winograd/Schedule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

WinogradFactors tenon::getFactors(kernel::WinogradOp op) {
  if (getElementTypeOrSelf(op.getFilter()).isBF16())
    return WinogradFactors::bf16;
  if (!getElementTypeOrSelf(op.getFilter()).isInteger(32))
    return WinogradFactors::f32;
  return getElementTypeOrSelf(op.getInput()).isInteger(8) ? WinogradFactors::i16 : WinogradFactors::scaledI16;
}

int64_t tenon::getFilterChannels(kernel::WinogradOp op) {
  return cast<ShapedType>(op.getFilter().getType()).getDimSize(2) * (getFactors(op) == WinogradFactors::f32 ? 1 : 2);
}

int64_t tenon::getPanelFilters(kernel::WinogradOp op) {
  return cast<ShapedType>(op.getFilter().getType()).getDimSize(3) / (getFactors(op) == WinogradFactors::bf16 ? 2 : 1);
}

WinogradScratch tenon::getWinogradScratch(kernel::WinogradOp op) { return getWinogradScratch(op, op.getTile()); }

WinogradScratch tenon::getWinogradScratch(kernel::WinogradOp op, ArrayRef<int64_t> tile) {
  assert(tile.size() == 3 && "a tile has rows, columns and filters");
  constexpr int64_t kSumBytes = 4, kPairedBytes = 2; // format: of f32 and i32, and of i16 and bf16
  int64_t outputs = op.getOutputs(), border = op.getWindow() - 1,
          points = cast<ShapedType>(op.getFilter().getType()).getDimSize(1);
  WinogradFactors factors = getFactors(op);
  // The largest element of a square is known when all are, so they are rounded afterwards.
  bool isStoredWhole = factors == WinogradFactors::f32 || factors == WinogradFactors::scaledI16;
  int64_t channelBytes = isStoredWhole ? kSumBytes : kPairedBytes,
          windowBytes = factors == WinogradFactors::i16 ? kPairedBytes : kSumBytes;
  int64_t squareRows = llvm::divideCeil(tile[0], outputs);
  int64_t squareColumns = llvm::divideCeil(tile[1], outputs);
  WinogradScratch s;
  s.windowRows = squareRows * outputs + border;
  s.windowColumns = squareColumns * outputs + border;
  s.squares = squareRows * squareColumns;
  s.windowChannels = kCacheLineBytes / channelBytes;
  s.channels = llvm::alignTo(getFilterChannels(op), s.windowChannels);
  int64_t panel = getPanelFilters(op);
  s.filters = std::min<int64_t>(llvm::alignTo(tile[2], panel), llvm::alignTo(kWinogradFilters, panel));
  // One cache line is added to a stride that may be a power of two, so that the points of a square map to different
  // sets of L1.
  s.transformedStride = s.squares * s.channels + kCacheLineBytes / channelBytes;
  s.productsStride = s.squares * s.filters + kCacheLineBytes / kSumBytes;
  auto add = [&](ScratchUse use, int64_t elements, int64_t bytes) {
    s.layout.add(use, static_cast<int64_t>(llvm::alignTo(elements * bytes, kCacheLineBytes)));
  };
  add(ScratchUse::winogradWindow, s.windowRows * s.windowColumns * s.windowChannels, windowBytes);
  add(ScratchUse::winogradInput, points * s.transformedStride, channelBytes);
  if (factors == WinogradFactors::scaledI16)
    add(ScratchUse::winogradScales, points * s.squares, kSumBytes);
  add(ScratchUse::winogradProducts, points * s.productsStride, kSumBytes);
  return s;
}
