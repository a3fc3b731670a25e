//===- EmitterPart.h - what the parts of a contraction's emitter share ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_EMITTERPART_H
#define TENON_PASSES_KERNEL_CONTRACT_EMITTERPART_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/cost/RegisterBlock.h"
#include "passes/kernel/contract/ContractionProblem.h"
#include "passes/kernel/contract/LoopBuilder.h"

namespace tenon {

/// The register block at the current row and column for which code is emitted.
struct SumBlock {
  int64_t rows, vectors;
  mlir::Value mask; ///< of the columns of the last vector; null if it has all of them
};

/// Base class of the parts that emit a contraction; it has the state that they share.
class EmitterPart {
protected:
  EmitterPart(LoopBuilder &nest, const ContractionProblem &problem)
      : nest(nest), b(nest.b), loc(nest.loc), problem(problem), contraction(problem.contraction), op(problem.op),
        type(problem.type), lanes(problem.lanes) {}

  LoopBuilder &nest;
  mlir::OpBuilder &b;
  const mlir::Location loc;
  const ContractionProblem &problem;
  const Contraction &contraction; ///< `lhs` and `rhs` are as stored; Operands has their packed copies
  kernel::ContractOp op;
  const mlir::Type type;
  const int64_t lanes;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_EMITTERPART_H
