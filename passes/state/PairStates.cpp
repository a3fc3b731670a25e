//===- PairStates.cpp - keep outputs as the inputs of the next run --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models that have no states give what they would keep as outputs, and take it as
// inputs of the next run. A pair of the same constant shape becomes a state that is
// written as a whole. A pair that differs in one dimension grows along it: the state
// has this dimension first, so that its live rows, and those that a run adds, follow
// one another in memory.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-pair-states"

namespace tenon {
#define GEN_PASS_DEF_PAIRSTATES
#include "passes/Passes.h.inc"

#include <cassert>
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// An input, and the output that replaces it in the next run.
struct Pair {
  StringRef input, output;
  BlockArgument argument;
  unsigned result = 0;
  std::optional<int64_t> axis; ///< along which it grows; otherwise each run writes all of it
};

/// Rewrites one pair.
class PairRewriter {
public:
  PairRewriter(func::FuncOp main, const Pair &pair, int64_t capacity)
      : main(main), pair(pair), capacity(capacity), terminator(main.getBody().front().getTerminator()) {}
  LogicalResult run();

private:
  void declare();
  Value read(OpBuilder &builder, AffineExpr rows);
  void update(OpBuilder &builder, Value value, AffineExpr at);
  void updateWhole(Value present);
  Value joinAdded(OpBuilder &builder, ConcatOp concat);
  void append(ConcatOp concat);
  bool appendStack(ConcatOp stack);
  SmallVector<int64_t> getPermutation(bool isRowsFirst) const;
  AffineExpr getLive() const { return getDim(pair.argument, *pair.axis); }

  func::FuncOp main;
  const Pair &pair;
  int64_t capacity;
  Operation *terminator;
  StateOp state;
};

} // namespace

/// Returns the permutation from the model's dimensions to those of the state, or back.
SmallVector<int64_t> PairRewriter::getPermutation(bool isRowsFirst) const {
  assert(pair.axis && "rows come first in a state that grows");
  SmallVector<int64_t> permutation;
  int64_t rank = getDims(pair.argument).size();
  for (int64_t i = 0; i < rank; ++i)
    if (i != *pair.axis)
      permutation.push_back(isRowsFirst ? i : i < *pair.axis ? i + 1 : i);
  permutation.insert(isRowsFirst ? permutation.begin() : permutation.begin() + *pair.axis,
                     isRowsFirst ? *pair.axis : int64_t(0));
  return permutation;
}

void PairRewriter::declare() {
  assert((!pair.axis || capacity > 0) && "a state that grows without a capacity has been refused");
  auto type = cast<RankedTensorType>(pair.argument.getType());
  OpBuilder builder(main);
  StringAttr live;
  if (pair.axis) {
    auto *dialect = main.getContext()->getOrLoadDialect<TenonDialect>();
    live = builder.getStringAttr(dialect->getSymbolName(cast<AffineSymbolExpr>(getLive()).getPosition()));
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + *pair.axis);
    shape.insert(shape.begin(), capacity);
    type = RankedTensorType::get(shape, type.getElementType());
  }
  state = StateOp::create(builder, pair.argument.getLoc(), builder.getStringAttr(pair.input), TypeAttr::get(type), live,
                          /*ring=*/nullptr, /*initial=*/nullptr, /*sequence=*/nullptr, /*first=*/nullptr);
}

/// Reads the first `rows` rows, with dimensions in the order of the model.
Value PairRewriter::read(OpBuilder &builder, AffineExpr rows) {
  Location loc = pair.argument.getLoc();
  auto name = FlatSymbolRefAttr::get(state.getSymNameAttr());
  if (!pair.axis)
    return StateReadOp::create(builder, loc, pair.argument.getType(), name);
  Dims dims = getDims(pair.argument);
  dims.erase(dims.begin() + *pair.axis);
  dims.insert(dims.begin(), rows);
  Value value = StateReadOp::create(builder, loc, getTensorType(dims, getElementTypeOrSelf(pair.argument)), name);
  return TenonBuilder(builder, loc).transpose(value, getPermutation(/*isRowsFirst=*/false));
}

