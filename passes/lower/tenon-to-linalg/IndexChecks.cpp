//===- IndexChecks.cpp - checks of indices before the loops that use them -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/IndexChecks.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/tenon/IndexUses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// What is checked
//===----------------------------------------------------------------------===//

/// True if a value is computed by a loop nest of the kernel, or is an argument of a region, so that it is not available
/// at the kernel's start.
static bool isKnownLater(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return !isa<func::FuncOp>(value.getParentBlock()->getParentOp());
  return isa<LoopNestOpInterface>(op) || llvm::any_of(op->getOperands(), isKnownLater);
}

/// True if rows along the last dimension are moved as a whole, with their elements in order.
static bool keepsLastDim(Operation *op) {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transpose.getPermutation().back() == static_cast<int64_t>(transpose.getPermutation().size()) - 1;
  Dims from = getDims(op->getOperand(0)), to = getDims(op->getResult(0));
  return !from.empty() && from.back() == to.back() && getConstant(to.back());
}

/// Returns a value with the same elements as `value`, perhaps in another order or repeated. Coordinates along the last
/// dimension stay together.
static Value getUnmoved(Value value, bool hasCoordinates, const KernelScope &scope) {
  while (!scope.lookupTensor(value)) {
    Operation *op = value.getDefiningOp();
    auto map = dyn_cast_or_null<IndexMapOpInterface>(op);
    if (!map || !map.keepsAllElements() || (hasCoordinates && !keepsLastDim(op)))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// True if the limits allow an index for all sizes.
static bool isNeverEmpty(const IndexLimits &limits) {
  std::optional<int64_t> first = getConstant(limits.first), last = getConstant(limits.last);
  return first && last && *first <= *last;
}

//===----------------------------------------------------------------------===//
// The checks
//===----------------------------------------------------------------------===//

namespace {
/// Writes the checks of one operation's indices.
class CheckEmitter {
public:
  CheckEmitter(OpBuilder &builder, KernelScope &scope, const IndexUse &use, Location loc)
      : b(builder), scope(scope), use(use), loc(loc) {}
  LogicalResult emit();

private:
  Value makeConstant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value materialize(AffineExpr dim) { return scope.materializeDim(b, loc, dim); }
  /// Returns the initial minimum and maximum: none, or an index into a dimension that is empty although it is read.
  SmallVector<Value> startEnds(Value hasUses);
  FailureOr<SmallVector<Value>> findEnds(Value value, Value hasUses, SmallVector<Value> ends);
  FailureOr<SmallVector<Value>> extendEnds(Value value, Value list, ValueRange place, ValueRange ends);
  SmallVector<Value> delinearize(Value line, ArrayRef<AffineExpr> dims);
  Value flatten(Value tensor, Dims &dims);

  OpBuilder &b;
  KernelScope &scope;
  const IndexUse &use;
  Location loc;
};
} // namespace

SmallVector<Value> CheckEmitter::startEnds(Value hasUses) {
  SmallVector<Value> ends;
  for (const IndexLimits &limits : use.limits) {
    Value largest = makeConstant(INT64_MIN);
    if (!isNeverEmpty(limits)) {
      Value first = materialize(limits.first);
      Value isEmpty = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, materialize(limits.last), first);
      isEmpty = arith::AndIOp::create(b, loc, isEmpty, hasUses);
      largest = arith::SelectOp::create(b, loc, isEmpty, first, largest);
    }
    ends.append({makeConstant(INT64_MAX), largest});
  }
  return ends;
}

/// Extends the minimum and maximum by the element, or the coordinates, at `place` of `list`, or of `value` if it is not
/// in memory.
FailureOr<SmallVector<Value>> CheckEmitter::extendEnds(Value value, Value list, ValueRange place, ValueRange ends) {
  assert(ends.size() == 2 * use.limits.size() && "each coordinate has a smallest and a largest index");
  SmallVector<Value> extended;
  ElementEmitter emitter(scope, b, loc, place);
  OpBuilder &at = emitter.getBuilder();
  for (size_t i = 0; i < use.limits.size(); ++i) {
    SmallVector<AffineExpr> indices = emitter.getLoops();
    if (use.hasCoordinates)
      indices.push_back(getDimConstant(b.getContext(), i));
    FailureOr<Value> element =
        list ? FailureOr<Value>(emitter.readTensor(list, {}, indices)) : emitter.emit(value, indices);
    if (failed(element))
      return failure();
    Value index = arith::IndexCastOp::create(at, loc, at.getIndexType(), *element);
    extended.push_back(arith::MinSIOp::create(at, loc, ends[2 * i], index));
    extended.push_back(arith::MaxSIOp::create(at, loc, ends[2 * i + 1], index));
  }
  return extended;
}

SmallVector<Value> CheckEmitter::delinearize(Value line, ArrayRef<AffineExpr> dims) {
  SmallVector<Value> place(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    place[i] = line;
    if (i == 0)
      break;
    Value extent = materialize(dims[i]);
    place[i] = arith::RemUIOp::create(b, loc, line, extent);
    line = arith::DivUIOp::create(b, loc, line, extent);
  }
  return place;
}

/// Views a tensor in memory as a list, or as a list of coordinates, so that one loop covers it; `dims` become its
/// dimensions.
Value CheckEmitter::flatten(Value tensor, Dims &dims) {
  assert(!dims.empty() && "a single index is no list");
  SmallVector<ReassociationIndices> groups{llvm::to_vector(llvm::seq<int64_t>(dims.size()))};
  if (use.hasCoordinates)
    groups.push_back({static_cast<int64_t>(dims.size())});
  dims = {getElementCount(b.getContext(), dims)};
  return tensor::CollapseShapeOp::create(b, loc, tensor, groups);
}

/// Emits the smallest and the largest index of each coordinate, among those that this call checks.
FailureOr<SmallVector<Value>> CheckEmitter::findEnds(Value value, Value hasUses, SmallVector<Value> ends) {
  Dims dims = getDims(value);
  if (use.hasCoordinates)
    dims.pop_back();
  Value list = scope.lookupTensor(value);
  if (list && dims.size() > 1)
    list = flatten(list, dims);
  bool hasLines = dims.size() > 1;
  Value zero = makeConstant(0), one = makeConstant(1);
  Value steps = materialize(hasLines ? getElementCount(b.getContext(), ArrayRef(dims).drop_back())
                                     : getElementCount(b.getContext(), dims));
  // What nobody reads may be out of range.
  steps = arith::SelectOp::create(b, loc, hasUses, steps, zero);
  auto share = kernel::ShareOp::create(b, loc, b.getIndexType(), b.getIndexType(), steps);
  auto lines = scf::ForOp::create(b, loc, share.getFirst(), share.getEnd(), one, ends);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(lines.getBody());
  SmallVector<Value> place;
  if (hasLines)
    place = delinearize(lines.getInductionVar(), ArrayRef(dims).drop_back());
  else if (!dims.empty())
    place.push_back(lines.getInductionVar());
  ValueRange carried = lines.getRegionIterArgs();
  scf::ForOp inner;
  if (hasLines) {
    inner = scf::ForOp::create(b, loc, zero, materialize(dims.back()), one, carried);
    b.setInsertionPointToStart(inner.getBody());
    place.push_back(inner.getInductionVar());
    carried = inner.getRegionIterArgs();
  }
  FailureOr<SmallVector<Value>> extended = extendEnds(value, list, place, carried);
  if (failed(extended))
    return failure();
  scf::YieldOp::create(b, loc, *extended);
  if (inner) {
    b.setInsertionPointToEnd(lines.getBody());
    scf::YieldOp::create(b, loc, inner.getResults());
  }
  return SmallVector<Value>(lines.getResults());
}

LogicalResult CheckEmitter::emit() {
  bool needsLoop = use.indices && !use.isInRange;
  if (!needsLoop && llvm::all_of(use.limits, isNeverEmpty))
    return success();
  Value hasUses = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, materialize(use.count), makeConstant(0));
  FailureOr<SmallVector<Value>> ends = startEnds(hasUses);
  if (needsLoop)
    ends = findEnds(getUnmoved(use.indices, use.hasCoordinates, scope), hasUses, *ends);
  if (failed(ends))
    return failure();
  for (auto [i, limits] : llvm::enumerate(use.limits))
    kernel::CheckIndicesOp::create(b, loc, (*ends)[2 * i], (*ends)[2 * i + 1], materialize(limits.first),
                                   materialize(limits.last));
  return success();
}

LogicalResult tenon::emitIndexChecks(OpBuilder &builder, KernelScope &scope, func::FuncOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    for (const IndexUse &use : getIndexUses(op)) {
      if (use.indices && isKnownLater(use.indices))
        return op->emitOpError(
                   "has indices that the same kernel computes by a loop nest: nothing can check them before it"),
               WalkResult::interrupt();
      if (failed(CheckEmitter(builder, scope, use, op->getLoc()).emit()))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
