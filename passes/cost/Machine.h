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

/// One core of a processor, and the caches and memory that it shares with others. `tenon.machine` on a module holds the
/// fields that differ between targets.
struct Machine {
  int64_t vectorBytes = 64;
  int64_t vectorRegisters = 32;
  Int8Dot int8Dot = Int8Dot::scalar;
  int64_t amxInt8 = 0;   ///< 1 for targets with AMX and its int8 products
  int64_t amxBf16 = 0;   ///< 1 for targets with AMX and its bf16 products
  int64_t bf16Pairs = 0; ///< 1 for targets whose bf16 dot-2 is as fast as an f32 multiply-add
  int64_t f16Fma = 0;    ///< 1 for targets with multiply-adds of f16 vectors, which have twice the elements of f32 ones
  /// The number of columns in a panel of f32 weights. The targets of an artifact share its weights, and so this number.
  int64_t panelColumns = kPanelColumns;
  int64_t multiplyAdds = 2;       ///< throughput of vector multiply-adds per cycle
  int64_t l2Bound = 0;            ///< 1 for targets whose vector products of panels wait for L2
  int64_t l1Ways = 8;             ///< associativity of L1
  int64_t l2Bytes = 1 << 20;      ///< size of L2, the last cache that a core does not share
  double l2BytesPerCycle = 32;    ///< bandwidth from L2: half a vector of AVX-512
  double llcBytesPerCycle = 8;    ///< bandwidth of one core from the last-level cache
  int64_t llcBytes = 32 << 20;    ///< size of the last-level cache, which cores share
  double dramBytesPerCycle = 2.5; ///< bandwidth of one core from DRAM while all others read, too
  double launchCycles = 1000;     ///< a barrier, and a call on each thread: a third of a microsecond
  /// The bytes of all weights, each of which a run reads once: if they exceed `llcBytes`, every run reads them from
  /// DRAM.
  int64_t weightBytes = 0;

  /// A lower bound for the cycles to read `bytes` of weights.
  double getReadCycles(double bytes) const {
    return bytes / (weightBytes > llcBytes ? dramBytesPerCycle : llcBytesPerCycle);
  }

  double getMultiplyAdds(int64_t elementBytes) const {
    return static_cast<double>(multiplyAdds * vectorBytes) / elementBytes;
  }
};

/// Returns the machine of the closest enclosing operation with `tenon.machine`, or the default one.
Machine getMachine(mlir::Operation *op);

/// The names and values of the fields that differ between targets.
std::vector<std::pair<llvm::StringRef, int64_t>> listFigures(const Machine &machine);

/// Attaches `machine` to the module as `tenon.machine`, without fields that are derived or equal on all targets.
void setMachine(mlir::Operation *module, const Machine &machine);

} // namespace tenon

#endif // TENON_PASSES_COST_MACHINE_H
