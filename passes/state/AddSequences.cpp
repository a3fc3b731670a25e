//===- AddSequences.cpp - programs for runs of several sequences ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"
#include <set>

#define DEBUG_TYPE "tenon-add-sequences"

namespace tenon {
#define GEN_PASS_DEF_ADDSEQUENCES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// A value of main in the copy for several sequences, in all forms that it has so far.
struct Lanes {
  Value common;             ///< all sequences have the same
  SmallVector<Value> parts; ///< that of each sequence
  Value batch;              ///< those of all sequences, end to end along `axis`
  int64_t axis = 0;
};

/// Makes the copy of main for runs of so many sequences.
class SequenceCopier {
public:
  SequenceCopier(func::FuncOp main, int64_t count) : main(main), count(count), builder(main) {}
  LogicalResult run();

private:
  // Names and symbols.
  void nameSymbols();
  void declareStates();
  AffineExpr substitute(AffineExpr expr, int64_t sequence) const;
  Dims substitute(ArrayRef<AffineExpr> dims, int64_t sequence) const;
  bool dependsOnPast(AffineExpr expr) const;
  bool dependsOnPast(Type type) const;
  bool dependsOnPast(Operation *op) const;
  void copyRequirements(func::FuncOp copy);
  void copyRanges(func::FuncOp copy);

  // Inputs and results.
  LogicalResult checkInput(BlockArgument argument);
  LogicalResult checkResult(Value value, unsigned number);
  RankedTensorType getInputType(BlockArgument argument);
  void takeInput(BlockArgument argument, Value input);

  // Values in one form or another.
  bool isCommon(Value value) { return static_cast<bool>(lanes[value].common); }
  Value getPart(Value value, int64_t sequence);
  Value getBatch(Value value, int64_t axis);
  Value slice(Value value, int64_t axis, AffineExpr start, AffineExpr extent);
  Value concat(ArrayRef<Value> values, int64_t axis);
  Type getBatchType(Type type, int64_t axis);
  int64_t getAxis(Value value) { return lanes[value].batch ? lanes[value].axis : 0; }

  // Operations.
  void copy(Operation *op);
  void copyParts(Operation *op);
  bool copyBatch(Operation *op);
  std::optional<int64_t> batchElementwise(Operation *op, SmallVectorImpl<Value> &operands);
  std::optional<int64_t> batchContract(ContractOp op, SmallVectorImpl<Value> &operands);
  std::optional<int64_t> batchGather(GatherOp op, SmallVectorImpl<Value> &operands);
  std::optional<int64_t> batchReshape(ReshapeOp op, SmallVectorImpl<Value> &operands);
  std::optional<int64_t> batchConcat(ConcatOp op, SmallVectorImpl<Value> &operands);
  std::optional<int64_t> batchNormalization(Operation *op, int64_t first, SmallVectorImpl<Value> &operands);
  std::optional<int64_t> batchOne(Operation *op, SmallVectorImpl<Value> &operands);
  std::optional<int64_t> batch(Operation *op, SmallVectorImpl<Value> &operands);

  func::FuncOp main;
  int64_t count;
  OpBuilder builder;
  SmallVector<StateOp> states; // of the first sequence
  /// Symbols of states in main, and for each sequence those in their place.
  llvm::SetVector<AffineExpr> past;
  SmallVector<DenseMap<AffineExpr, AffineExpr>> symbols;
  SmallVector<AttrTypeReplacer> replacers;
  DenseMap<AffineExpr, AffineExpr> longest; // of dimensions of inputs that grow with the past
  DenseMap<Value, Lanes> lanes;
};

} // namespace

static bool isOne(AffineExpr dim) { return getConstant(dim) == 1; }

//===----------------------------------------------------------------------===//
// Names and symbols
//===----------------------------------------------------------------------===//

static std::string getSequenceName(StringRef name, int64_t sequence) { return (name + "." + Twine(sequence)).str(); }

