//===- ConvertControl.cpp - late sizes, branches and loops as instructions ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a branch or a time of a loop yields is copied to memory that the values
// around it own. Extents that differ between what is yielded are symbols, which
// change after the copy: until then, the sizes of all buffers are the old ones.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Unsupported.h"
#include "passes/lower/tenon-to-plan/Conversion.h"

using namespace mlir;
using namespace tenon;

/// Emits a check that a size does not exceed its bound, which the memory layout relies on.
void Conversion::checkBound(BindOp bind, int64_t position, AffineExpr symbol) {
  AffineExpr bound = bind.getBounds() ? bind.getBounds()->getDims()[position] : AffineExpr();
  if (!bound || isUnknownDim(bound))
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "data asks for a size above ";
  printDim(os, bound);
  os << ", the most that there can be";
  plan::CheckOp::create(b, bind.getLoc(), sizes.build(subDims(bound, symbol)), b.getStringAttr(text),
                        getName(bind.getLoc()));
}

void Conversion::convertBind(BindOp bind) {
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  std::optional<Dims> known = getKnownElements(bind.getValues());
  for (auto [i, name] : llvm::enumerate(bind.getSymbols().getAsValueRange<StringAttr>())) {
    if (name.empty())
      continue; // An element that nobody needs.
    assert(symbolNumbers.contains(dialect->internSymbol(name)) && "the program has each symbol that is bound");
    int64_t number = symbolNumbers.lookup(dialect->internSymbol(name));
    if (known)
      plan::SetOp::create(b, bind.getLoc(), number, sizes.build((*known)[i]), getName(bind.getLoc()));
    else
      plan::BindOp::create(b, bind.getLoc(), buffers.lookup(bind.getValues()), i, number, bind.getMin(),
                           getName(bind.getLoc()));
    checkBound(bind, i, getDimSymbol(b.getContext(), name));
  }
}

void Conversion::convertRequire(RequireOp require) {
  for (AffineExpr dim : require.getValues().getDims())
    plan::CheckOp::create(b, require.getLoc(), sizes.build(dim), require.getTextAttr(), getName(require.getLoc()));
}

LogicalResult Conversion::convertAppend(AppendOp append) {
  Value memory = buffers.lookup(append.getInput());
  if (!memory.getDefiningOp<plan::AllocOp>() || !append.getInput().hasOneUse())
    return append.emitOpError("needs memory of its own for its input");
  Location loc = append.getLoc();
  Type type = plan::BufferType::get(b.getContext());
  Value before = getBytes(append.getInput()), added = getBytes(append.getSlice()), after = getBytes(append.getResult());
  plan::ReserveOp::create(b, loc, memory, after, true, getName(loc));
  Value end = plan::AliasOp::create(b, loc, type, memory, before, added, StringAttr());
  createCopy(buffers.lookup(append.getSlice()), end, added, loc);
  Value start = sizes.build(getDimConstant(b.getContext(), 0));
  buffers[append.getResult()] = plan::AliasOp::create(b, loc, type, memory, start, after, StringAttr());
  return success();
}

/// Returns the allocation that a buffer is a part of, or the buffer itself.
static Value getMemory(Value buffer) {
  while (auto alias = buffer.getDefiningOp<plan::AliasOp>())
    buffer = alias.getSource();
  return buffer;
}

/// True if a buffer is at offset 0 of its allocation, and that allocation is `memory`.
static bool isAtStartOf(Value memory, Value buffer) {
  auto alias = buffer.getDefiningOp<plan::AliasOp>();
  return buffer == memory || (alias && alias.getSource() == memory && isConstantIntValue(alias.getOffset(), 0));
}

/// Copies values to targets as a parallel assignment: a value that would be overwritten too early is moved first.
void Conversion::move(ValueRange values, ValueRange targets) {
  Type type = plan::BufferType::get(b.getContext());
  Value start = sizes.build(getDimConstant(b.getContext(), 0));
  SmallVector<Value> sources;
  for (auto [value, target] : llvm::zip(values, targets)) {
    Value source = buffers.lookup(value);
    if (!isAtStartOf(target, source) && llvm::is_contained(targets, getMemory(source))) {
      Value aside = createAlloc(value);
      createCopy(source, aside, getBytes(value), value.getLoc());
      source = aside;
    }
    sources.push_back(source);
  }
  for (auto [value, source, target] : llvm::zip(values, sources, targets)) {
    if (isAtStartOf(target, source))
      continue;
    Location loc = value.getLoc();
    plan::ReserveOp::create(b, loc, target, getBytes(value), false, getName(loc));
    createCopy(source, plan::AliasOp::create(b, loc, type, target, start, getBytes(value), StringAttr()),
               getBytes(value), loc);
  }
}

