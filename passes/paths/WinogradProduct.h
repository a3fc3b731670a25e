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

/// Returns the number of frames in a convolution's window if there are three spatial dimensions; 1 if there are two.
bool hasFrames(ConvolveOp op);
int64_t getFrames(ConvolveOp op);

/// Returns the bytes of a filter that is a constant and not a splat.
std::optional<llvm::ArrayRef<char>> getFilterBytes(ConvolveOp op);

/// Returns the filter of a channels-last convolution with strides and dilations of 1, one group, and a constant square
/// window; none for any other convolution. Its channels are those of all frames in the window.
std::optional<FilterShape> getSquareFilter(ConvolveOp op);

/// Chooses the schedule for all images (and frames) if their number is static; for one if it is dynamic, since a run
/// may have a single one.
WinogradSchedule scheduleWinograd(ConvolveOp op, const FilterShape &filter, int64_t outputs, WinogradFactors factors,
                                  const Machine &machine);

/// Returns the cycles of that schedule for the number of images that the other paths are estimated for
/// (getProductShape).
double estimateWinogradCycles(ConvolveOp op, const FilterShape &filter, int64_t outputs, WinogradFactors factors,
                              const Machine &machine);

} // namespace tenon

#endif // TENON_PASSES_PATHS_WINOGRADPRODUCT_H