static StringRef getName(AffineExpr symbol) {
  auto *dialect = symbol.getContext()->getOrLoadDialect<TenonDialect>();
  return dialect->getSymbolName(cast<AffineSymbolExpr>(symbol).getPosition());
}

void SequenceCopier::nameSymbols() {
  for (StateOp state : states)
    past.insert_range(state.getSymbols());
  symbols.resize(count);
  for (int64_t i = 1; i < count; ++i)
    for (AffineExpr symbol : past)
      symbols[i][symbol] = getDimSymbol(main.getContext(), getSequenceName(getName(symbol), i));
}

/// Declares the states of all sequences but the first one, unless a program for more has them already.
void SequenceCopier::declareStates() {
  auto module = main->getParentOfType<ModuleOp>();
  replacers.resize(count);
  DenseSet<StringAttr> names;
  for (StateOp state : states)
    names.insert(state.getSymNameAttr());
  for (int64_t i = 1; i < count; ++i) {
    for (StateOp state : states) {
      std::string name = getSequenceName(state.getSymName(), i);
      if (module.lookupSymbol<StateOp>(name))
        continue;
      auto own = cast<StateOp>(builder.clone(*state));
      own.setSymName(name);
      own.setSequence(i);
      own.setFirst(state.getSymName());
      if (state.getLive())
        own.setLive(getSequenceName(*state.getLive(), i));
      if (state.getRing())
        own.setRing(getSequenceName(*state.getRing(), i));
    }
    replacers[i].addReplacement([this, i](ShapeAttr shape) -> Attribute {
      return ShapeAttr::get(shape.getContext(), substitute(shape.getDims(), i));
    });
    replacers[i].addReplacement([names, i](FlatSymbolRefAttr symbol) -> Attribute {
      if (!names.contains(symbol.getAttr()))
        return symbol;
      return FlatSymbolRefAttr::get(symbol.getContext(), getSequenceName(symbol.getValue(), i));
    });
  }
}

AffineExpr SequenceCopier::substitute(AffineExpr expr, int64_t sequence) const {
  if (sequence == 0 || isUnknownDim(expr) || !dependsOnPast(expr))
    return expr;
  return simplifyDim(expr.replace(symbols[sequence]));
}

Dims SequenceCopier::substitute(ArrayRef<AffineExpr> dims, int64_t sequence) const {
  return llvm::map_to_vector<4>(dims, [&](AffineExpr dim) { return substitute(dim, sequence); });
}

bool SequenceCopier::dependsOnPast(AffineExpr expr) const {
  bool depends = false;
  expr.walk([&](AffineExpr part) { depends |= past.contains(part); });
  return depends;
}

bool SequenceCopier::dependsOnPast(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::any_of(getDims(tensor), [&](AffineExpr dim) {
           // An extent that nothing is known of may follow from anything.
           return isUnknownDim(dim) || dependsOnPast(dim);
         });
}

/// True if an operation, or one nested in it, has other sizes or states in each sequence.
bool SequenceCopier::dependsOnPast(Operation *op) const {
  auto isPart = [&](Operation *part) {
    if (isa<StateReadOp, StateUpdateOp>(part))
      return true;
    auto depends = [&](Type type) { return dependsOnPast(type); };
    if (llvm::any_of(part->getOperandTypes(), depends) || llvm::any_of(part->getResultTypes(), depends))
      return true;
    WalkResult result = part->getAttrDictionary().walk([&](ShapeAttr shape) {
      return llvm::any_of(shape.getDims(), [&](AffineExpr dim) { return dependsOnPast(dim); }) ? WalkResult::interrupt()
                                                                                               : WalkResult::advance();
    });
    return result.wasInterrupted();
  };
  WalkResult result =
      op->walk([&](Operation *part) { return isPart(part) ? WalkResult::interrupt() : WalkResult::advance(); });
  return result.wasInterrupted();
}

