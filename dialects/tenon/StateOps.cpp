//===- StateOps.cpp - checks of states, reads and updates -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// tenon.state
//===----------------------------------------------------------------------===//

SmallVector<AffineExpr> StateOp::getSymbols() {
  SmallVector<AffineExpr> symbols;
  for (std::optional<StringRef> name : {getLive(), getRing()})
    if (name)
      symbols.push_back(getDimSymbol(getContext(), *name));
  return symbols;
}

/// True if the bytes of a state, and of several states together, fit 63 bits with a margin.
static bool hasUsualSize(RankedTensorType type) {
  int64_t bytes = 16;
  for (int64_t dim : type.getShape())
    if (llvm::MulOverflow(bytes, std::max<int64_t>(dim, 1), bytes))
      return false;
  return bytes <= int64_t(1) << 56;
}

LogicalResult StateOp::verify() {
  RankedTensorType type = getTensorType();
  if (!type.hasStaticShape())
    return emitOpError("has dynamic dimensions, ")
           << dimsToString(getDims(type)) << "; its memory is as large in each run";
  if (!hasUsualSize(type))
    return emitOpError("has more bytes than can be addressed");
  if (getRing() && !getLive())
    return emitOpError("is a ring and needs a symbol for its live rows");
  if (getLive() && (type.getRank() == 0 || type.getDimSize(0) == 0))
    return emitOpError("has live rows, but no memory for any");
  if (getLive() && (getLive()->empty() || getLive() == getRing() || (getRing() && getRing()->empty())))
    return emitOpError("needs different names for its symbols");
  if (getSequence() > 0 && !getFirst())
    return emitOpError("is a state of sequence ") << getSequence() << " and does not name that of the first sequence";
  if (getSequence() == 0 && getFirst())
    return emitOpError("is a state of the first sequence and names another one, ") << getFirstAttr();
  if (!getInitial())
    return success();
  if (getLive())
    return emitOpError("has an initial value, although no row is live at first");
  if (getInitial()->getShapedType().getShape() != type.getShape() ||
      getInitial()->getElementType() != type.getElementType())
    return emitOpError("has an initial value of another type, ") << getInitial()->getShapedType();
  return success();
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!getFirst())
    return success();
  auto first = tables.lookupNearestSymbolFrom<StateOp>(*this, getFirstAttr());
  if (!first || first.getSequence() != 0)
    return emitOpError("is of ") << getFirstAttr() << ", which is no state of the first sequence";
  if (first.getTensorType() == getTensorType() && first.getInitialAttr() == getInitialAttr() &&
      bool(first.getLive()) == bool(getLive()) && bool(first.getRing()) == bool(getRing()))
    return success();
  InFlightDiagnostic diagnostic = emitOpError("differs in more than its symbols from the state of the first sequence");
  diagnostic.attachNote(first.getLoc()) << "the state is here";
  return diagnostic;
}

int64_t tenon::getNumSequences(Operation *function) {
  auto count = function->getAttrOfType<IntegerAttr>(kSequencesAttr);
  return count ? count.getInt() : 1;
}

SmallVector<StateOp> tenon::getStates(ModuleOp module, Operation *function) {
  SmallVector<StateOp> states;
  int64_t numSequences = getNumSequences(function);
  for (auto state : module.getOps<StateOp>())
    if (static_cast<int64_t>(state.getSequence()) < numSequences)
      states.push_back(state);
  llvm::stable_sort(states, [](StateOp a, StateOp b) { return a.getSequence() < b.getSequence(); });
  return states;
}

//===----------------------------------------------------------------------===//
// Reads and updates
//===----------------------------------------------------------------------===//

/// Verifies what reads and updates have in common: they are at the top level of a function, and name a state whose rows
/// have the type of those of `value`.
static FailureOr<StateOp> findState(Operation *op, FlatSymbolRefAttr name, Value value, SymbolTableCollection &tables) {
  auto state = tables.lookupNearestSymbolFrom<StateOp>(op, name);
  if (!state)
    return op->emitOpError("names ") << name << ", which is no tenon.state of the module";
  if (!isa<FunctionOpInterface>(op->getParentOp()))
    return op->emitOpError("is nested in a region, expected the top level of a function; select the value in the "
                           "branch or loop and write it after");
  if (static_cast<int64_t>(state.getSequence()) >= getNumSequences(op->getParentOp()))
    return op->emitOpError("names ") << name << ", a state of sequence " << state.getSequence() << ", in a function of "
                                     << getNumSequences(op->getParentOp());
  RankedTensorType whole = state.getTensorType();
  auto part = cast<RankedTensorType>(value.getType());
  bool hasRows = part.getRank() == whole.getRank() && part.getElementType() == whole.getElementType();
  for (int64_t i = 1; hasRows && i < part.getRank(); ++i)
    hasRows = part.getDimSize(i) == whole.getDimSize(i);
  if (hasRows && (part.getRank() == 0 || part.isDynamicDim(0) || part.getDimSize(0) <= whole.getDimSize(0)))
    return state;
  InFlightDiagnostic diagnostic = op->emitOpError("has rows of type ") << part << " for a state of type " << whole;
  diagnostic.attachNote(state.getLoc()) << "the state is here";
  return diagnostic;
}

