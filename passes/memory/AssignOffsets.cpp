//===- AssignOffsets.cpp - places in the arena for activations ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/memory/Packer.h"
#include "runtime/format/Kernel.h"
#include "llvm/ADT/MapVector.h"

namespace tenon {
#define GEN_PASS_DEF_ASSIGNOFFSETS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static constexpr int64_t kAlignment = TENON_BUFFER_ALIGNMENT;

namespace {

/// An activation and the numbers of the first and the last instruction that use it.
struct Activation {
  plan::AllocOp alloc;
  int64_t first, last;
  std::optional<int64_t> size;
};

} // namespace

static SmallVector<Activation> computeLifetimes(plan::ProgramOp program) {
  SmallVector<Activation> activations;
  llvm::DenseMap<Value, size_t> index;
  int64_t time = 0;
  for (Operation &op : program.getBody().front()) {
    if (auto alloc = dyn_cast<plan::AllocOp>(op)) {
      APInt constant;
      std::optional<int64_t> size;
      if (matchPattern(alloc.getSize(), m_ConstantInt(&constant)))
        size = constant.getSExtValue();
      index[alloc.getBuffer()] = activations.size();
      activations.push_back({alloc, -1, -1, size});
      continue;
    }
    if (!isa<plan::LaunchOp, plan::CopyOp>(op))
      continue;
    for (Value operand : op.getOperands())
      if (auto it = index.find(operand); it != index.end()) {
        Activation &activation = activations[it->second];
        if (activation.first < 0)
          activation.first = time;
        activation.last = time;
      }
    ++time;
  }
  return activations;
}

namespace {
struct AssignOffsets : public tenon::impl::AssignOffsetsBase<AssignOffsets> {
  void runOnOperation() override {
    program = getOperation();
    SmallVector<Activation> activations = computeLifetimes(program);
    if (activations.empty())
      return;
    Block &body = program.getBody().front();
    OpBuilder b(program.getContext());
    Location loc = program.getLoc();

    // Sizes are arithmetic that must come before the arena, which comes before everything that uses it.
    hoistSizes(body);
    b.setInsertionPoint(activations.front().alloc);

    std::vector<PackerBuffer> constant;
    for (const Activation &activation : activations)
      if (activation.size)
        constant.push_back({activation.first, activation.last + 1, *activation.size});
    Packing packing = packBuffers(constant, kAlignment);
    assert(!findPackingFault(constant, packing, kAlignment) && "two activations in one place");
    numActivations += activations.size();
    bytes += packing.peak;
    lowerBoundBytes += getPackingLowerBound(constant, kAlignment);

    SmallVector<Value> offsets(activations.size());
    size_t next = 0;
    for (auto [i, activation] : llvm::enumerate(activations))
      if (activation.size)
        offsets[i] = arith::ConstantIndexOp::create(b, loc, packing.offsets[next++]);
    Value end = arith::ConstantIndexOp::create(b, loc, packing.peak);
    end = placeSymbolic(b, activations, offsets, end);

    Type type = plan::BufferType::get(program.getContext());
    Value arena = plan::ArenaOp::create(b, loc, type, end);
    for (auto [activation, offset] : llvm::zip(activations, offsets)) {
      b.setInsertionPoint(activation.alloc);
      Value view = plan::ViewOp::create(b, activation.alloc.getLoc(), type, arena, offset, activation.alloc.getSize(),
                                        activation.alloc.getNameAttr());
      activation.alloc.replaceAllUsesWith(view);
      activation.alloc.erase();
    }
  }

private:
  /// Moves all index arithmetic to the start of the program: it depends on symbols alone.
  void hoistSizes(Block &body) {
    SmallVector<Operation *> arithmetic;
    for (Operation &op : body)
      if (isa<arith::ArithDialect>(op.getDialect()))
        arithmetic.push_back(&op);
    Operation *anchor = nullptr;
    for (Operation *op : arithmetic) {
      if (anchor)
        op->moveAfter(anchor);
      else
        op->moveBefore(&body, body.begin());
      anchor = op;
    }
  }

  /// Activations whose size depends on symbols share slots: a slot is as large as the largest of those that
  /// lie in it, one after the other. Equal sizes go together where they can, since they waste nothing.
  Value placeSymbolic(OpBuilder &b, ArrayRef<Activation> activations, MutableArrayRef<Value> offsets, Value end) {
    struct Slot {
      int64_t busyUntil;
      SmallVector<Value> sizes;
      SmallVector<size_t> members;
    };
    SmallVector<Slot> slots;
    SmallVector<size_t> order;
    for (auto [i, activation] : llvm::enumerate(activations))
      if (!activation.size)
        order.push_back(i);
    llvm::stable_sort(order, [&](size_t x, size_t y) { return activations[x].first < activations[y].first; });
    for (size_t i : order) {
      const Activation &activation = activations[i];
      Value size = activation.alloc->getOperand(0);
      auto isFree = [&](const Slot &slot) { return slot.busyUntil < activation.first; };
      auto *slot = llvm::find_if(slots, [&](const Slot &s) { return isFree(s) && llvm::is_contained(s.sizes, size); });
      if (slot == slots.end())
        slot = llvm::find_if(slots, isFree);
      if (slot == slots.end()) {
        slots.emplace_back();
        slot = &slots.back();
      }
      slot->busyUntil = activation.last;
      slot->members.push_back(i);
      if (!llvm::is_contained(slot->sizes, size))
        slot->sizes.push_back(size);
    }
    Location loc = program.getLoc();
    Value alignment = arith::ConstantIndexOp::create(b, loc, kAlignment);
    for (const Slot &slot : slots) {
      Value size = slot.sizes.front();
      for (Value other : ArrayRef(slot.sizes).drop_front())
        size = arith::MaxSIOp::create(b, loc, size, other);
      for (size_t i : slot.members)
        offsets[i] = end;
      Value blocks = arith::CeilDivSIOp::create(b, loc, size, alignment);
      end = arith::AddIOp::create(b, loc, end, arith::MulIOp::create(b, loc, blocks, alignment));
    }
    return end;
  }

  plan::ProgramOp program;
};
} // namespace