void PairRewriter::update(OpBuilder &builder, Value value, AffineExpr at) {
  Location loc = value.getLoc();
  if (pair.axis)
    value = TenonBuilder(builder, loc).transpose(value, getPermutation(/*isRowsFirst=*/true));
  StateUpdateOp::create(builder, loc, state.getSymName(), ShapeAttr::get(builder.getContext(), at),
                        pair.axis.has_value(), value);
}

void PairRewriter::updateWhole(Value present) {
  LDBG() << "writes all of state " << pair.input << " in each run";
  OpBuilder builder(terminator);
  update(builder, present, getDimConstant(builder.getContext(), 0));
}

/// Concatenates all operands but the first one, whose rows are the live ones.
Value PairRewriter::joinAdded(OpBuilder &builder, ConcatOp concat) {
  assert(concat.getInputs().size() > 1 && "a state is concatenated with what is added to it");
  OperandRange others = concat.getInputs().drop_front();
  if (others.size() == 1)
    return others.front();
  Dims dims = getDims(concat.getResult());
  dims[concat.getAxis()] = subDims(dims[concat.getAxis()], getLive());
  return ConcatOp::create(builder, concat.getLoc(), getTensorType(dims, getElementTypeOrSelf(concat)), others,
                          concat.getAxis());
}

/// Appends the other operands to the state's live rows; users of the concat read the state.
void PairRewriter::append(ConcatOp concat) {
  LDBG() << "appends to state " << pair.input;
  OpBuilder builder(concat);
  Value added = joinAdded(builder, concat);
  update(builder, added, getLive());
  Value all = read(builder, addDims(getLive(), getDim(added, *pair.axis)));
  concat.replaceAllUsesWith(all);
  concat.erase();
}

//===----------------------------------------------------------------------===//
// Keys and values in one tensor
//===----------------------------------------------------------------------===//

static Dims dropDim(Dims dims, int64_t axis) {
  dims.erase(dims.begin() + axis);
  return dims;
}

/// True if `value` is the part of `whole` at index `index` of dimension `axis`, without that dimension.
static bool isLayer(Value value, Value whole, int64_t axis, int64_t index) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  auto slice = reshape ? reshape.getInput().getDefiningOp<SliceOp>() : SliceOp();
  if (!slice || slice.getInput() != whole || getDims(reshape.getResult()) != dropDim(getDims(slice), axis))
    return false;
  Dims dims = getDims(whole), kept = getDims(slice);
  for (auto [i, start, step] : llvm::enumerate(slice.getStarts().getDims(), slice.getSteps())) {
    bool isAxis = static_cast<int64_t>(i) == axis;
    if (getConstant(start) != (isAxis ? index : 0) || step != 1 ||
        (isAxis ? getConstant(kept[i]) != 1 : kept[i] != dims[i]))
      return false;
  }
  return true;
}

/// Returns the concats that a stack of grown layers consists of: each appends something to layer i of the past. Empty
/// if it does not match.
static SmallVector<ConcatOp> findLayers(ConcatOp stack, BlockArgument past, int64_t axis) {
  int64_t stackAxis = stack.getAxis();
  SmallVector<ConcatOp> layers;
  if (stackAxis == axis || getConstant(getDim(past, stackAxis)) != static_cast<int64_t>(stack.getInputs().size()))
    return {};
  for (auto [i, input] : llvm::enumerate(stack.getInputs())) {
    auto reshape = input.getDefiningOp<ReshapeOp>();
    auto layer = reshape ? reshape.getInput().getDefiningOp<ConcatOp>() : ConcatOp();
    if (!layer || getDims(layer) != dropDim(getDims(input), stackAxis) || layer->getBlock() != stack->getBlock() ||
        static_cast<int64_t>(layer.getAxis()) != (stackAxis < axis ? axis - 1 : axis) || layer.getInputs().size() < 2 ||
        !isLayer(layer.getInputs().front(), past, stackAxis, i))
      return {};
    layers.push_back(layer);
  }
  return layers;
}

