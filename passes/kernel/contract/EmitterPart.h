//===- EmitterPart.h - what the parts of a contraction's emitter share ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_EMITTERPART_H
#define TENON_PASSES_KERNEL_CONTRACT_EMITTERPART_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/cost/Int8Dot.h"
#include "passes/cost/RegisterBlock.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/ScratchLayout.h"
#include "passes/kernel/contract/LoopBuilder.h"

namespace tenon {

/// A contraction on buffers, and what its code depends on of the machine.
struct ContractionProblem {
  mlir::linalg::GenericOp op;
  Contraction contraction;
  kernel::ScheduleAttr schedule;
  ScratchLayout scratch;
  int64_t registers; ///< vector registers
  int64_t l1Ways;    ///< lines in a set of the L1 data cache
  Int8Dot int8Dot;
  mlir::Type type; ///< of the sums
  int64_t lanes;   ///< elements of that type in a vector register
  bool isFromZero; ///< true if the sums begin with zero, which is not stored in the destination
};

/// What a part of the emitter of a contraction works with.
class EmitterPart {
protected:
  EmitterPart(LoopBuilder &nest, const ContractionProblem &problem)
      : nest(nest), b(nest.b), loc(nest.loc), problem(problem), contraction(problem.contraction), op(problem.op),
        type(problem.type), lanes(problem.lanes) {}

  LoopBuilder &nest;
  mlir::OpBuilder &b;
  const mlir::Location loc;
  const ContractionProblem &problem;
  const Contraction &contraction;
  mlir::linalg::GenericOp op;
  const mlir::Type type;
  const int64_t lanes;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_EMITTERPART_H
