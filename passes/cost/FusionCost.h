//===- FusionCost.h - what it costs to store a value, and to compute it again //
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_FUSIONCOST_H
#define TENON_PASSES_COST_FUSIONCOST_H

#include "passes/cost/Machine.h"

namespace tenon {

/// What a kernel does, all of it.
struct KernelWork {
  double cycles; ///< of arithmetic on a core
  double bytes;  ///< read and written
};

/// Cycles in which a core moves bytes, from the smallest cache that holds all of them.
double getMoveCycles(double bytes, const Machine &machine);

/// Cycles of a kernel on a core: arithmetic goes on while bytes come, so the longer of the two counts, and what it
/// takes to launch it.
double getKernelCycles(const KernelWork &work, const Machine &machine);

/// A value that another kernel reads more often than it has elements: one that is broadcast.
struct Broadcast {
  double elements, reads; ///< reads: elements of what is computed of it
  double elementBytes;
  double vectorCycles;       ///< in which a vector of it is computed
  double readerVectorCycles; ///< likewise of what is computed of it
};

/// Whether it is faster to compute the value where it is read, as often as that is, than to store it once.
bool paysToRecompute(const Broadcast &value, const Machine &machine);

} // namespace tenon

#endif // TENON_PASSES_COST_FUSIONCOST_H
