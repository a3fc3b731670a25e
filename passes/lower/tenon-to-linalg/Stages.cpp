//===- Stages.cpp - reductions, contractions and stores -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/Stages.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/tenon/DotProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "passes/Kernel.h"
#include "passes/Unsupported.h"
#include "passes/paths/winograd/Transforms.h"

using namespace mlir;
using namespace tenon;

FailureOr<Value> StageTable::lower(StageBuilder &stages, Operation *op, Value destination) const {
  auto entry = entries.find(op->getName().getStringRef());
  if (entry == entries.end())
    return op->emitError("is no stage"), failure();
  return entry->second(stages, op, destination);
}

const StageTable &StageBuilder::getTable() {
  static const StageTable table = [] {
    using S = StageBuilder;
    StageTable t;
    t.add<ContractOp>([](S &s, ContractOp op, Value to) { return s.lowerContract(op, to); });
    t.add<AttentionOp>([](S &s, AttentionOp op, Value to) { return s.lowerAttention(op, to); });
    t.add<CombineSplitsOp>([](S &s, CombineSplitsOp op, Value to) { return s.lowerCombineSplits(op, to); });
    t.add<ConvolveOp>([](S &s, ConvolveOp op, Value to) { return s.lowerConvolve(op, to); });
    t.add<WinogradOp>([](S &s, WinogradOp op, Value to) { return s.lowerWinograd(op, to); });
    t.add<PoolOp>([](S &s, PoolOp op, Value to) { return s.lowerPool(op, to); });
    t.add<ReduceOp>([](S &s, ReduceOp op, Value to) { return s.lowerReduce(op, to); });
    t.add<ArgReduceOp>([](S &s, ArgReduceOp op, Value to) { return s.lowerArgReduce(op, to); });
    t.add<SampleOp>([](S &s, SampleOp op, Value to) { return s.lowerSample(op, to); });
    t.add<ScanOp>([](S &s, ScanOp op, Value to) { return s.lowerScan(op, to); });
    t.add<ScatterElementsOp>([](S &s, Operation *op, Value to) { return s.lowerScatter(op, to); });
    t.add<ScatterNDOp>([](S &s, Operation *op, Value to) { return s.lowerScatter(op, to); });
    addNormalizationStages(t);
    return t;
  }();
  return table;
}

LogicalResult StageBuilder::lower(Operation *op, ArrayRef<Value> destinations) {
  assert(destinations.size() == op->getNumResults() && "each result has a destination, which may be null");
  if (auto topK = dyn_cast<TopKOp>(op))
    return lowerTopK(topK, destinations);
  if (auto suppress = dyn_cast<NmsOp>(op))
    return lowerNms(suppress, destinations);
  if (auto lu = dyn_cast<LuOp>(op))
    return lowerLu(lu, destinations);
  Value destination = destinations[0];
  FailureOr<Value> tensor = getTable().lower(*this, op, destination);
  if (failed(tensor))
    return failure();
  if (*tensor)
    scope.bindTensor(op->getResult(0), *tensor);
  return success();
}

SmallVector<Value> StageBuilder::getTargets(Operation *op, ArrayRef<Value> destinations) {
  assert(destinations.size() == op->getNumResults() && "each result has a destination, which may be null");
  SmallVector<Value> targets(destinations);
  for (auto [target, result] : llvm::zip(targets, op->getResults()))
    if (!target)
      target = scope.createEmpty(builder, op->getLoc(), getDims(result), getStorageType(getElementTypeOrSelf(result)));
  return targets;
}

LogicalResult StageBuilder::bindResults(Operation *op, FailureOr<SmallVector<Value>> tensors) {
  if (failed(tensors))
    return failure();
  assert(tensors->size() == op->getNumResults() && "a stage gives a tensor for each result");
  for (auto [result, tensor] : llvm::zip(op->getResults(), *tensors))
    scope.bindTensor(result, tensor);
  return success();
}

//===----------------------------------------------------------------------===//
// The two shapes that all stages have
//===----------------------------------------------------------------------===//

