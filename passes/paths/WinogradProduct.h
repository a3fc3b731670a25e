//===- WinogradProduct.h - convolutions that squares can compute ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_WINOGRADPRODUCT_H
#define TENON_PASSES_PATHS_WINOGRADPRODUCT_H

#include "dialects/tenon/Tenon.h"
#include "passes/paths/winograd/Schedule.h"
#include "passes/paths/winograd/Transforms.h"
#include <optional>

namespace tenon {

/// How many frames the window of a convolution sees, of three spatial dimensions; 1 of two.
bool hasFrames(ConvolveOp op);
int64_t getFrames(ConvolveOp op);

/// The bytes of a filter that is a weight with elements of its own.
std::optional<llvm::ArrayRef<char>> getFilterBytes(ConvolveOp op);

/// The filter of a convolution with channels last, strides and dilations of 1 and one group, which has a square window
/// and is constant; nothing where it is another one. Channels are those of all frames that the window sees.
std::optional<FilterShape> getSquareFilter(ConvolveOp op);

/// For all images (and frames) if their number is known; for one if it is dynamic, since a run may have a single one.
WinogradSchedule scheduleWinograd(ConvolveOp op, const FilterShape &filter, int64_t outputs, const Machine &machine);

/// The cycles of that schedule for as many images as the other paths are estimated for (getProductShape).
double estimateWinogradCycles(ConvolveOp op, const FilterShape &filter, int64_t outputs, const Machine &machine);

} // namespace tenon

#endif // TENON_PASSES_PATHS_WINOGRADPRODUCT_H