/// The requirements of main, or the module's, with those on a past once for each sequence.
void SequenceCopier::copyRequirements(func::FuncOp copy) {
  Operation *holder = main->hasAttr(kRequiresAttr) ? main.getOperation() : main->getParentOp();
  auto exprs = holder->getAttrOfType<ShapeAttr>(kRequiresAttr);
  auto texts = holder->getAttrOfType<ArrayAttr>(kRequiresTextAttr);
  Dims all;
  SmallVector<Attribute> allTexts;
  for (auto [i, expr] : llvm::enumerate(exprs ? exprs.getDims() : ArrayRef<AffineExpr>()))
    for (int64_t sequence = 0; sequence < (dependsOnPast(expr) ? count : 1); ++sequence) {
      all.push_back(substitute(expr, sequence));
      allTexts.push_back(texts && i < texts.size() ? texts[i] : builder.getStringAttr(""));
    }
  copy->setAttr(kRequiresAttr, ShapeAttr::get(main.getContext(), all));
  copy->setAttr(kRequiresTextAttr, builder.getArrayAttr(allTexts));
}

void SequenceCopier::copyRanges(func::FuncOp copy) {
  auto ranges = main->getAttrOfType<DictionaryAttr>(kRangesAttr);
  if (!ranges)
    return;
  SmallVector<NamedAttribute> all(ranges.getValue());
  for (AffineExpr symbol : past)
    if (Attribute range = ranges.get(getName(symbol)))
      for (int64_t i = 1; i < count; ++i)
        all.push_back(builder.getNamedAttr(getSequenceName(getName(symbol), i), range));
  copy->setAttr(kRangesAttr, builder.getDictionaryAttr(all));
}

//===----------------------------------------------------------------------===//
// Inputs and results
//===----------------------------------------------------------------------===//

static std::string describe(DictionaryAttr attributes, unsigned number) {
  auto name = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr();
  return "'" + (name ? name.str() : std::to_string(number)) + "'";
}

LogicalResult SequenceCopier::checkInput(BlockArgument argument) {
  Dims dims = getDims(argument);
  std::string name = describe(main.getArgAttrDict(argument.getArgNumber()), argument.getArgNumber());
  if (dims.empty() || !isOne(dims.front()))
    return emitInvalid(main.getLoc(), "no program for several sequences: input " + name + ", " + dimsToString(dims) +
                                          ", has no first dimension of 1, the batch; --shape sets it where it is free");
  return success();
}

LogicalResult SequenceCopier::checkResult(Value value, unsigned number) {
  Dims dims = getDims(value);
  std::string name = describe(main.getResultAttrDict(number), number);
  if (dims.empty() || !isOne(dims.front()))
    return emitInvalid(main.getLoc(), "no program for several sequences: output " + name + ", " + dimsToString(dims) +
                                          ", has no first dimension of 1, the batch");
  if (dependsOnPast(value.getType()))
    return emitInvalid(main.getLoc(), "no program for several sequences: output " + name + ", " + dimsToString(dims) +
                                          ", has another size in each of them");
  return success();
}

/// The type of an input for all sequences. Dimensions that grow with the past are as large as the longest one needs.
RankedTensorType SequenceCopier::getInputType(BlockArgument argument) {
  Dims dims = getDims(argument);
  dims.front() = getDimConstant(main.getContext(), count);
  std::string name = describe(main.getArgAttrDict(argument.getArgNumber()), argument.getArgNumber());
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (isUnknownDim(dim) || !dependsOnPast(dim))
      continue;
    AffineExpr &symbol = longest[dim];
    if (!symbol)
      symbol = getDimSymbol(main.getContext(), "dimension " + std::to_string(i) + " of " + name);
    dim = symbol;
  }
  return getTensorType(dims, getElementTypeOrSelf(argument));
}

void SequenceCopier::takeInput(BlockArgument argument, Value input) {
  Lanes &own = lanes[argument];
  if (!dependsOnPast(argument.getType())) {
    own.batch = input;
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    Value part = slice(input, 0, getDimConstant(main.getContext(), i), getDimConstant(main.getContext(), 1));
    for (auto [axis, dim] : llvm::enumerate(getDims(argument)))
      if (!isUnknownDim(dim) && dependsOnPast(dim))
        part = slice(part, axis, getDimConstant(main.getContext(), 0), substitute(dim, i));
    own.parts.push_back(part);
  }
}