FailureOr<Value> StageBuilder::buildElementwise(Location loc, RankedTensorType type, Value destination,
                                                llvm::function_ref<FailureOr<Value>(ElementEmitter &)> emit) {
  Dims dims = getDims(type);
  if (!destination)
    destination = scope.createEmpty(builder, loc, dims, getStorageType(type.getElementType()));
  ElementEmitter emitter(scope, loc, dims);
  FailureOr<Value> element = emit(emitter);
  if (failed(element))
    return failure();
  Value stored = toStorage(emitter.getBuilder(), loc, *element, type.getElementType());
  emitter.addOutputs(destination, builder.getMultiDimIdentityMap(dims.size()));
  SmallVector<utils::IteratorType> iterators(dims.size(), utils::IteratorType::parallel);
  return emitter.finish(builder, stored, iterators).getResult(0);
}

FailureOr<Value> StageBuilder::buildReduction(Location loc, const Reduction &r, Value destination, EmitTerm emitTerm) {
  Type accumulatorType = getAccumulatorType(r.elementType);
  if (!destination || getElementTypeOrSelf(destination) != accumulatorType)
    destination = scope.createEmpty(builder, loc, r.getResultDims(), accumulatorType);
  Value identity =
      arith::ConstantOp::create(builder, loc, getIdentity(builder, r.kind, r.elementType, accumulatorType));
  Value start = linalg::FillOp::create(builder, loc, identity, destination).getResult(0);

  unsigned numLoops = r.extents.size();
  assert(llvm::all_of(r.resultLoops, [&](unsigned loop) { return loop < numLoops; }) &&
         "the result has loops of the stage");
  ElementEmitter emitter(scope, loc, r.extents);
  FailureOr<Value> term = emitTerm(emitter);
  if (failed(term))
    return failure();
  SmallVector<AffineExpr> resultIndices;
  SmallVector<utils::IteratorType> iterators(numLoops, utils::IteratorType::reduction);
  for (unsigned loop : r.resultLoops) {
    resultIndices.push_back(emitter.getLoop(loop));
    iterators[loop] = utils::IteratorType::parallel;
  }
  AffineMap map = AffineMap::get(numLoops, 0, resultIndices, builder.getContext());
  Value old = emitter.addOutputs(start, map)[0];
  OpBuilder &b = emitter.getBuilder();
  Value joined = emitCombine(b, loc, r.kind, r.elementType, old, *term);
  return emitter.finish(builder, joined, iterators).getResult(0);
}

FailureOr<Value> StageBuilder::finishReduction(Value result, Value accumulators, Value destination) {
  auto type = cast<RankedTensorType>(result.getType());
  if (getElementTypeOrSelf(accumulators) == getStorageType(type.getElementType()))
    return accumulators;
  return buildElementwise(result.getLoc(), type, destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
    Value element = emitter.readTensor(accumulators, getDims(type), emitter.getLoops());
    return fromAccumulator(emitter.getBuilder(), result.getLoc(), element, type.getElementType());
  });
}

FailureOr<Value> StageBuilder::store(Value value, Value destination) {
  return buildElementwise(value.getLoc(), cast<RankedTensorType>(value.getType()), destination,
                          [&](ElementEmitter &emitter) { return emitter.emit(value, emitter.getLoops()); });
}

LogicalResult StageBuilder::lowerLink(ReshapeOp link, Operation *first) {
  Location loc = link.getLoc();
  Value given = first->getResult(0), tensor = scope.lookupTensor(given);
  assert(tensor && "the first loop nest of a chain was lowered before the reshape");
  RankedTensorType type = link.getInput().getType();
  if (given != link.getInput()) {
    bool isInPlace = getElementTypeOrSelf(tensor) == getStorageType(type.getElementType());
    FailureOr<Value> stored = store(
        link.getInput(),
        isInPlace ? tensor : scope.createEmpty(builder, loc, getDims(type), getStorageType(type.getElementType())));
    if (failed(stored))
      return failure();
    tensor = *stored;
  }
  // Collapses all dimensions but the last one on one of the two sides.
  Dims dims = getDims(link.getResult());
  bool collapses = dims.size() == 2;
  SmallVector<ReassociationIndices> groups{
      llvm::to_vector(llvm::seq<int64_t>((collapses ? type.getRank() : dims.size()) - 1))};
  groups.push_back({int64_t(groups.front().size())});
  Value reshaped;
  if (collapses) {
    reshaped = tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
  } else {
    SmallVector<OpFoldResult> sizes;
    for (AffineExpr dim : dims)
      sizes.push_back(scope.getDimOrConstant(builder, loc, dim));
    auto expanded = RankedTensorType::get(link.getResult().getType().getShape(), getElementTypeOrSelf(tensor));
    reshaped = tensor::ExpandShapeOp::create(builder, loc, expanded, tensor, groups, sizes);
  }
  reshaped.getDefiningOp()->setAttr(kChainTileAttr, link->getAttr(kChainTileAttr));
  scope.bindTensor(link.getResult(), reshaped);
  return success();
}

