//===- AssignOffsets.cpp - places in the arena for activations ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/memory/Lifetimes.h"
#include "passes/memory/placement/Place.h"
#include "passes/memory/placement/Validate.h"
#include "runtime/format/Kernel.h"

namespace tenon {
#define GEN_PASS_DEF_ASSIGNOFFSETS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static constexpr int64_t kAlignment = TENON_BUFFER_ALIGNMENT;

/// Less than 50 ms, and most often far less: greedy orders alone find the smallest arena of most networks.
static constexpr int64_t kPlacementSteps = 8'000'000;

/// How many of the program's symbols inputs bind: the others get their values from instructions, so a size
/// that depends on one is not known before the run.
static SmallVector<bool> findLateSymbols(plan::ProgramOp program) {
  SmallVector<bool> late(program.getBody().getNumArguments());
  program.walk([&](Operation *op) {
    if (auto bind = dyn_cast<plan::BindOp>(op))
      late[bind.getSymbol()] = true;
    else if (auto set = dyn_cast<plan::SetOp>(op))
      late[set.getSymbol()] = true;
  });
  return late;
}

namespace {

struct AssignOffsets : public tenon::impl::AssignOffsetsBase<AssignOffsets> {
  void runOnOperation() override {
    program = getOperation();
    findLateValues();
    std::vector<Activation> early, late;
    for (Activation &activation : computeLifetimes(program))
      (isLate.contains(activation.alloc.getSize()) ? late : early).push_back(activation);
    placeInBlocks(late);
    placeInArena(early);
    // The memory of what is left has been settled.
    SmallVector<plan::ReserveOp> reserves;
    program.walk([&](plan::ReserveOp reserve) {
      if (!reserve.getBuffer().getDefiningOp<plan::HeapOp>())
        reserves.push_back(reserve);
    });
    for (plan::ReserveOp reserve : reserves)
      reserve.erase();
  }

private:
  /// Index arithmetic that depends on symbols which instructions bind.
  void findLateValues() {
    SmallVector<bool> symbols = findLateSymbols(program);
    for (auto [argument, late] : llvm::zip(program.getBody().getArguments(), symbols))
      if (late)
        isLate.insert(argument);
    program.walk([&](Operation *op) {
      if (isa<arith::ArithDialect>(op->getDialect()) &&
          llvm::any_of(op->getOperands(), [&](Value operand) { return isLate.contains(operand); }))
        isLate.insert(op->getResult(0));
    });
  }

  /// Aliases become parts of what they are aliases of: `makePart` gives one, from an offset and a size.
  void replace(plan::AllocOp alloc, Value whole,
               llvm::function_ref<Value(OpBuilder &, Value offset, Value size)> makePart) {
    SmallVector<plan::AliasOp> aliases;
    for (Operation *user : alloc->getUsers())
      if (auto alias = dyn_cast<plan::AliasOp>(user))
        aliases.push_back(alias);
    for (plan::AliasOp alias : aliases) {
      OpBuilder b(alias);
      alias.replaceAllUsesWith(makePart(b, alias.getOffset(), alias.getSize()));
      alias.erase();
    }
    alloc.replaceAllUsesWith(whole);
    alloc.erase();
  }

  /// Activations whose size data decides: a block each, which later ones may use again.
  void placeInBlocks(ArrayRef<Activation> activations) {
    SmallVector<int64_t> busyUntil;
    SmallVector<Activation> order(activations);
    llvm::stable_sort(order, [](const Activation &a, const Activation &b) { return a.first < b.first; });
    Type type = plan::BufferType::get(&getContext());
    for (Activation &activation : order) {
      auto *free = llvm::find_if(busyUntil, [&](int64_t until) { return until < activation.first; });
      int64_t block = free - busyUntil.begin();
      if (free == busyUntil.end())
        busyUntil.push_back(0);
      busyUntil[block] = activation.last;
      plan::AllocOp alloc = activation.alloc;
      OpBuilder b(alloc);
      Location loc = alloc.getLoc();
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      auto makePart = [&](OpBuilder &at, Value offset, Value size) -> Value {
        return plan::HeapOp::create(at, loc, type, block, offset, size, alloc.getNameAttr());
      };
      Value whole = makePart(b, zero, alloc.getSize());
      plan::ReserveOp::create(b, loc, whole, alloc.getSize(), false,
                              alloc.getNameAttr() ? alloc.getNameAttr() : b.getStringAttr(""));
      replace(alloc, whole, makePart);
    }
  }

  void placeInArena(ArrayRef<Activation> activations) {
    if (activations.empty())
      return;
    Block &body = program.getBody().front();
    OpBuilder b(program.getContext());
    Location loc = program.getLoc();

    // Sizes are arithmetic that must come before the arena, which comes before everything that uses it.
    Operation *anchor = hoistSizes(body);
    if (anchor)
      b.setInsertionPointAfter(anchor);
    else
      b.setInsertionPointToStart(&body);

    placement::Instance constant;
    for (const Activation &activation : activations)
      if (activation.size)
        constant.push_back({activation.first, activation.last + 1,
                            placement::alignTo(*activation.size, kAlignment), kAlignment});
    if (std::optional<placement::InstanceFault> fault = placement::findInstanceFault(constant)) {
      emitUnsupported(program) << "activations cannot be placed: " << fault->text;
      return signalPassFailure();
    }
    placement::PlaceResult placed = placement::place(constant, placement::Budget(kPlacementSteps));
    assert(!placement::findPlacementFault(constant, placed.placement) && "two activations in one place");
    numActivations += activations.size();
    bytes += placed.placement.peak;
    lowerBoundBytes += placed.lowerBound;

    SmallVector<Value> offsets(activations.size());
    size_t next = 0;
    for (auto [i, activation] : llvm::enumerate(activations))
      if (activation.size)
        offsets[i] = arith::ConstantIndexOp::create(b, loc, placed.placement.offsets[next++]);
    Value end = arith::ConstantIndexOp::create(b, loc, placed.placement.peak);
    end = placeSymbolic(b, activations, offsets, end);

    Type type = plan::BufferType::get(program.getContext());
    Value arena = plan::ArenaOp::create(b, loc, type, end);
    for (auto [activation, offset] : llvm::zip(activations, offsets)) {
      plan::AllocOp alloc = activation.alloc;
      Value start = offset;
      auto makePart = [&](OpBuilder &at, Value partOffset, Value size) -> Value {
        Value sum = arith::AddIOp::create(at, alloc.getLoc(), start, partOffset);
        return plan::ViewOp::create(at, alloc.getLoc(), type, arena, sum, size, alloc.getNameAttr());
      };
      OpBuilder at(alloc);
      Value whole = plan::ViewOp::create(at, alloc.getLoc(), type, arena, start, alloc.getSize(), alloc.getNameAttr());
      replace(alloc, whole, makePart);
    }
  }

  /// Moves all index arithmetic to the start of the program: it depends on symbols alone. The last of it.
  Operation *hoistSizes(Block &body) {
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
    return anchor;
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
      Value size = plan::AllocOp(activation.alloc).getSize();
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
  llvm::DenseSet<Value> isLate;
};
} // namespace
