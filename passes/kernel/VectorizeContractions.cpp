//===- VectorizeContractions.cpp - register-blocked loops for matrix products ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/kernel/contract/ContractionEmitter.h"

namespace tenon {
#define GEN_PASS_DEF_VECTORIZECONTRACTIONS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Returns the operation that zeroes the memory of the sums, if nothing uses the memory in between.
static linalg::FillOp getZeroFill(kernel::ContractOp op) {
  Value out = op.getDpsInits()[0];
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before); fill && fill.getOutputs()[0] == out)
      return isZero(fill.getInputs()[0]) ? fill : linalg::FillOp();
    if (!isPure(before) && !isa<memref::AllocOp>(before))
      break;
  }
  return {};
}

namespace {
struct VectorizeContractions : public tenon::impl::VectorizeContractionsBase<VectorizeContractions> {
  using VectorizeContractionsBase::VectorizeContractionsBase;
  void runOnOperation() override {
    SmallVector<kernel::ContractOp> contractions;
    getOperation().walk([&](kernel::ContractOp op) {
      if (op.hasPureBufferSemantics())
        contractions.push_back(op);
    });
    const ContractionMachine machine{vectorBytes, registers, l1Ways, int8Dot, bf16Pairs};
    for (kernel::ContractOp op : contractions)
      emit(op, machine);
  }

private:
  /// Replaces the operation by its loops, if a micro-kernel can emit them.
  void emit(kernel::ContractOp op, const ContractionMachine &machine) {
    std::optional<Contraction> contraction = readContraction(op);
    if (!contraction)
      return;
    linalg::FillOp fill = getZeroFill(op);
    ContractionProblem problem = getContractionProblem(op, *contraction, machine, /*isFromZero=*/bool(fill));
    if (!canEmitContraction(problem))
      return;
    if (fill)
      fill.erase();
    emitContraction(problem);
    op.erase();
  }
};
} // namespace
