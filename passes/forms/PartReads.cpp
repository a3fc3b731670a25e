//===- PartReads.cpp - what reading parts of a result costs ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/forms/PartReads.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"

using namespace mlir;
using namespace tenon;

/// How far operations are followed.
static constexpr int kMaxSteps = 16; // limit: hostile models

static bool keepsElements(Operation *op) { return op->hasTrait<Elementwise>() || isa<ReshapeOp, TransposeOp>(op); }

/// True if a softmax follows, with only elementwise operations in between.
static bool leadsToSoftmax(Operation *op, int steps) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return isa<SoftmaxOp>(user) || (steps > 0 && keepsElements(user) && leadsToSoftmax(user, steps - 1));
  });
}

static bool comesFromSoftmax(Value value, int steps) {
  Operation *op = value.getDefiningOp();
  return op &&
         (isa<SoftmaxOp>(op) || (steps > 0 && keepsElements(op) && comesFromSoftmax(op->getOperand(0), steps - 1)));
}

/// True if `op` is one of the two matmuls of attention, whose kernel can read slices of its operands.
static bool isInAttention(ContractOp op) {
  return leadsToSoftmax(op, kMaxSteps) ||
         llvm::any_of(op->getOperands(), [](Value operand) { return comesFromSoftmax(operand, kMaxSteps); });
}

/// Returns the last operation of the epilogue that starts at `op`.
static Operation *findEndOfEpilogue(Operation *op) {
  for (int i = 0; i < kMaxSteps && op->hasOneUse() && op->user_begin()->hasTrait<Elementwise>(); ++i)
    op = *op->user_begin();
  return op;
}

void PartReads::addReader(Value value, Operation *reader) {
  if (auto contract = dyn_cast<ContractOp>(reader)) {
    if (!isInAttention(contract))
      copied.insert(value);
    return;
  }
  if (auto nest = dyn_cast<LoopNestOpInterface>(reader)) {
    if (nest.getOperandFusion() < OperandFusion::recomputable)
      copied.insert(value);
    return;
  }
  if (reader->hasTrait<NoKernel>() || isa<func::ReturnOp, ConcatOp>(reader))
    copied.insert(value);
}

void PartReads::add(Value value, int64_t axis) {
  Dims dims = getDims(value);
  bool isView = llvm::all_of(ArrayRef(dims).take_front(axis), [](AffineExpr dim) { return getConstant(dim) == 1; });
  // An elementwise user that is the only one is fused into the epilogue of the kernel.
  if (value.hasOneUse() && value.user_begin()->hasTrait<Elementwise>()) {
    kernels.insert(findEndOfEpilogue(*value.user_begin()));
    return;
  }
  SmallVector<Value> values{value};
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *reader : values[i].getUsers()) {
      if (isa<ReshapeOp, TransposeOp>(reader) && values.size() < kMaxSteps)
        values.push_back(reader->getResult(0));
      else if (!isView || isa<func::ReturnOp>(reader))
        addReader(value, reader);
    }
}

/// Returns the bytes that a kernel reads and writes to copy a value.
static double countMovedBytes(Value value) {
  Operation *parent = value.getParentRegion()->getParentOp();
  auto function = isa<func::FuncOp>(parent) ? cast<func::FuncOp>(parent) : parent->getParentOfType<func::FuncOp>();
  SizeHints hints(function);
  double bytes = 2.0 * llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 8);
  for (AffineExpr dim : getDims(value))
    bytes *= estimateExtent(hints, dim);
  return bytes;
}

double PartReads::estimateCycles(const Machine &machine) const {
  double cycles = 0;
  auto add = [&](Value value) { cycles += machine.launchCycles + countMovedBytes(value) / machine.llcBytesPerCycle; };
  for (Value value : copied)
    add(value);
  for (Operation *op : kernels)
    add(op->getResult(0));
  return cycles;
}

std::string PartReads::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << copied.size() << " copied, " << kernels.size() << " without a product before";
  return text;
}