//===----------------------------------------------------------------------===//
// Forms of values
//===----------------------------------------------------------------------===//

Value SequenceCopier::slice(Value value, int64_t axis, AffineExpr start, AffineExpr extent) {
  Dims dims = getDims(value), starts(dims.size(), getDimConstant(main.getContext(), 0));
  dims[axis] = extent;
  starts[axis] = start;
  return SliceOp::create(builder, value.getLoc(), getTensorType(dims, getElementTypeOrSelf(value)), value,
                         ShapeAttr::get(main.getContext(), starts), SmallVector<int64_t>(dims.size(), 1));
}

Value SequenceCopier::concat(ArrayRef<Value> values, int64_t axis) {
  Dims dims = getDims(values.front());
  dims[axis] = mulDims(dims[axis], getDimConstant(main.getContext(), values.size()));
  return ConcatOp::create(builder, values.front().getLoc(), getTensorType(dims, getElementTypeOrSelf(values.front())),
                          values, axis);
}

Type SequenceCopier::getBatchType(Type type, int64_t axis) {
  Dims dims = getDims(cast<RankedTensorType>(type));
  dims[axis] = mulDims(dims[axis], getDimConstant(main.getContext(), count));
  return getTensorType(dims, getElementTypeOrSelf(type));
}

Value SequenceCopier::getPart(Value value, int64_t sequence) {
  Lanes &own = lanes[value];
  if (own.common)
    return own.common;
  if (own.parts.empty()) {
    assert(own.batch && "a value has a form");
    AffineExpr extent = getDim(value, own.axis);
    for (int64_t i = 0; i < count; ++i)
      own.parts.push_back(slice(own.batch, own.axis, mulDims(extent, getDimConstant(main.getContext(), i)), extent));
  }
  return own.parts[sequence];
}

/// Returns the values of all sequences end to end along a dimension of theirs.
Value SequenceCopier::getBatch(Value value, int64_t axis) {
  assert(!dependsOnPast(value.getType()) && "values of different sizes stay apart");
  if (lanes[value].batch && lanes[value].axis == axis)
    return lanes[value].batch;
  SmallVector<Value> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(getPart(value, i));
  Value batch = concat(parts, axis);
  Lanes &own = lanes[value];
  if (own.common || own.batch)
    return batch;
  own.batch = batch;
  own.axis = axis;
  return batch;
}

//===----------------------------------------------------------------------===//
// Operations that treat each sequence alone
//===----------------------------------------------------------------------===//

// Each of these fills in operands for all sequences, and returns along which dimension of the result they lie; none if
// the operation is to be copied. They decide before they create anything.

std::optional<int64_t> SequenceCopier::batchElementwise(Operation *op, SmallVectorImpl<Value> &operands) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  Dims dims = getDims(op->getResult(0));
  std::optional<int64_t> axis;
  for (Value operand : op->getOperands()) {
    int64_t own = cast<RankedTensorType>(operand.getType()).getRank();
    if (!axis && !isCommon(operand) && own > 0 &&
        getDim(operand, getAxis(operand)) == dims[getAxis(operand) + rank - own])
      axis = getAxis(operand) + rank - own;
  }
  if (!axis)
    return std::nullopt;
  auto getOwnAxis = [&](Value operand) { return *axis - rank + cast<RankedTensorType>(operand.getType()).getRank(); };
  // What is the same in all sequences may stretch over them; what is not has to have the dimension.
  auto stretches = [&](Value operand) {
    return isCommon(operand) && (getOwnAxis(operand) < 0 || isOne(getDim(operand, getOwnAxis(operand))));
  };
  for (Value operand : op->getOperands())
    if (!stretches(operand) && (getOwnAxis(operand) < 0 || getDim(operand, getOwnAxis(operand)) != dims[*axis]))
      return std::nullopt;
  for (Value operand : op->getOperands())
    operands.push_back(stretches(operand) ? lanes[operand].common : getBatch(operand, getOwnAxis(operand)));
  return axis;
}

