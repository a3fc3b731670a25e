//===- VectorizeTransposes.cpp - transpose blocks in registers ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/kernel/transposes/Shuffles.h"
#include "passes/kernel/transposes/Transposes.h"

namespace tenon {
#define GEN_PASS_DEF_VECTORIZETRANSPOSES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static bool transpose(const StridedCopy &copy, int64_t vectorBytes) {
  if (copy.loops.size() < 2 || !copy.isContiguous(kInput) || !copy.isContiguous(kOutput) ||
      copy.orders[kInput][0] == copy.orders[kOutput][0])
    return false;
  // Each element must have its own source, otherwise blocks would be copies of one vector.
  if (copy.getInner(kOutput).strides[kInput] == 0)
    return false;
  return permuteRegisters(copy, vectorBytes) || transposeBlocks(copy, vectorBytes);
}

static bool vectorize(linalg::GenericOp op, int64_t vectorBytes) {
  std::optional<StridedCopy> copy = StridedCopy::match(op);
  if (!copy || copy->loops.size() < 2 || !copy->isContiguous(kInput) || !copy->isContiguous(kOutput))
    return false;
  Type type = copy->getElementType();
  if (!type.isIntOrFloat() || !llvm::is_contained({8, 16, 32, 64}, type.getIntOrFloatBitWidth()))
    return false;
  StridedCopy ofUnits = *copy;
  ofUnits.takeUnit(std::max(vectorBytes * 8 / 2, kLaneBits));
  return transpose(ofUnits, vectorBytes) || moveRuns(*copy, vectorBytes);
}

namespace {
struct VectorizeTransposes : public tenon::impl::VectorizeTransposesBase<VectorizeTransposes> {
  using VectorizeTransposesBase::VectorizeTransposesBase;
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> operations;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        operations.push_back(op);
    });
    for (linalg::GenericOp op : operations)
      if (vectorize(op, vectorBytes))
        op.erase();
  }
};
} // namespace
