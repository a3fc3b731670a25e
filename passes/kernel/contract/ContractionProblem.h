//===- ContractionProblem.h - a contraction on buffers, for one core ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONPROBLEM_H
#define TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONPROBLEM_H

#include "passes/cost/EmitterPolicy.h"
#include "passes/cost/Int8Dot.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/ScratchLayout.h"

namespace tenon {

/// The summed loop of a convolution that moves along the input with the rows: row r reads the element at `stride` * r +
/// `dilation` * tap.
struct WindowLoop {
  unsigned loop;
  int64_t stride, dilation, taps;
  bool hasBounds; ///< true if rows at the border of the input read only some of the taps
};

/// The properties of a core that the code of a contraction depends on.
struct ContractionMachine {
  int64_t vectorBytes, registers;
  int64_t l1Ways; ///< lines in a set of the L1 data cache
  Int8Dot int8Dot;
  bool bf16Pairs = false; ///< has dot products of two bf16
};

/// A factor that replaces the RHS where it is read: the RHS plus `other`, or less `other`. Each vector of it is stored
/// in `sum`; all three have the same layout.
struct SummedPanel {
  mlir::Value other;
  bool isDifference;
  mlir::Value sum;
};

/// A contraction on buffers, and the properties of the machine that its code depends on.
struct ContractionProblem {
  kernel::ContractOp op;
  Contraction contraction;
  kernel::ScheduleAttr schedule;
  ScratchLayout scratch;
  std::optional<WindowLoop> window; ///< none if the rows are not those of a convolution
  int64_t registers;                ///< vector registers
  int64_t l1Ways;                   ///< lines in a set of the L1 data cache
  Int8Dot int8Dot;
  bool bf16Pairs;  ///< has dot products of two bf16
  mlir::Type type; ///< of the sums
  int64_t lanes;   ///< elements of that type in a vector register
  bool isFromZero; ///< true if the sums begin with zero, which is not stored in the destination
  /// What is read after the last panel of the RHS, [step, column] of a panel, to be prefetched; null if that is the
  /// panel which follows in memory.
  mlir::Value nextPanel = {};
  std::optional<SummedPanel> summedPanel = {}; ///< of micro-kernels that broadcast elements of the LHS
  EmitterPolicy policy = {};
  PackingPolicy packing = {};

  /// True if the sums of a block take nearly all vector registers: 16, as x86 has before AVX-512.
  bool hasFewRegisters() const { return registers <= kFewRegisters; }
};

/// Collects the properties that the code of `op` depends on. Rows whose bounds are not those of a window become an
/// outer loop. If `isFromZero`, the destination is not read.
ContractionProblem getContractionProblem(kernel::ContractOp op, const Contraction &contraction,
                                         const ContractionMachine &machine, bool isFromZero);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONPROBLEM_H
