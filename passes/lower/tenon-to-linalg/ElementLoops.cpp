//===- ElementLoops.cpp - elements that take a loop of their own ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/lower/tenon-to-linalg/ElementEmitter.h"

using namespace mlir;
using namespace tenon;

using IntPredicate = arith::CmpIPredicate;
using FloatPredicate = arith::CmpFPredicate;

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

FailureOr<Value> ElementEmitter::emitElement(SearchSortedOp op, ArrayRef<AffineExpr> indices) {
  FailureOr<Value> element = emit(op.getInput(), indices);
  if (failed(element))
    return failure();
  OpBuilder &b = builder;
  Type type = op.getInput().getType().getElementType();
  Value wanted = toAccumulator(b, loc, *element, type);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  // Invariant of the binary search: keys before `first` precede the element, those from `last` on do not.
  auto isOpen = [&](ValueRange range) -> FailureOr<Value> {
    return arith::CmpIOp::create(b, loc, IntPredicate::ult, range[0], range[1]).getResult();
  };
  auto halve = [&](ValueRange range) -> FailureOr<SmallVector<Value>> {
    Value middle = arith::ShRUIOp::create(b, loc, arith::AddIOp::create(b, loc, range[0], range[1]), one);
    FailureOr<Value> key = emit(op.getKeys(), addRuntimeIndex(middle));
    if (failed(key))
      return failure();
    Value before = emitPrecedes(b, loc, type, toAccumulator(b, loc, *key, type), wanted);
    Value next = arith::AddIOp::create(b, loc, middle, one);
    return SmallVector<Value>{arith::SelectOp::create(b, loc, before, next, range[0]),
                              arith::SelectOp::create(b, loc, before, range[1], middle)};
  };
  FailureOr<SmallVector<Value>> found = emitWhile({zero, materialize(getDim(op.getKeys(), 0))}, isOpen, halve);
  if (failed(found))
    return failure();
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), (*found)[0]).getResult();
}

//===----------------------------------------------------------------------===//
// Tree walk
//===----------------------------------------------------------------------===//

/// Emits the comparison of a feature with a threshold that a mode specifies.
static Value emitTreeTest(OpBuilder &b, Location loc, Value mode, Value x, Value threshold) {
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)).getResult();
  };
  auto compare = [&](FloatPredicate predicate) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, threshold);
  };
  Value kind = arith::AndIOp::create(b, loc, mode, constant(7));
  Value result = compare(FloatPredicate::UNE);
  FloatPredicate predicates[] = {FloatPredicate::OLE, FloatPredicate::OLT, FloatPredicate::OGE, FloatPredicate::OGT,
                                 FloatPredicate::OEQ};
  for (auto [i, predicate] : llvm::enumerate(predicates)) {
    Value isKind = arith::CmpIOp::create(b, loc, IntPredicate::eq, kind, constant(i));
    result = arith::SelectOp::create(b, loc, isKind, compare(predicate), result);
  }
  Value missing = arith::CmpFOp::create(b, loc, FloatPredicate::UNO, x, x);
  Value counts = arith::CmpIOp::create(b, loc, IntPredicate::uge, mode, constant(8));
  return arith::OrIOp::create(b, loc, result, arith::AndIOp::create(b, loc, missing, counts));
}

FailureOr<Value> ElementEmitter::emitElement(TreeEnsembleOp op, ArrayRef<AffineExpr> indices) {
  OpBuilder &b = builder;
  Type type = op.getInput().getType().getElementType();
  AffineExpr nodes = getDim(op.getFeatures(), 0);
  FailureOr<AffineExpr> root = emitGatherIndex(op.getRoots(), indices.drop_front(), nodes);
  if (failed(root))
    return failure();
  auto isInner = [&](ValueRange node) -> FailureOr<Value> {
    FailureOr<Value> feature = emit(op.getFeatures(), addRuntimeIndex(node[0]));
    if (failed(feature))
      return failure();
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    return arith::CmpIOp::create(b, loc, IntPredicate::sge, *feature, zero).getResult();
  };
  auto step = [&](ValueRange node) -> FailureOr<SmallVector<Value>> {
    AffineExpr at = addRuntimeIndex(node[0]);
    FailureOr<AffineExpr> feature = emitGatherIndex(op.getFeatures(), at, getDim(op.getInput(), 1));
    FailureOr<Value> threshold = emit(op.getThresholds(), at), mode = emit(op.getModes(), at);
    FailureOr<AffineExpr> yes = emitGatherIndex(op.getIfTrue(), at, nodes),
                          no = emitGatherIndex(op.getIfFalse(), at, nodes);
    if (failed(feature) || failed(threshold) || failed(mode) || failed(yes) || failed(no))
      return failure();
    FailureOr<Value> x = emit(op.getInput(), {indices[0], *feature});
    if (failed(x))
      return failure();
    Value test = emitTreeTest(b, loc, *mode, toAccumulator(b, loc, *x, type), toAccumulator(b, loc, *threshold, type));
    return SmallVector<Value>{arith::SelectOp::create(b, loc, test, materialize(*yes), materialize(*no))};
  };
  FailureOr<SmallVector<Value>> leaf = emitWhile(materialize(*root), isInner, step);
  if (failed(leaf))
    return failure();
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), (*leaf)[0]).getResult();
}