//===----------------------------------------------------------------------===//
// Contract
//===----------------------------------------------------------------------===//

/// Emits the product of two scalars in the accumulator type.
static Value emitProduct(OpBuilder &b, Location loc, Value x, Type xType, Value y, Type yType, Type resultType) {
  Type accumulator = getAccumulatorType(resultType);
  x = castScalar(b, loc, x, xType, isa<FloatType>(accumulator) ? accumulator : resultType);
  y = castScalar(b, loc, y, yType, isa<FloatType>(accumulator) ? accumulator : resultType);
  if (isa<FloatType>(accumulator))
    return arith::MulFOp::create(b, loc, x, y,
                                 arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract));
  return arith::MulIOp::create(b, loc, x, y);
}

/// Attaches the path that was chosen for the operation to the reduction.
static void keepPath(Operation *op, Value sum) {
  if (auto path = op->getAttrOfType<StringAttr>(kPathAttr))
    sum.getDefiningOp()->setAttr(kPathAttr, path);
}

FailureOr<Value> StageBuilder::lowerContract(ContractOp op, Value destination) {
  Location loc = op.getLoc();
  Type lhsType = op.getLhs().getType().getElementType(), rhsType = op.getRhs().getType().getElementType();
  Type resultType = op.getType().getElementType();
  // The loops are the result dimensions but the last, the summed ones, and the last result dimension, so that the
  // innermost loop writes contiguous elements. For a dot product, the summed loop is innermost, and reads contiguous
  // elements of both operands.
  std::optional<int64_t> dot = getDotIndex(op);
  SmallVector<int64_t> order(op.getResultDims());
  int64_t last = dot ? *dot : order.empty() ? -1 : order.pop_back_val();
  llvm::SmallDenseMap<int64_t, AffineExpr> extents;
  for (auto [operand, indices] : {std::pair(op.getLhs(), op.getLhsDims()), std::pair(op.getRhs(), op.getRhsDims())})
    for (auto [index, dim] : llvm::zip(indices, getDims(operand))) {
      AffineExpr &extent = extents.try_emplace(index, dim).first->second;
      assert(succeeded(broadcastDim(extent, dim)) && "the verifier wants extents that are multiplied pair by pair");
      extent = *broadcastDim(extent, dim);
      if (index != last && !llvm::is_contained(order, index))
        order.push_back(index);
    }
  if (last >= 0)
    order.push_back(last);
  llvm::SmallDenseMap<int64_t, unsigned> loopOf;
  for (auto [loop, index] : llvm::enumerate(order))
    loopOf[index] = loop;

  Reduction r{ReduceKind::sum, resultType, {}, {}};
  for (int64_t index : order)
    r.extents.push_back(extents[index]);
  for (int64_t index : op.getResultDims()) {
    assert(loopOf.contains(index) && "the verifier wants result indices that run over an operand");
    r.resultLoops.push_back(loopOf[index]);
  }
  auto emitOperand = [&](ElementEmitter &emitter, Value operand, ArrayRef<int64_t> indices) {
    SmallVector<AffineExpr> at;
    for (auto [index, dim] : llvm::zip(indices, getDims(operand)))
      at.push_back(getConstant(dim) == 1 ? getDimConstant(op.getContext(), 0) : emitter.getLoop(loopOf[index]));
    return emitter.emit(operand, at);
  };
  FailureOr<Value> sum = buildReduction(loc, r, destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
    FailureOr<Value> x = emitOperand(emitter, op.getLhs(), op.getLhsDims());
    FailureOr<Value> y = emitOperand(emitter, op.getRhs(), op.getRhsDims());
    if (failed(x) || failed(y))
      return failure();
    return emitProduct(emitter.getBuilder(), loc, *x, lhsType, *y, rhsType, resultType);
  });
  if (failed(sum))
    return failure();
  keepPath(op, *sum);
  return finishReduction(op.getResult(), *sum, destination);
}

//===----------------------------------------------------------------------===//
// Convolve
//===----------------------------------------------------------------------===//

