//===- ConvertState.cpp - states, read and written where they lie ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of operations is final here, so here it is decided what shares memory
// with a state. A read is a view of it, unless an update writes rows of the read
// before its last use: then it is a copy. A launch writes the rows of an update in
// place, unless something needs what was there until the update: then they are
// copied. Both are decided by rows, as expressions: what is not known to be apart
// overlaps.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Views.h"
#include "passes/lower/tenon-to-plan/Conversion.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-to-plan"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Which rows, and when
//===----------------------------------------------------------------------===//

namespace {
/// The rows [begin, end) of a state that an operation reads or writes.
struct Rows {
  FlatSymbolRefAttr state;
  AffineExpr begin, end;
};
} // namespace

static Rows getRows(StateReadOp read) {
  return {read.getStateAttr(), getDimConstant(read.getContext(), 0), read.getRows()};
}

static Rows getRows(StateUpdateOp update) { return {update.getStateAttr(), update.getBegin(), update.getEnd()}; }

static bool mayOverlap(const Rows &a, const Rows &b, const Facts &facts) {
  return a.state == b.state && !facts.isAtMost(a.end, b.begin) && !facts.isAtMost(b.end, a.begin);
}

/// Returns the operation of `block` that contains `op`, or is `op`.
static Operation *getAncestor(Operation *op, Block *block) {
  while (op && op->getBlock() != block)
    op = op->getParentOp();
  assert(op && "what uses a value of main is in main");
  return op;
}

/// Returns the last operation of the value's block that uses the value or a view of it; null if there is none.
static Operation *getLastUse(Value value) {
  Block *block = value.getParentBlock();
  Operation *last = nullptr;
  SmallVector<Value> views{value};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      Operation *own = getAncestor(user, block);
      if (!last || last->isBeforeInBlock(own))
        last = own;
      if (user->hasTrait<ViewLike>())
        views.push_back(user->getResult(0));
    }
  return last;
}

/// Whether a value is used at `op` or after it.
static bool isUsedFrom(Value value, Operation *op) {
  Operation *last = getLastUse(value);
  return last && !last->isBeforeInBlock(op);
}

//===----------------------------------------------------------------------===//
// Memory of states
//===----------------------------------------------------------------------===//

static StateUpdateOp findExtension(func::FuncOp main, StateOp state) {
  for (auto update : main.getBody().front().getOps<StateUpdateOp>())
    if (update.getExtends() && update.getState() == state.getSymName())
      return update;
  return {};
}

/// Emits the value from which the runtime computes the live rows after the run: their number, or for a ring the number
/// of rows that are added.
Value Conversion::getNextRows(StateOp state) {
  StateUpdateOp extension = findExtension(main, state);
  if (!extension)
    return {};
  return sizes.build(state.getRing() ? getDim(extension.getValue(), 0) : extension.getEnd());
}

void Conversion::createStates() {
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  auto getNumber = [&](std::optional<StringRef> symbol) {
    return symbol ? b.getI64IntegerAttr(symbolNumbers.lookup(dialect->internSymbol(*symbol))) : IntegerAttr();
  };
  for (StateOp state : getStates(module, main))
    states[state.getSymName()] = plan::StateOp::create(
        b, state.getLoc(), plan::BufferType::get(b.getContext()), b.getStringAttr(state.getStateName()),
        state.getTypeAttr(), getNumber(state.getLive()), getNumber(state.getRing()), getNextRows(state),
        state.getInitialAttr(), b.getI64IntegerAttr(state.getSequence()));
}

/// Returns the buffer of the rows of a state from `begin` on, in which a value is stored or will be.
Value Conversion::createRows(FlatSymbolRefAttr state, AffineExpr begin, Value value, Location loc) {
  Dims row = getDims(value);
  if (!row.empty())
    row.erase(row.begin());
  AffineExpr elements = mulDims(begin, getElementCount(b.getContext(), row));
  int64_t bytes = llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 8);
  Value offset = sizes.build(mulDims(elements, getDimConstant(b.getContext(), bytes)));
  return createPart(states.at(state.getValue()), offset, getBytes(value), loc);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// True if `launch` may write the rows of `update`, which comes later, directly to the state.
bool Conversion::canWriteEarly(StateUpdateOp update, Operation *launch) {
  Rows rows = getRows(update);
  for (Operation &op : *update->getBlock()) {
    bool isBefore = op.isBeforeInBlock(launch);
    if (auto read = dyn_cast<StateReadOp>(op); read && mayOverlap(getRows(read), rows, facts)) {
      // Operations after the update read the new rows. For those before it, no use may follow the launch.
      if (op.isBeforeInBlock(update) && (!isBefore || isUsedFrom(read, launch)))
        return false;
    }
    auto other = dyn_cast<StateUpdateOp>(op);
    if (other && other != update && !isBefore && mayOverlap(getRows(other), rows, facts))
      return false;
  }
  return isKnownEarly({update.getBegin()}) && isKnownEarly(getDims(update.getValue()));
}

void Conversion::placeUpdates(Block &block) {
  for (auto update : block.getOps<StateUpdateOp>()) {
    Value source = getReshaped(update.getValue());
    Operation *launch = source.getDefiningOp();
    if (!launch || !launch->hasTrait<LaunchLike>() || launch->getBlock() != &block || buffers.contains(source) ||
        !canWriteEarly(update, launch)) {
      LDBG() << "copies rows to state " << update.getState() << " at " << update.getLoc();
      continue;
    }
    Value part = createRows(update.getStateAttr(), update.getBegin(), update.getValue(), update.getLoc());
    buffers[source] = updatesInPlace[update] = part;
  }
}

void Conversion::convertStateUpdate(StateUpdateOp update) {
  Value source = buffers.lookup(update.getValue());
  if (updatesInPlace.lookup(update) == source)
    return;
  Value part = createRows(update.getStateAttr(), update.getBegin(), update.getValue(), update.getLoc());
  createCopy(source, part, getBytes(update.getValue()), update.getLoc());
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// True if an update overwrites the rows of a read before its last use. An update whose rows a launch writes early has
/// no use of the read in between.
bool Conversion::isOverwritten(StateReadOp read) {
  for (Operation *op = read->getNextNode(); op; op = op->getNextNode())
    if (auto update = dyn_cast<StateUpdateOp>(op))
      if (mayOverlap(getRows(read), getRows(update), facts) && isUsedFrom(read, update))
        return true;
  return false;
}

void Conversion::convertStateRead(StateReadOp read) {
  Value part = createRows(read.getStateAttr(), getDimConstant(b.getContext(), 0), read, read.getLoc());
  buffers[read] = part;
  if (!isOverwritten(read))
    return;
  LDBG() << "copies what is read of state " << read.getState() << " at " << read.getLoc();
  buffers[read] = createAlloc(read);
  createCopy(part, buffers[read], getBytes(read), read.getLoc());
}
