//===- Cheap.h - operations that may be computed over and over ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FUSION_CHEAP_H
#define TENON_PASSES_FUSION_CHEAP_H

namespace mlir {
class Operation;
}

namespace tenon {

/// True if an operation is cheap enough to be recomputed for each element that reads its result.
bool isCheap(mlir::Operation *op);

} // namespace tenon

#endif // TENON_PASSES_FUSION_CHEAP_H
