//===- FusionCost.h - what it costs to store a value, and to compute it again //
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_FUSIONCOST_H
#define TENON_PASSES_COST_FUSIONCOST_H

#include "passes/cost/Machine.h"
#include "llvm/ADT/ArrayRef.h"

namespace tenon {

/// What a kernel does, all of it.
struct KernelWork {
  double cycles; ///< of arithmetic on a core
  double bytes;  ///< read and written
};

/// Returns the cycles that a core takes to move `bytes`, from the smallest cache that holds all of them.
double getMoveCycles(double bytes, const Machine &machine);

/// Returns the cycles of a kernel on a core: the launch overhead, and the longer of arithmetic and memory traffic,
/// which overlap.
double getKernelCycles(const KernelWork &work, const Machine &machine);

/// A producer that is computed in a kernel of its own, or in those of its consumers.
struct Producer {
  double elements;
  double elementBytes;
  double operandBytes; ///< read to compute all elements
  double vectorCycles; ///< in which a vector of it is computed
};

/// A kernel that reads a producer.
struct Consumer {
  double reads;    ///< elements of the producer, repeated reads counted
  KernelWork work; ///< all else
};

/// Returns the cycles of the kernels of a producer and of its consumers if its result is stored in memory.
double getMaterializedCycles(const Producer &producer, llvm::ArrayRef<Consumer> consumers, const Machine &machine);

/// Returns the cycles of the kernels of its consumers if each of them computes the elements that it reads.
double getRecomputedCycles(const Producer &producer, llvm::ArrayRef<Consumer> consumers, const Machine &machine);

/// A value that is broadcast: another kernel reads it more often than it has elements.
struct Broadcast {
  double elements, reads; ///< reads: elements of what is computed of it
  double elementBytes;
  double vectorCycles;       ///< in which a vector of it is computed
  double readerVectorCycles; ///< likewise of what is computed of it
};

/// True if it is faster to recompute the value at each read than to store it once.
bool paysToRecompute(const Broadcast &value, const Machine &machine);

} // namespace tenon

#endif // TENON_PASSES_COST_FUSIONCOST_H