/// Handles keys and values that grow separately and are stacked, as in com.microsoft.Attention: their new rows are
/// appended together, and each is read as a part of the state.
bool PairRewriter::appendStack(ConcatOp stack) {
  assert(pair.axis && "only states that grow are appended to");
  SmallVector<ConcatOp> layers = findLayers(stack, pair.argument, *pair.axis);
  if (layers.empty())
    return false;
  ConcatOp last = layers.front();
  for (ConcatOp layer : layers)
    last = last->isBeforeInBlock(layer) ? layer : last;
  for (ConcatOp layer : layers)
    for (Operation *user : layer->getUsers())
      if (last->getBlock()->findAncestorOpInBlock(*user)->isBeforeInBlock(last))
        return false;
  LDBG() << "appends to all " << layers.size() << " layers of state " << pair.input;
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  TenonBuilder at(builder, stack.getLoc());
  int64_t stackAxis = stack.getAxis();
  SmallVector<Value> parts;
  for (ConcatOp layer : layers) {
    Value added = joinAdded(builder, layer);
    Dims dims = getDims(added);
    dims.insert(dims.begin() + stackAxis, getDimConstant(builder.getContext(), 1));
    parts.push_back(at.reshape(added, dims));
  }
  Dims dims = getDims(parts.front());
  dims[stackAxis] = getDimConstant(builder.getContext(), layers.size());
  Value added =
      ConcatOp::create(builder, stack.getLoc(), getTensorType(dims, getElementTypeOrSelf(stack)), parts, stackAxis);
  update(builder, added, getLive());
  Value all = read(builder, addDims(getLive(), dims[*pair.axis]));
  for (auto [i, layer] : llvm::enumerate(layers)) {
    Dims starts(dims.size(), getDimConstant(builder.getContext(), 0)), kept = getDims(all);
    starts[stackAxis] = getDimConstant(builder.getContext(), i);
    kept[stackAxis] = getDimConstant(builder.getContext(), 1);
    SmallVector<int64_t> steps(dims.size(), 1);
    Value slice = SliceOp::create(builder, layer.getLoc(), getTensorType(kept, getElementTypeOrSelf(stack)), all,
                                  ShapeAttr::get(builder.getContext(), starts), steps);
    layer.replaceAllUsesWith(at.reshape(slice, getDims(layer)));
  }
  stack.replaceAllUsesWith(all);
  return true;
}

LogicalResult PairRewriter::run() {
  declare();
  Value present = terminator->getOperand(pair.result);
  auto concat = present.getDefiningOp<ConcatOp>();
  bool isStack = pair.axis && concat && concat->getBlock() == terminator->getBlock() && appendStack(concat);
  bool appends = pair.axis && concat && !isStack && concat->getBlock() == terminator->getBlock() &&
                 static_cast<int64_t>(concat.getAxis()) == *pair.axis && concat.getInputs().size() > 1 &&
                 concat.getInputs().front() == pair.argument && llvm::count(concat.getInputs(), pair.argument) == 1;
  // A state that is overwritten as a whole must keep its number of rows, whatever its dimensions are called.
  if (appends)
    append(concat);
  else if (!isStack)
    updateWhole(present);
  OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
  if (!pair.argument.use_empty())
    BlockArgument(pair.argument).replaceAllUsesWith(read(builder, pair.axis ? getLive() : AffineExpr()));
  return success();
}

//===----------------------------------------------------------------------===//
// Which pairs there are, and whether they fit
//===----------------------------------------------------------------------===//

static StringRef getName(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr();
  return name ? name.getValue() : "";
}

