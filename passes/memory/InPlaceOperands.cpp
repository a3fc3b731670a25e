//===- InPlaceOperands.cpp - results in the memory of inputs ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-in-place-operands"

namespace tenon {
#define GEN_PASS_DEF_INPLACEOPERANDS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// What a kernel may write over
//===----------------------------------------------------------------------===//

/// True if every path of uses from `value` to `result` goes only through elementwise operations of the same shape, so
/// that each element of `result` depends on the element of `value` at the same index and no other; `nest`, unless null,
/// counts as one if its result may overwrite `value`. Each operation is visited once, however many paths lead to it.
static bool isReadInPlace(Value value, Value result, LoopNestOpInterface nest) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    Value current = reached[i];
    for (OpOperand &use : current.getUses()) {
      Operation *user = use.getOwner();
      if (isa<func::ReturnOp>(user)) {
        if (current != result)
          return false;
      } else if (nest && user == nest) {
        if (!nest.canOverwriteOperand(use.getOperandNumber()))
          return false;
      } else if (user->hasTrait<Elementwise>() && user->getNumResults() == 1 &&
                 getDims(user->getResult(0)) == getDims(value)) {
        reached.insert(user->getResult(0));
      } else {
        return false;
      }
    }
  }
  return true;
}

/// True if a kernel can overwrite an argument with its only result.
static bool canOverwrite(func::FuncOp kernel, BlockArgument argument) {
  auto terminator = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  if (terminator.getNumOperands() != 1 || argument.use_empty())
    return false;
  Value result = terminator.getOperand(0);
  if (result == argument || result.getType() != argument.getType())
    return false;
  LoopNestOpInterface nest;
  for (auto other : kernel.getBody().front().getOps<LoopNestOpInterface>()) {
    if (nest)
      return false;
    nest = other;
  }
  if (!nest)
    return isReadInPlace(argument, result, {});
  // The operations after the nest find its result in the argument's memory, so they must not read the argument itself.
  return nest->getResult(0).getType() == argument.getType() && isReadInPlace(argument, nest->getResult(0), nest) &&
         isReadInPlace(nest->getResult(0), result, {});
}

//===----------------------------------------------------------------------===//
// Which launches do
//===----------------------------------------------------------------------===//

/// The value whose memory a value lies in.
static Value getOwner(Value value, const llvm::DenseMap<Value, Value> &owners) {
  value = getViewed(value);
  while (Value owner = owners.lookup(value))
    value = getViewed(owner);
  return value;
}

namespace {
class BlockReuse {
public:
  BlockReuse(Block &block, mlir::SymbolTable &symbols) : block(block), symbols(symbols) {}
  void run(llvm::function_ref<StringRef(func::FuncOp, unsigned)> getVariant);

private:
  void collectUses();
  bool isFree(LaunchOp launch, unsigned input);

  struct Memory {
    Operation *lastUse = nullptr; ///< of the block's own operations
    bool isPinned = false;        ///< has a place that something else decides
  };

  Block &block;
  mlir::SymbolTable &symbols;
  llvm::DenseMap<Value, Value> owners;
  llvm::DenseMap<Value, Memory> memories;
};
} // namespace

void BlockReuse::collectUses() {
  for (Operation &op : block)
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands()) {
        Memory &memory = memories[getOwner(operand, owners)];
        memory.lastUse = &op;
        memory.isPinned |= isa<AppendOp, ConcatOp, StateUpdateOp, func::ReturnOp>(user);
      }
    });
}

/// True if `result` is only used as the next value of the loop-carried `value`, so that it belongs into the same
/// memory.
static bool isNextOf(Value value, Value result) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast_or_null<LoopOp>(argument.getOwner()->getParentOp()) : LoopOp();
  if (!loop || !keepsExtents(loop, argument))
    return false;
  OperandRange yielded = cast<YieldOp>(argument.getOwner()->getTerminator()).getValues();
  auto isResult = [&](Value other) { return getReshaped(other) == result; };
  Value next = yielded[argument.getArgNumber() + 1];
  return isResult(next) && next.getType() == value.getType() && llvm::count_if(yielded, isResult) == 1;
}

/// True if the memory of an input is an activation of this block, or is carried by the loop whose body this block is,
/// and nothing uses it after `launch`.
bool BlockReuse::isFree(LaunchOp launch, unsigned input) {
  Value owner = getOwner(launch.getInputs()[input], owners);
  Operation *definition = owner.getDefiningOp();
  bool isOfBlock = definition && definition->hasTrait<LaunchLike>() && definition->getBlock() == &block;
  if (!isOfBlock && !isNextOf(owner, launch.getResult(0)))
    return false;
  const Memory &memory = memories[owner];
  auto sharesMemory = [&](Value other) { return getOwner(other, owners) == owner; };
  return memory.lastUse == launch && !memory.isPinned && llvm::count_if(launch.getInputs(), sharesMemory) == 1;
}

void BlockReuse::run(llvm::function_ref<StringRef(func::FuncOp, unsigned)> getVariant) {
  collectUses();
  for (auto launch : block.getOps<LaunchOp>()) {
    if (launch.getNumResults() != 1 || memories[launch.getResult(0)].isPinned)
      continue;
    auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
    assert(kernel && kernel.getNumArguments() == launch.getInputs().size() && "a launch fits its kernel");
    for (unsigned i = 0; i < launch.getInputs().size(); ++i) {
      if (!isFree(launch, i) || !canOverwrite(kernel, kernel.getArgument(i)))
        continue;
      LDBG() << "writes the result of the launch at " << launch.getLoc() << " over its input " << i;
      launch.setKernel(getVariant(kernel, i));
      Value owner = getOwner(launch.getInputs()[i], owners);
      memories[owner] = memories[launch.getResult(0)];
      owners[launch.getResult(0)] = owner;
      break;
    }
  }
}

namespace {
struct InPlaceOperands : public tenon::impl::InPlaceOperandsBase<InPlaceOperands> {
  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    llvm::DenseMap<std::pair<Operation *, unsigned>, StringRef> variants;
    auto getVariant = [&](func::FuncOp kernel, unsigned argument) {
      StringRef &name = variants[{kernel, argument}];
      if (name.empty()) {
        func::FuncOp variant = kernel.clone();
        variant.setName((kernel.getName() + "_in_place" + Twine(argument)).str());
        variant.setArgAttr(argument, kReusedAttr, Builder(&getContext()).getI64IntegerAttr(0));
        symbols.insert(variant);
        name = variant.getName();
      }
      return name;
    };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kKernelAttr))
        continue;
      SmallVector<Block *> blocks;
      function.walk([&](Block *block) { blocks.push_back(block); });
      for (Block *block : blocks)
        BlockReuse(*block, symbols).run(getVariant);
    }
    eraseUnused(variants);
  }

private:
  /// Erases kernels all of whose launches call a variant now.
  void eraseUnused(const llvm::DenseMap<std::pair<Operation *, unsigned>, StringRef> &variants) {
    llvm::StringSet<> used;
    getOperation().walk([&](LaunchOp launch) { used.insert(launch.getKernel()); });
    llvm::SmallPtrSet<Operation *, 16> replaced;
    for (const auto &[key, name] : variants)
      replaced.insert(key.first);
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (replaced.contains(kernel) && !used.contains(kernel.getName()))
        kernel.erase();
  }
};
} // namespace
