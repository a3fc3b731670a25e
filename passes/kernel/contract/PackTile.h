//===- PackTile.h - packed copies of what a tile reads --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_PACKTILE_H
#define TENON_PASSES_KERNEL_CONTRACT_PACKTILE_H

#include "passes/kernel/contract/EmitterPart.h"

namespace tenon {

/// Packs all elements of the LHS that the tile reads to scratch, promoted to f32 or widened to i16, unless the previous
/// tile read the same ones. Returns the read of the copy, or none if the schedule does not pack tiles.
std::optional<ElementRead> packTile(LoopBuilder &nest, const ContractionProblem &problem);

/// Packs some columns (PackingPolicy) from `firstColumn` on of the elements that the tile reads by `read`, an operand
/// of a depthwise convolution, to the region for `use`. Returns the read of the copy.
ElementRead packColumns(LoopBuilder &nest, const ContractionProblem &problem, const ElementRead &read, ScratchUse use,
                        mlir::Value firstColumn);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_PACKTILE_H