FailureOr<Value> StageBuilder::lowerConvolve(ConvolveOp op, Value destination) {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  Dims in = getDims(op.getInput()), filter = getDims(op.getFilter()), out = getDims(op.getType());
  unsigned rank = in.size() - 2;
  bool channelsLast = op.getChannelsLast();
  AffineExpr filters = filter[op.getFilterDim()], channels = filter[op.getFilterChannelDim()];
  Type inType = op.getInput().getType().getElementType(), filterType = op.getFilter().getType().getElementType();
  Type resultType = op.getType().getElementType();
  // The innermost loop writes contiguous elements. The loops are batch, filter, spatial but the last, channel, window,
  // last spatial; or batch, spatial, window, channel, filter for channels-last.
  unsigned filterLoop, channelLoop, windowLoop, numLoops = 3 + 2 * rank;
  SmallVector<unsigned> spatialLoops;
  for (unsigned i = 0; i < rank; ++i)
    spatialLoops.push_back(channelsLast ? 1 + i : i + 1 == rank ? numLoops - 1 : 2 + i);
  if (channelsLast) {
    windowLoop = 1 + rank;
    channelLoop = windowLoop + rank;
    filterLoop = channelLoop + 1;
  } else {
    filterLoop = 1;
    channelLoop = 2 + rank - 1;
    windowLoop = channelLoop + 1;
  }
  Reduction r{ReduceKind::sum, resultType, Dims(numLoops), {0}};
  r.extents[0] = out[0];
  r.extents[filterLoop] = filters;
  r.extents[channelLoop] = channels;
  for (unsigned i = 0; i < rank; ++i) {
    r.resultLoops.push_back(spatialLoops[i]);
    r.extents[spatialLoops[i]] = out[i + op.getFirstSpatialDim()];
    r.extents[windowLoop + i] = filter[i + op.getFirstWindowDim()];
  }
  r.resultLoops.insert(channelsLast ? r.resultLoops.end() : r.resultLoops.begin() + 1, filterLoop);

  FailureOr<Value> sum = buildReduction(loc, r, destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    AffineExpr channel = emitter.getLoop(channelLoop);
    if (op.getGroups() > 1) {
      AffineExpr perGroup = divDims(filters, getDimConstant(context, op.getGroups()));
      AffineExpr group = divDims(emitter.getLoop(filterLoop), perGroup);
      channel = getConstant(channels) == 1 ? group : addDims(mulDims(group, channels), channel);
    }
    SmallVector<AffineExpr> at(rank + 2), filterAt(rank + 2);
    at[0] = emitter.getLoop(0);
    at[op.getChannelDim()] = channel;
    filterAt[op.getFilterDim()] = emitter.getLoop(filterLoop);
    filterAt[op.getFilterChannelDim()] = emitter.getLoop(channelLoop);
    Value inside;
    for (unsigned i = 0; i < rank; ++i) {
      AffineExpr window = emitter.getLoop(windowLoop + i), size = in[i + op.getFirstSpatialDim()];
      filterAt[i + op.getFirstWindowDim()] = window;
      AffineExpr position = simplifyDim(emitter.getLoop(spatialLoops[i]) * op.getStrides()[i] +
                                        window * op.getDilations()[i] - op.getLow()[i]);
      at[i + op.getFirstSpatialDim()] = position;
      if (op.getLow()[i] <= 0 && op.getHigh()[i] <= 0)
        continue;
      Value here = emitter.emitInBounds(position, size);
      inside = inside ? arith::AndIOp::create(b, loc, inside, here).getResult() : here;
    }
    FailureOr<Value> weight = emitter.emit(op.getFilter(), filterAt);
    FailureOr<Value> element =
        inside ? emitter.emitIf(
                     inside, getScalarType(inType), [&] { return emitter.emit(op.getInput(), at); },
                     [&]() -> FailureOr<Value> {
                       return arith::ConstantOp::create(b, loc, b.getZeroAttr(getScalarType(inType))).getResult();
                     })
               : emitter.emit(op.getInput(), at);
    if (failed(weight) || failed(element))
      return failure();
    return emitProduct(b, loc, *element, inType, *weight, filterType, resultType);
  });
  if (failed(sum))
    return failure();
  // The operands of the bounds checks are loop-invariant, and ElementRead.h expects them outside the body.
  auto stage = sum->getDefiningOp<linalg::GenericOp>();
  moveLoopInvariantCode(
      &stage.getRegion(), [](Value value, Region *region) { return value.getParentRegion()->isProperAncestor(region); },
      [](Operation *inner, Region *) { return isPure(inner) && !isa<linalg::IndexOp, linalg::YieldOp>(inner); },
      [](Operation *inner, Region *region) { inner->moveBefore(region->getParentOp()); });
  keepPath(op, *sum);
  return finishReduction(op.getResult(), *sum, destination);
}