static LogicalResult findPair(func::FuncOp main, StringRef text, Pair &pair) {
  std::tie(pair.input, pair.output) = text.split('=');
  auto refuse = [&] {
    return emitInvalid(main.getLoc(), "cannot pair '" + pair.input + "' with '" + pair.output + "': ");
  };
  std::optional<unsigned> result;
  for (BlockArgument argument : main.getArguments())
    if (getName(main.getArgAttrDict(argument.getArgNumber())) == pair.input)
      pair.argument = argument;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (getName(main.getResultAttrDict(i)) == pair.output)
      result = i;
  if (!pair.argument || !result)
    return refuse() << "the model has no " << (pair.argument ? "such output" : "such input");
  pair.result = *result;
  if (main.getArgAttr(pair.argument.getArgNumber(), kRoleAttr) || main.getResultAttr(pair.result, kRoleAttr))
    return refuse() << "only tensors of numbers can be states";
  return success();
}

/// Finds the dimension in which the two values of a pair differ.
static LogicalResult matchShapes(func::FuncOp main, Pair &pair) {
  Value present = main.getBody().front().getTerminator()->getOperand(pair.result);
  Dims past = getDims(pair.argument), dims = getDims(present);
  auto refuse = [&] {
    return emitInvalid(main.getLoc(), "cannot pair '" + pair.input + "', " + dimsToString(past) + ", with '" +
                                          pair.output + "', " + dimsToString(dims) + ": ");
  };
  Type element = getElementTypeOrSelf(pair.argument), other = getElementTypeOrSelf(present);
  if (element != other)
    return refuse() << "their elements are " << element << " and " << other;
  if (past.size() != dims.size())
    return refuse() << "they have different numbers of dimensions";
  for (auto [i, before, after] : llvm::enumerate(past, dims)) {
    if (getConstant(before)) {
      if (before != after)
        return refuse() << "dimension " << i << " is not the same";
      continue;
    }
    if (pair.axis)
      return refuse() << "dimensions " << *pair.axis << " and " << i
                      << " are dynamic, and one can be; give the other a size with --shape";
    pair.axis = i;
    if (!isa<AffineSymbolExpr>(before) || isUnknownDim(before))
      return refuse() << "dimension " << i << " has no symbol of its own";
    if (isUnknownDim(after))
      return refuse() << "nothing is known of dimension " << i << " of the output";
  }
  return success();
}

namespace {
struct PairStates : public tenon::impl::PairStatesBase<PairStates> {
  using PairStatesBase::PairStatesBase;
  void runOnOperation() override {
    for (auto main : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!main.isPrivate() && !main.isExternal() && failed(pairUp(main)))
        return signalPassFailure();
  }

private:
  LogicalResult pairUp(func::FuncOp main) {
    // All pairs are checked before any is rewritten, because an output may depend on several of them.
    SmallVector<Pair> found(pairs.size());
    llvm::BitVector arguments(main.getNumArguments()), results(main.getNumResults());
    for (auto [text, pair] : llvm::zip(pairs, found)) {
      if (failed(findPair(main, text, pair)) || failed(matchShapes(main, pair)))
        return failure();
      if (pair.axis && capacity <= 0)
        return emitInvalid(main.getLoc(), "'" + pair.input + "' grows along dimension " + Twine(*pair.axis) +
                                              " and needs a capacity: pass --state-capacity");
      if (arguments.test(pair.argument.getArgNumber()) || results.test(pair.result))
        return emitInvalid(main.getLoc(), "'" + pair.input + "' or '" + pair.output + "' is in two pairs");
      arguments.set(pair.argument.getArgNumber());
      results.set(pair.result);
    }
    for (const Pair &pair : found)
      if (failed(PairRewriter(main, pair, capacity).run()))
        return failure();
    main.getBody().front().getTerminator()->eraseOperands(results);
    numStates += found.size();
    return success(succeeded(main.eraseArguments(arguments)) && succeeded(main.eraseResults(results)));
  }
};
} // namespace
