//===- Schedule.h - how a Winograd convolution is cut into tiles ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_WINOGRAD_SCHEDULE_H
#define TENON_PASSES_PATHS_WINOGRAD_SCHEDULE_H

#include "passes/cost/Machine.h"
#include "passes/cost/WinogradPolicy.h"
#include "passes/paths/split/Bf16Terms.h"
#include "passes/paths/winograd/Transforms.h"

namespace tenon {

/// True if products of such factors are computed in AMX tiles, whose instructions have 16 times the rate of
/// vdpbf16ps.
inline bool multipliesInAmxTiles(WinogradFactors factors, const Machine &machine) {
  return factors == WinogradFactors::bf16 && machine.amxBf16 != 0;
}

/// Returns the filters of a panel: those of an AMX tile, or of a register block.
inline int64_t getWinogradPanel(WinogradFactors factors, const Machine &machine) {
  return multipliesInAmxTiles(factors, machine) ? kTermColumns : machine.panelColumns;
}

/// `images` results of height x width elements for each filter. A sum adds two channels at a time of factors that are
/// stored in pairs. Filters are packed in panels.
struct WinogradProblem {
  int64_t outputs, window;
  int64_t height, width, channels, filters, panel;
  WinogradFactors factors = WinogradFactors::f32;
  int64_t images = 1;
};

/// The number of filters that kernels multiply at a time, or a whole panel: the transformed input is read once for
/// them, and their products stay in L1 until they are transformed back. Kernels and schedules must agree on it.
inline constexpr int64_t kWinogradFilters = 32; // format: of the scratch of Winograd kernels

/// The rows and columns of squares, and the panels of filters, in a tile.
struct WinogradTile {
  int64_t rows, columns, panels;
};

struct WinogradSchedule : WinogradTile {
  double cycles; ///< for all images, of all cores together, that some of them wait for others included
};

/// Returns the cycles of all images with such tiles, of all cores together, averaged over 1, 2, 4 and 8 cores.
double estimateWinogradTile(const WinogradProblem &problem, const WinogradTile &tile, const Machine &machine,
                            const WinogradPolicy &policy = {});

/// Chooses the best schedule by a cost model of each step, averaged over 1, 2, 4 and 8 cores.
WinogradSchedule chooseWinogradSchedule(const WinogradProblem &problem, const Machine &machine,
                                        const WinogradPolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_PATHS_WINOGRAD_SCHEDULE_H
