//===- FusionChoices.h - what could be fused otherwise --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of `tenon-fuse` decide for each operation whether its result is materialized or computed where it is read.
// Some of these decisions are trade-offs, which `tenon-choose-forms` makes by estimates and measurements: it marks the
// operation, and `tenon-fuse` obeys (kMaterializedAttr, kRecomputedAttr).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FUSION_FUSIONCHOICES_H
#define TENON_PASSES_FUSION_FUSIONCHOICES_H

#include "dialects/tenon/Tenon.h"
#include "passes/cost/FusionPolicy.h"
#include <vector>

namespace tenon {

enum class FusionChoiceKind {
  prologue, ///< The rules compute the operation in the kernel of its consumers, which read elements of it repeatedly,
            ///< or against the order of memory. It could be materialized.
  epilogue, ///< The operation is a loop nest; the rules apply costly elementwise operations to its elements before they
            ///< store them. It could be materialized.
  shared,   ///< The rules materialize the operation because several kernels read it. Each of them could recompute it.
};

/// An operation, of static extents, that may be fused otherwise than the rules say.
struct FusionChoice {
  FusionChoiceKind kind;
  mlir::Operation *producer;
  /// For a prologue the operations that read it repeatedly or against the order of memory; for an epilogue what it
  /// consists of; for a shared operation all that read it. In the order of the block, behind the producer.
  llvm::SmallVector<mlir::Operation *> consumers;
};

/// Lists the choices of a block in order. They depend on the rules, but neither on the machine nor on marks.
std::vector<FusionChoice> listFusionChoices(mlir::Block &block, const FusionPolicy &policy = {});

/// Returns how many elements of a producer of static extents `consumer` reads, repeated reads counted; of a loop nest
/// at least that many.
double countReads(mlir::Operation *producer, mlir::Operation *consumer);

/// Returns the cycles of arithmetic for a vector of an operation's result, if each element is computed once.
double getVectorCycles(mlir::Operation *op, const FusionPolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_FUSION_FUSIONCHOICES_H