//===----------------------------------------------------------------------===//
// Regions of a feature map
//===----------------------------------------------------------------------===//

namespace {
/// Arithmetic on floats of one type.
struct FloatWriter {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(double value) { return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaximumFOp::create(b, loc, x, y); }
  Value isWithin(Value x, Value low, Value high) {
    return arith::AndIOp::create(b, loc, arith::CmpFOp::create(b, loc, FloatPredicate::OGE, x, low),
                                 arith::CmpFOp::create(b, loc, FloatPredicate::OLE, x, high));
  }
  Value fromIndex(Value index) {
    return castScalar(b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), index), b.getI64Type(), type);
  }
  /// Of a number that is known to be small enough.
  Value toIndex(Value x) {
    Value number = arith::FPToSIOp::create(b, loc, b.getI64Type(), x);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
  }
};

/// One direction of a region: the start of its cells, the size of a cell, and the samples per cell.
struct RoiAxis {
  Value start, cell, samples;
};

/// The two elements on either side of a sample, and the weight of the second one.
struct SampleAxis {
  Value low, high, weight;
};
} // namespace

/// Upper bound for the samples of a cell in one direction, which are computed from input data.
static constexpr double kMaxRoiSamples = 1 << 20; // limit: regions come from data

static RoiAxis makeRoiAxis(FloatWriter f, RoiAlignOp op, Value first, Value last, Value cells) {
  auto place = [&](Value corner) {
    return f.sub(f.mul(corner, f.constant(op.getScale().convertToDouble())),
                 f.constant(op.getShift().convertToDouble()));
  };
  Value start = place(first), extent = f.sub(place(last), start);
  if (op.getShift().isZero())
    extent = f.max(extent, f.constant(1));
  Value cell = f.div(extent, cells);
  if (op.getSamples() > 0)
    return {start, cell, arith::ConstantIndexOp::create(f.b, f.loc, op.getSamples())};
  Value wanted = math::CeilOp::create(f.b, f.loc, cell);
  // NaN fails the comparison too.
  Value isAny = f.isWithin(wanted, f.constant(1), f.constant(kMaxRoiSamples));
  return {start, cell, f.toIndex(arith::SelectOp::create(f.b, f.loc, isAny, wanted, f.constant(0)))};
}

/// Computes the neighbours of a sample that is inside the map or at most 1 outside.
static SampleAxis makeSampleAxis(FloatWriter f, Value position, Value size) {
  Value one = arith::ConstantIndexOp::create(f.b, f.loc, 1);
  Value last = arith::SubIOp::create(f.b, f.loc, size, one);
  position = arith::MinimumFOp::create(f.b, f.loc, f.max(position, f.constant(0)), f.fromIndex(last));
  Value low = arith::MinUIOp::create(f.b, f.loc, f.toIndex(position), last);
  Value high = arith::MinUIOp::create(f.b, f.loc, arith::AddIOp::create(f.b, f.loc, low, one), last);
  return {low, high, f.sub(position, f.fromIndex(low))};
}