FailureOr<Value> StageBuilder::lowerWinograd(WinogradOp op, Value destination) {
  Location loc = op.getLoc();
  bool isInt8 = op.getType().getElementType().isInteger(32);
  if (!(isInt8 ? hasIntegerTransforms : hasWinogradTransforms)(op.getOutputs(), op.getWindow()))
    return emitUnsupported(op, "has squares for which there are no transforms"), failure();
  if (!destination)
    destination = scope.createEmpty(builder, loc, getDims(op.getResult()), op.getType().getElementType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value input = scope.lookupTensor(op.getInput()), filter = scope.lookupTensor(op.getFilter());
  assert(input && filter && "a Winograd convolution reads tensors in memory");
  return kernel::WinogradOp::create(builder, loc, destination.getType(), input, filter, destination,
                                    SmallVector<Value>(4, zero), op.getLow(), op.getOutputs(), op.getWindow(),
                                    op.getTile())
      .getResult()
      .front();
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

FailureOr<Value> StageBuilder::lowerReduce(ReduceOp op, Value destination) {
  if (op.getKeepdims())
    return op.emitOpError("with keepdims has to be decomposed before"), failure();
  Type elementType = op.getType().getElementType();
  unsigned rank = op.getInput().getType().getRank();
  Reduction r{op.getKind(), elementType, getDims(op.getInput()), {}};
  for (unsigned i = 0; i < rank; ++i)
    if (!llvm::is_contained(op.getAxes(), i))
      r.resultLoops.push_back(i);
  FailureOr<Value> joined =
      buildReduction(op.getLoc(), r, destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
        FailureOr<Value> element = emitter.emit(op.getInput(), emitter.getLoops());
        if (failed(element))
          return failure();
        return toAccumulator(emitter.getBuilder(), op.getLoc(), *element, elementType);
      });
  if (failed(joined))
    return failure();
  return finishReduction(op.getResult(), *joined, destination);
}

/// Emits two reductions of one result each, so that a tile needs no memory but its own rows: the best element, and the
/// first (or last) index of an element that equals it.
FailureOr<Value> StageBuilder::lowerArgReduce(ArgReduceOp op, Value destination) {
  if (op.getKeepdims())
    return op.emitOpError("with keepdims has to be decomposed before"), failure();
  unsigned axis = op.getAxis();
  if (axis + 1 == op.getInput().getType().getRank())
    return selectAlongLines(op, destination);
  Location loc = op.getLoc();
  Type elementType = op.getInput().getType().getElementType();
  Reduction r{op.getKind(), elementType, getDims(op.getInput()), {}};
  for (unsigned i = 0; i < r.extents.size(); ++i)
    if (i != axis)
      r.resultLoops.push_back(i);
  Dims rows = r.getResultDims();
  auto emitElement = [&](ElementEmitter &emitter) -> FailureOr<Value> {
    FailureOr<Value> x = emitter.emit(op.getInput(), emitter.getLoops());
    if (failed(x))
      return failure();
    return toAccumulator(emitter.getBuilder(), loc, *x, elementType);
  };
  FailureOr<Value> best = buildReduction(loc, r, Value(), emitElement);
  if (failed(best))
    return failure();

  // Elements that do not match contribute an index beyond all others.
  r.kind = op.getLast() ? ReduceKind::max : ReduceKind::min;
  r.elementType = builder.getI64Type();
  return buildReduction(loc, r, destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    FailureOr<Value> x = emitElement(emitter);
    if (failed(x))
      return failure();
    SmallVector<AffineExpr> row = emitter.getLoops();
    row.erase(row.begin() + axis);
    Value top = emitter.readTensor(*best, rows, row), matches;
    if (isa<FloatType>(elementType)) {
      matches = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, *x, top);
      // The best element is NaN if there is any, and then, as in numpy, the first NaN is selected.
      Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, *x, *x);
      matches = arith::OrIOp::create(b, loc, matches, isNaN);
    } else {
      matches = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, *x, top);
    }
    Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(), emitter.materialize(emitter.getLoop(axis)));
    Value none = arith::ConstantOp::create(b, loc, getIdentity(b, r.kind, r.elementType, r.elementType));
    return arith::SelectOp::create(b, loc, matches, index, none).getResult();
  });
}
