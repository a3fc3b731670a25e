//===- LoopNest.h - which operations are computed by loops of their own ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_LOOPNEST_H
#define TENON_DIALECTS_TENON_LOOPNEST_H

namespace mlir {
class Operation;
}

namespace tenon {

/// Whether the operation joins or orders elements, so that a kernel has loops for it (a stage). Every other
/// one has a single result element for a set of indices, and is computed inside the loops that read it.
/// Fusion and `tenon-to-linalg` must agree on this, so both ask here.
bool hasLoopNest(mlir::Operation *op);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_LOOPNEST_H