FailureOr<Value> ElementEmitter::emitElement(RoiAlignOp op, ArrayRef<AffineExpr> indices) {
  OpBuilder &b = builder;
  MLIRContext *context = loc.getContext();
  Type elementType = op.getType().getElementType(), type = getAccumulatorType(elementType);
  FloatWriter f{b, loc, type};
  Dims in = getDims(op.getInput()), out = getDims(op.getType());
  bool isMax = op.getKind() == RoiAlignKind::max;

  FailureOr<AffineExpr> batch = emitGatherIndex(op.getBatches(), indices[0], in[0]);
  if (failed(batch))
    return failure();
  // The corners of a region are ordered x, y, x, y; axis 0 is y.
  RoiAxis axes[2];
  Value sizes[2];
  for (int64_t axis : {0, 1}) {
    FailureOr<Value> first = emit(op.getRois(), {indices[0], getDimConstant(context, 1 - axis)});
    FailureOr<Value> last = emit(op.getRois(), {indices[0], getDimConstant(context, 3 - axis)});
    if (failed(first) || failed(last))
      return failure();
    sizes[axis] = materialize(in[2 + axis]);
    axes[axis] = makeRoiAxis(f, op, toAccumulator(b, loc, *first, elementType),
                             toAccumulator(b, loc, *last, elementType), f.fromIndex(materialize(out[2 + axis])));
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value total = arith::MulIOp::create(b, loc, axes[0].samples, axes[1].samples);
  Value cells[2] = {f.fromIndex(materialize(indices[2])), f.fromIndex(materialize(indices[3]))};

  auto emitSample = [&](ArrayRef<Value> positions) -> FailureOr<Value> {
    SampleAxis y = makeSampleAxis(f, positions[0], sizes[0]), x = makeSampleAxis(f, positions[1], sizes[1]);
    Value result;
    for (bool isHighY : {false, true})
      for (bool isHighX : {false, true}) {
        FailureOr<Value> element = emit(op.getInput(), {*batch, indices[1], addRuntimeIndex(isHighY ? y.high : y.low),
                                                        addRuntimeIndex(isHighX ? x.high : x.low)});
        if (failed(element))
          return failure();
        Value weightY = isHighY ? y.weight : f.sub(f.constant(1), y.weight);
        Value weightX = isHighX ? x.weight : f.sub(f.constant(1), x.weight);
        Value part = f.mul(f.mul(weightY, weightX), toAccumulator(b, loc, *element, elementType));
        result = !result ? part : isMax ? f.max(result, part) : f.add(result, part);
      }
    return result;
  };
  auto isOpen = [&](ValueRange carried) -> FailureOr<Value> {
    return arith::CmpIOp::create(b, loc, IntPredicate::ult, carried[0], total).getResult();
  };
  auto addSample = [&](ValueRange carried) -> FailureOr<SmallVector<Value>> {
    Value numbers[2] = {arith::DivUIOp::create(b, loc, carried[0], axes[1].samples),
                        arith::RemUIOp::create(b, loc, carried[0], axes[1].samples)};
    Value positions[2], inside;
    for (int axis : {0, 1}) {
      const RoiAxis &a = axes[axis];
      Value middle = f.div(f.mul(f.add(f.fromIndex(numbers[axis]), f.constant(0.5)), a.cell), f.fromIndex(a.samples));
      positions[axis] = f.add(f.add(a.start, f.mul(cells[axis], a.cell)), middle);
      Value here = f.isWithin(positions[axis], f.constant(-1), f.fromIndex(sizes[axis]));
      inside = inside ? arith::AndIOp::create(b, loc, inside, here).getResult() : here;
    }
    FailureOr<Value> sample = emitIf(
        inside, type, [&] { return emitSample(positions); }, [&]() -> FailureOr<Value> { return f.constant(0); });
    if (failed(sample))
      return failure();
    return SmallVector<Value>{arith::AddIOp::create(b, loc, carried[0], one),
                              isMax ? f.max(carried[1], *sample) : f.add(carried[1], *sample)};
  };
  Value start = f.constant(isMax ? -std::numeric_limits<double>::infinity() : 0);
  FailureOr<SmallVector<Value>> joined = emitWhile({zero, start}, isOpen, addSample);
  if (failed(joined))
    return failure();
  Value isNone = arith::CmpIOp::create(b, loc, IntPredicate::eq, total, zero);
  Value count = arith::MaxUIOp::create(b, loc, total, one);
  Value result = isMax ? (*joined)[1] : f.div((*joined)[1], f.fromIndex(count));
  return fromAccumulator(b, loc, arith::SelectOp::create(b, loc, isNone, f.constant(0), result), elementType);
}