/// Sets each symbol to the extent at which `types` names it, in the dimensions of `values`.
void Conversion::setSymbols(std::optional<ArrayAttr> symbols, TypeRange types, ValueRange values, Location loc) {
  if (!symbols)
    return;
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  SmallVector<std::pair<unsigned, AffineExpr>> changes;
  for (StringRef name : symbols->getAsValueRange<StringAttr>()) {
    AffineExpr symbol = getDimSymbol(b.getContext(), name), wanted;
    for (auto [type, value] : llvm::zip(types, values))
      for (auto [dim, actual] : llvm::zip(getDims(cast<RankedTensorType>(type)), getDims(value)))
        if (dim == symbol && !wanted)
          wanted = actual;
    if (wanted && wanted != symbol)
      changes.push_back({dialect->internSymbol(name), wanted});
  }
  // The assignment is parallel: a value that depends on another symbol of the list is saved before that symbol changes.
  auto dependsOnOther = [&](AffineExpr expr, unsigned self) {
    bool result = false;
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        result |= symbol.getPosition() != self &&
                  llvm::any_of(changes, [&](const auto &change) { return change.first == symbol.getPosition(); });
    });
    return result;
  };
  for (auto &[symbol, wanted] : changes)
    if (dependsOnOther(wanted, symbol))
      wanted = saveInSymbol(wanted, loc);
  for (auto [symbol, wanted] : changes) {
    assert(symbolNumbers.contains(symbol) && "the program has each symbol that is set");
    plan::SetOp::create(b, loc, symbolNumbers.lookup(symbol), sizes.build(wanted), getName(loc));
  }
}

/// Creates a symbol of the program that saves the current value of an expression.
AffineExpr Conversion::saveInSymbol(AffineExpr expr, Location loc) {
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  SmallVector<Attribute> names(program.getSymbols().getValue());
  std::string name = "saved." + std::to_string(names.size());
  unsigned symbol = dialect->internSymbol(name);
  symbolNumbers[symbol] = names.size();
  names.push_back(b.getStringAttr(name));
  program.setSymbolsAttr(b.getArrayAttr(names));
  sizes.bind(symbol, program.getBody().addArgument(b.getIndexType(), loc));
  plan::SetOp::create(b, loc, symbolNumbers[symbol], sizes.build(expr), getName(loc));
  return getDimSymbol(b.getContext(), name);
}

LogicalResult Conversion::convertBranch(IfOp op, Block &block, Block &into) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&into);
  if (failed(convertBlock(block)))
    return failure();
  auto yield = cast<YieldOp>(block.getTerminator());
  SmallVector<Value> targets;
  for (Value result : op.getResults())
    targets.push_back(buffers.lookup(result));
  move(yield.getValues(), targets);
  setSymbols(op.getSymbols(), op.getResultTypes(), yield.getValues(), op.getLoc());
  return success();
}

LogicalResult Conversion::convertIf(IfOp op) {
  for (Value result : op.getResults())
    buffers[result] = createAlloc(result);
  auto branch = plan::IfOp::create(b, op.getLoc(), buffers.lookup(op.getCondition()), getName(op.getLoc()));
  Block &thenBlock = branch.getThenBody().emplaceBlock(), &elseBlock = branch.getElseBody().emplaceBlock();
  if (failed(convertBranch(op, op.getThenBody().front(), thenBlock)))
    return failure();
  return convertBranch(op, op.getElseBody().front(), elseBlock);
}

/// Lets a launch write a value for the next iteration of a loop directly to its memory if nothing reads the old content
/// any more. `targets` are the memory of the condition, then of the values that the loop carries.
void Conversion::placeYields(LoopOp op, ArrayRef<Value> targets) {
  Block &body = op.getBody().front();
  llvm::DenseMap<Value, Operation *> lastUses;
  for (Operation &inner : body)
    inner.walk([&](Operation *user) {
      for (Value operand : user->getOperands())
        lastUses[getViewed(operand)] = &inner;
    });
  OperandRange yielded = cast<YieldOp>(body.getTerminator()).getValues();
  for (auto [i, value, target] : llvm::enumerate(yielded, targets)) {
    Value source = getReshaped(value);
    BlockArgument argument = i ? body.getArgument(i - 1) : BlockArgument();
    Operation *definition = source.getDefiningOp(), *lastUse = lastUses.lookup(argument);
    if (!definition || !definition->hasTrait<LaunchLike>() || definition->getBlock() != &body ||
        buffers.contains(source))
      continue;
    bool isOnce = llvm::count_if(yielded, [&](Value other) { return getReshaped(other) == source; }) == 1;
    bool isFree = !argument || (value.getType() == argument.getType() && keepsExtents(op, argument) &&
                                (!lastUse || lastUse->isBeforeInBlock(definition)));
    if (isOnce && isFree)
      buffers[source] = target;
  }
}

LogicalResult Conversion::convertLoop(LoopOp op) {
  Location loc = op.getLoc();
  setSymbols(op.getSymbols(), op.getResultTypes(), op.getInits(), loc);
  Block &body = op.getBody().front();
  SmallVector<Value> inits{op.getCondition()}, targets{createAlloc(op.getCondition())};
  llvm::append_range(inits, op.getInits());
  for (auto [argument, result] : llvm::zip(body.getArguments(), op.getResults())) {
    // The value is computed first, because an insertion may move the map's entries.
    Value target = createAlloc(result);
    buffers[argument] = target;
    buffers[result] = target;
    targets.push_back(target);
  }
  move(inits, targets);
  auto loop = plan::LoopOp::create(b, loc, targets.front(), getName(loc));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&loop.getBody().emplaceBlock());
  placeYields(op, targets);
  if (failed(convertBlock(body)))
    return failure();
  auto yield = cast<YieldOp>(body.getTerminator());
  move(yield.getValues(), targets);
  setSymbols(op.getSymbols(), op.getResultTypes(), yield.getValues().drop_front(), loc);
  return success();
}
