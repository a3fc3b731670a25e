//===- Machine.h - what choices know of a processor -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_MACHINE_H
#define TENON_PASSES_COST_MACHINE_H

#include "passes/cost/Int8Dot.h"
#include "passes/cost/PanelPacking.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace mlir {
class Operation;
}

namespace tenon {

/// One core of a processor, and what it shares with others. A module says what it is for in `tenon.machine`.
struct Machine {
  int64_t vectorBytes = 64;
  int64_t vectorRegisters = 32;
  Int8Dot int8Dot = Int8Dot::Scalar;
  int64_t amxInt8 = 0;   ///< 1 where there are tile registers (AMX), and products of bytes in them
  int64_t amxBf16 = 0;   ///< the same of products of bf16
  int64_t bf16Pairs = 0; ///< 1 where vectors of f32 sum pairs of products of bf16 as fast as they do multiply-adds
  /// Columns of a panel of floats. Targets of one artifact share its weights, and so have the same number.
  int64_t panelColumns = kPanelColumns;
  int64_t multiplyAdds = 2;       ///< of whole vectors of floats that a core starts in a cycle
  int64_t l1Ways = 8;             ///< associativity of L1
  int64_t l2Bytes = 1 << 20;      ///< size of L2, the last cache that a core does not share
  double llcBytesPerCycle = 8;    ///< bandwidth of one core from the last-level cache
  int64_t llcBytes = 32 << 20;    ///< size of the last-level cache, which cores share
  double dramBytesPerCycle = 2.5; ///< bandwidth of one core from DRAM while all others read, too
  /// Bytes that a run of the model reads once: where they do not fit the shared cache, they come from memory each time.
  int64_t weightBytes = 0;

  /// The least cycles in which weights can be read.
  double getReadCycles(double bytes) const {
    return bytes / (weightBytes > llcBytes ? dramBytesPerCycle : llcBytesPerCycle);
  }

  double getMultiplyAdds(int64_t elementBytes) const {
    return static_cast<double>(multiplyAdds * vectorBytes) / elementBytes;
  }
};

/// The machine that `op` is compiled for: what the closest operation around it says, or the usual one.
Machine getMachine(mlir::Operation *op);

/// The figures that targets differ in, by name.
std::vector<std::pair<llvm::StringRef, int64_t>> listFigures(const Machine &machine);

/// Says it. What is the same for all targets, and what follows from the model, is left out.
void setMachine(mlir::Operation *module, const Machine &machine);

} // namespace tenon

#endif // TENON_PASSES_COST_MACHINE_H