static std::optional<int64_t> findIndex(ArrayRef<int64_t> indices, int64_t index) {
  auto found = llvm::find(indices, index);
  return found == indices.end() ? std::nullopt : std::optional(found - indices.begin());
}

std::optional<int64_t> SequenceCopier::batchContract(ContractOp op, SmallVectorImpl<Value> &operands) {
  ArrayRef<int64_t> indices[2] = {op.getLhsDims(), op.getRhsDims()};
  Value values[2] = {op.getLhs(), op.getRhs()};
  for (int first : {0, 1}) {
    Value value = values[first], other = values[1 - first];
    if (isCommon(value) || indices[first].empty())
      continue;
    int64_t index = indices[first][getAxis(value)];
    // Both dimensions of a diagonal would have the extent of all sequences.
    auto isTwiceIn = [&](ArrayRef<int64_t> dims) { return llvm::count(dims, index) > 1; };
    if (isTwiceIn(indices[0]) || isTwiceIn(indices[1]) || isTwiceIn(op.getResultDims()))
      continue;
    std::optional<int64_t> result = findIndex(op.getResultDims(), index), place = findIndex(indices[1 - first], index);
    AffineExpr extent = getDim(value, getAxis(value));
    if (!result || getDim(op.getResult(), *result) != extent)
      continue;
    // As above; the other one, too, has the index wherever it differs between sequences.
    bool stretches = isCommon(other) && (!place || isOne(getDim(other, *place)));
    if (!stretches && (!place || getDim(other, *place) != extent))
      continue;
    Value mine = getBatch(value, getAxis(value)), others = stretches ? lanes[other].common : getBatch(other, *place);
    operands.assign({first ? others : mine, first ? mine : others});
    return result;
  }
  return std::nullopt;
}

std::optional<int64_t> SequenceCopier::batchGather(GatherOp op, SmallVectorImpl<Value> &operands) {
  int64_t axis = op.getAxis(), rank = getDims(op.getIndices()).size();
  if (isCommon(op.getInput()) && rank > 0) {
    int64_t own = getAxis(op.getIndices());
    operands.assign({lanes[op.getInput()].common, getBatch(op.getIndices(), own)});
    return axis + own;
  }
  int64_t own = getAxis(op.getInput());
  if (isCommon(op.getInput()) || !isCommon(op.getIndices()) || own == axis)
    return std::nullopt;
  operands.assign({getBatch(op.getInput(), own), lanes[op.getIndices()].common});
  return own < axis ? own : own - 1 + rank;
}

std::optional<int64_t> SequenceCopier::batchReshape(ReshapeOp op, SmallVectorImpl<Value> &operands) {
  Dims dims = getDims(op.getInput());
  if (dims.empty() || getDims(op.getResult()).empty())
    return std::nullopt;
  // Sequences follow one another in memory if nothing but dimensions of 1 is before theirs.
  int64_t axis = getAxis(op.getInput());
  bool isOutermost = llvm::all_of(ArrayRef(dims).take_front(axis), isOne);
  operands.push_back(getBatch(op.getInput(), isOutermost ? axis : 0));
  return 0;
}

std::optional<int64_t> SequenceCopier::batchConcat(ConcatOp op, SmallVectorImpl<Value> &operands) {
  std::optional<int64_t> axis;
  for (Value input : op.getInputs())
    if (!axis && !isCommon(input))
      axis = getAxis(input);
  if (!axis || *axis == static_cast<int64_t>(op.getAxis()))
    return std::nullopt;
  for (Value input : op.getInputs())
    operands.push_back(getBatch(input, *axis));
  return axis;
}