/// The number of rows of a value, 1 for a scalar.
static AffineExpr countRows(Value value) {
  Dims dims = getDims(value);
  return dims.empty() ? getDimConstant(value.getContext(), 1) : dims.front();
}

StateOp StateReadOp::getDeclaration() {
  return mlir::SymbolTable::lookupNearestSymbolFrom<StateOp>(*this, getStateAttr());
}

StateOp StateUpdateOp::getDeclaration() {
  return mlir::SymbolTable::lookupNearestSymbolFrom<StateOp>(*this, getStateAttr());
}

AffineExpr StateReadOp::getRows() { return countRows(getResult()); }

AffineExpr StateUpdateOp::getEnd() { return addDims(getBegin(), countRows(getValue())); }

LogicalResult StateUpdateOp::verify() {
  if (getAt().getDims().size() != 1)
    return emitOpError("has ") << getAt().getDims().size() << " positions to write to, expected one";
  if (getConstant(getBegin()).value_or(0) < 0)
    return emitOpError("writes to row ") << *getConstant(getBegin());
  return success();
}

/// Returns the last update before `op`, in its block, of the requested kind.
static StateUpdateOp findUpdateBefore(Operation *op, FlatSymbolRefAttr name, bool extends) {
  while ((op = op->getPrevNode()))
    if (auto update = dyn_cast<StateUpdateOp>(op); update && update.getStateAttr() == name)
      if (update.getExtends() || !extends)
        return update;
  return {};
}

LogicalResult StateReadOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<StateOp> state = findState(*this, getStateAttr(), getResult(), tables);
  if (failed(state))
    return failure();
  // Before an update extends a ring, its live rows are not the first ones.
  if (state->getRing() && !findUpdateBefore(*this, getStateAttr(), /*extends=*/true))
    return emitOpError("reads a ring that is not updated before");
  return success();
}

static LogicalResult verifyRingUpdate(StateUpdateOp update, StateOp state) {
  std::optional<int64_t> rows = getConstant(countRows(update.getValue()));
  if (update.getExtends() && update.getBegin() == state.getSymbols()[1] && rows && *rows > 0 &&
      state.getCapacity() % *rows == 0)
    return success();
  InFlightDiagnostic diagnostic = update.emitOpError("is no update of a ring, which extends it at '")
                                  << *state.getRing() << "' by a number of rows that divides " << state.getCapacity();
  diagnostic.attachNote(state.getLoc()) << "the state is here";
  return diagnostic;
}

LogicalResult StateUpdateOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<StateOp> state = findState(*this, getStateAttr(), getValue(), tables);
  if (failed(state))
    return failure();
  if (getExtends() && !state->getLive())
    return emitOpError("extends a state that has no live rows to count");
  if (StateUpdateOp first = findUpdateBefore(*this, getStateAttr(), /*extends=*/true)) {
    InFlightDiagnostic diagnostic = emitOpError("follows the update that extends the state, which is the last one");
    diagnostic.attachNote(first.getLoc()) << "the state is extended here";
    return diagnostic;
  }
  return state->getRing() ? verifyRingUpdate(*this, *state) : success();
}

//===----------------------------------------------------------------------===//
// What sizes have to satisfy
//===----------------------------------------------------------------------===//

/// Returns the number of live rows of a state at an operation.
static AffineExpr getLiveRows(Operation *op, FlatSymbolRefAttr name, StateOp state) {
  if (!state.getLive())
    return getDimConstant(op->getContext(), state.getTensorType().getRank() ? state.getCapacity() : 1);
  AffineExpr live = state.getSymbols().front();
  StateUpdateOp extension = findUpdateBefore(op, name, /*extends=*/true);
  if (state.getRing())
    return extension ? addDims(live, countRows(extension.getValue())) : live;
  return extension ? extension.getEnd() : live;
}

void StateReadOp::collectExtentRequirements(ExtentRequirements &requirements) {
  requirements.addAtMost(*this, getRows(), getLiveRows(*this, getStateAttr(), getDeclaration()));
}

void StateUpdateOp::collectExtentRequirements(ExtentRequirements &requirements) {
  StateOp state = getDeclaration();
  AffineExpr capacity = getDimConstant(getContext(), state.getTensorType().getRank() ? state.getCapacity() : 1);
  requirements.addAtMost(*this, getDimConstant(getContext(), 0), getBegin());
  requirements.addAtMost(*this, getEnd(), capacity);
  if (!state.getLive() || state.getRing())
    return;
  AffineExpr live = state.getSymbols().front();
  requirements.addAtMost(*this, getExtends() ? getBegin() : getEnd(), live);
}
