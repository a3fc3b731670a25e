//===- FloatParts.h - floats as sums of shorter ones ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR. After Henry, Tang and Heinecke, "Leveraging the
// bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations"
// (2019): a product of sums is a sum of products, of which the smallest do not
// matter.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PARTS_FLOATPARTS_H
#define TENON_PASSES_PATHS_PARTS_FLOATPARTS_H

#include <cstdint>

namespace tenon {

/// Elements of a row of a tile register, and columns of one.
inline constexpr int64_t kMaxOfStep = 32, kPartColumns = 16; // format: of an AMX tile
/// Where kernels cut a matrix into parts, they keep those of so much of a sum at most: the second cache has them.
inline constexpr int64_t kMaxCutDepth = 1536; // format: of the scratch of kernels

/// Into how many elements a sum of `depth` is cut: at most 32, an even number, for as few steps as possible (a step
/// takes as long with fewer elements), of which that length leaves as little beyond the depth as possible.
int64_t chooseStep(int64_t depth);

/// Products of two parts that count: part i by part j where i + j < `numParts`.
inline int64_t countPartProducts(int64_t numParts) { return numParts * (numParts + 1) / 2; }

/// An array of f32, of which `columns` make panels, and `depth` steps of parts. One part of f32 is the element itself.
struct PartPacking {
  int64_t outer, outerStride;
  int64_t depth, depthStride;
  int64_t columns, columnStride;
  int64_t step, numParts;

  int64_t getNumPanels() const { return (columns + kPartColumns - 1) / kPartColumns; }
  int64_t getNumSteps() const { return (depth + step - 1) / step; }
  int64_t countElements() const { return getNumPanels() * outer * getNumSteps() * numParts * step * kPartColumns; }
};

/// Writes `source` as [panels, outer, steps, parts, step / 2, column, 2] to `target`, which holds zeros:
/// beyond both extents they stay. The elements are the bits of bf16, as tenon.to_parts defines them.
void packParts(const PartPacking &packing, const float *source, uint16_t *target);
/// The same for one part of f32.
void packWhole(const PartPacking &packing, const float *source, float *target);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PARTS_FLOATPARTS_H