/// Of dimensions from `first` on; the other operands, which broadcast to the first one, are the same in all sequences.
std::optional<int64_t> SequenceCopier::batchNormalization(Operation *op, int64_t first,
                                                          SmallVectorImpl<Value> &operands) {
  Value input = op->getOperand(0);
  int64_t axis = getAxis(input), rank = getDims(input).size();
  auto stretches = [&](Value operand) {
    int64_t own = axis - rank + static_cast<int64_t>(getDims(operand).size());
    return isCommon(operand) && (own < 0 || isOne(getDim(operand, own)));
  };
  if (isCommon(input) || axis >= first || !llvm::all_of(op->getOperands().drop_front(), stretches))
    return std::nullopt;
  operands.push_back(getBatch(input, axis));
  for (Value operand : op->getOperands().drop_front())
    operands.push_back(lanes[operand].common);
  return axis;
}

/// Operations on one value.
std::optional<int64_t> SequenceCopier::batchOne(Operation *op, SmallVectorImpl<Value> &operands) {
  if (op->getNumOperands() != 1 || getDims(op->getOperand(0)).empty())
    return std::nullopt;
  Value input = op->getOperand(0);
  Dims dims = getDims(input), results = getDims(op->getResult(0));
  int64_t axis = getAxis(input);
  std::optional<int64_t> result;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    result = findIndex(transpose.getPermutation(), axis);
  } else if (isa<BroadcastOp>(op)) {
    int64_t place = axis + static_cast<int64_t>(results.size() - dims.size());
    if (results[place] == dims[axis])
      result = place;
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    if (getConstant(slice.getStarts().getDims()[axis]) == 0 && slice.getSteps()[axis] == 1 &&
        results[axis] == dims[axis])
      result = axis;
  } else if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
    if (static_cast<int64_t>(softmax.getAxis()) != axis)
      result = axis;
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t before = llvm::count_if(reduce.getAxes(), [&](int64_t other) { return other < axis; });
    if (!llvm::is_contained(reduce.getAxes(), axis))
      result = reduce.getKeepdims() ? axis : axis - before;
  } else if (auto reduce = dyn_cast<ArgReduceOp>(op)) {
    int64_t other = reduce.getAxis();
    if (other != axis)
      result = reduce.getKeepdims() || axis < other ? axis : axis - 1;
  }
  if (result)
    operands.push_back(getBatch(input, axis));
  return result;
}

std::optional<int64_t> SequenceCopier::batch(Operation *op, SmallVectorImpl<Value> &operands) {
  if (op->hasTrait<Elementwise>())
    return batchElementwise(op, operands);
  if (auto contract = dyn_cast<ContractOp>(op))
    return batchContract(contract, operands);
  if (auto gather = dyn_cast<GatherOp>(op))
    return batchGather(gather, operands);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return batchReshape(reshape, operands);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return batchConcat(concat, operands);
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return batchNormalization(op, norm.getAxis(), operands);
  if (auto norm = dyn_cast<RmsNormOp>(op))
    return batchNormalization(op, norm.getAxis(), operands);
  return batchOne(op, operands);
}

/// Makes one operation for all sequences; returns false if that is not possible.
bool SequenceCopier::copyBatch(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() || dependsOnPast(op) ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  SmallVector<Value> operands;
  std::optional<int64_t> axis = batch(op, operands);
  if (!axis)
    return false;
  IRMapping mapping;
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), operands))
    mapping.map(operand, value);
  // An operand that occurs twice has one form only if both places ask for the same.
  Operation *copy = builder.clone(*op, mapping);
  copy->setOperands(operands);
  copy->getResult(0).setType(cast<RankedTensorType>(getBatchType(op->getResult(0).getType(), *axis)));
  Lanes &own = lanes[op->getResult(0)];
  own.batch = copy->getResult(0);
  own.axis = *axis;
  return true;
}

