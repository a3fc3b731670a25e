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

bool tenon::isInt8(kernel::WinogradOp op) { return getElementTypeOrSelf(op.getInput()).isInteger(8); }

WinogradScratch tenon::getWinogradScratch(kernel::WinogradOp op) { return getWinogradScratch(op, op.getTile()); }

WinogradScratch tenon::getWinogradScratch(kernel::WinogradOp op, ArrayRef<int64_t> tile) {
  assert(tile.size() == 3 && "a tile has rows, columns and filters");
  auto filter = cast<ShapedType>(op.getFilter().getType());
  int64_t outputs = op.getOutputs(), border = op.getWindow() - 1, points = filter.getDimSize(1);
  int64_t sumBytes = filter.getElementTypeBitWidth() / 8, channelBytes = isInt8(op) ? sumBytes / 2 : sumBytes;
  int64_t squareRows = llvm::divideCeil(tile[0], outputs);
  int64_t squareColumns = llvm::divideCeil(tile[1], outputs);
  WinogradScratch s;
  s.windowRows = squareRows * outputs + border;
  s.windowColumns = squareColumns * outputs + border;
  s.squares = squareRows * squareColumns;
  s.windowChannels = kCacheLineBytes / channelBytes;
  s.channels = llvm::alignTo(filter.getDimSize(2) * (sumBytes / channelBytes), s.windowChannels);
  int64_t panel = filter.getDimSize(3);
  s.filters = std::min<int64_t>(llvm::alignTo(tile[2], panel), llvm::alignTo(kWinogradFilters, panel));
  // One cache line is added to a stride that may be a power of two, so that the points of a square map to different
  // sets of L1.
  s.transformedStride = s.squares * s.channels + kCacheLineBytes / channelBytes;
  s.productsStride = s.squares * s.filters + kCacheLineBytes / sumBytes;
  auto add = [&](ScratchUse use, int64_t elements, int64_t bytes) {
    s.layout.add(use, static_cast<int64_t>(llvm::alignTo(elements * bytes, kCacheLineBytes)));
  };
  add(ScratchUse::winogradWindow, s.windowRows * s.windowColumns * s.windowChannels, channelBytes);
  add(ScratchUse::winogradInput, points * s.transformedStride, channelBytes);
  add(ScratchUse::winogradProducts, points * s.productsStride, sumBytes);
  return s;
}