void SequenceCopier::copyParts(Operation *op) {
  LDBG() << "copies " << op->getName() << " for each sequence";
  for (int64_t i = 0; i < count; ++i) {
    IRMapping mapping;
    auto map = [&](Value value) {
      if (value.getParentBlock() == op->getBlock())
        mapping.map(value, getPart(value, i));
    };
    op->walk([&](Operation *part) { llvm::for_each(part->getOperands(), map); });
    Operation *copy = builder.clone(*op, mapping);
    if (i > 0)
      replacers[i].recursivelyReplaceElementsIn(copy, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                                /*replaceTypes=*/true);
    for (auto [result, own] : llvm::zip_equal(op->getResults(), copy->getResults()))
      lanes[result].parts.push_back(own);
  }
}

void SequenceCopier::copy(Operation *op) {
  bool isSame = isMemoryEffectFree(op) && !dependsOnPast(op);
  op->walk([&](Operation *part) {
    for (Value operand : part->getOperands())
      isSame = isSame && (operand.getParentBlock() != op->getBlock() || isCommon(operand));
  });
  if (!isSame) {
    if (!copyBatch(op))
      copyParts(op);
    return;
  }
  IRMapping mapping;
  op->walk([&](Operation *part) {
    for (Value operand : part->getOperands())
      if (operand.getParentBlock() == op->getBlock())
        mapping.map(operand, lanes[operand].common);
  });
  Operation *copy = builder.clone(*op, mapping);
  for (auto [result, own] : llvm::zip_equal(op->getResults(), copy->getResults()))
    lanes[result].common = own;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult SequenceCopier::run() {
  Block &body = main.getBody().front();
  Operation *terminator = body.getTerminator();
  states = getStates(main->getParentOfType<ModuleOp>(), main);
  if (states.empty())
    return emitInvalid(main.getLoc(), "no program for several sequences: the model has no states");
  nameSymbols();
  for (BlockArgument argument : body.getArguments())
    if (failed(checkInput(argument)))
      return failure();
  for (OpOperand &result : terminator->getOpOperands())
    if (failed(checkResult(result.get(), result.getOperandNumber())))
      return failure();
  declareStates();
  std::string sizes = "sequences=" + std::to_string(count);
  SmallVector<Type> inputs, results;
  for (BlockArgument argument : body.getArguments())
    inputs.push_back(getInputType(argument));
  for (Value result : terminator->getOperands())
    results.push_back(getBatchType(result.getType(), 0));
  // The runtime tries programs in the order of the module, and main last.
  auto copied = func::FuncOp::create(builder, main.getLoc(), (main.getName() + "." + sizes).str(),
                                     builder.getFunctionType(inputs, results));
  copied->setDiscardableAttrs(main->getDiscardableAttrDictionary());
  copied.setAllArgAttrs(main.getArgAttrsAttr() ? main.getArgAttrsAttr() : ArrayAttr());
  copied.setAllResultAttrs(main.getResAttrsAttr() ? main.getResAttrsAttr() : ArrayAttr());
  copied->setAttr(kProgramAttr, builder.getStringAttr(sizes));
  copied->setAttr(kSequencesAttr, builder.getI64IntegerAttr(count));
  copyRequirements(copied);
  copyRanges(copied);
  for (func::FuncOp function : {main, copied})
    function->setAttr(kSharesWeightsAttr, builder.getUnitAttr());
  Block *block = copied.addEntryBlock();
  builder.setInsertionPointToStart(block);
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), block->getArguments()))
    takeInput(argument, input);
  for (Operation &op : body.without_terminator())
    copy(&op);
  SmallVector<Value> values;
  for (Value result : terminator->getOperands())
    values.push_back(getBatch(result, 0));
  func::ReturnOp::create(builder, terminator->getLoc(), values);
  return success();
}

namespace {
struct AddSequences : public tenon::impl::AddSequencesBase<AddSequences> {
  using AddSequencesBase::AddSequencesBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    for (int64_t count : std::set<int64_t>(counts.begin(), counts.end())) {
      if (count < 2) {
        main.emitError("cannot have runs of ") << count << " sequences; several are 2 or more";
        return signalPassFailure();
      }
      if (failed(SequenceCopier(main, count).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
