//===- GraphBuilder.h - makes tenon operations, remembering a failure -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_GRAPHBUILDER_H
#define TENON_COMPILER_GRAPH_GRAPHBUILDER_H

#include "dialects/tenon/Dims.h"

namespace mlir {
class OpBuilder;
class ElementsAttr;
struct OperationState;
} // namespace mlir

namespace tenon {

enum class ComparePredicate : uint32_t;
enum class PoolKind : uint32_t;
enum class ReduceKind : uint32_t;

using mlir::AffineExpr;
using mlir::Type;
using mlir::Value;
using Ints = llvm::SmallVector<int64_t>;
using IntsRef = llvm::ArrayRef<int64_t>;

/// from, from + 1, ... to - 1
inline Ints rangeOf(int64_t from, int64_t to) {
  Ints range;
  for (int64_t i = from; i < to; ++i)
    range.push_back(i);
  return range;
}

/// One number for each spatial dimension of a sliding window.
struct Window {
  Ints sizes, strides, dilations, low, high;
};

/// Makes tenon operations whose types follow by inference, and checks each at once. The first operation that
/// fails has reported why, through an MLIR diagnostic; from then on every call gives a null value and does
/// nothing. So an expression of many calls is written without a check at each, and asked once at its end.
///
/// It hides the dialect's generated headers, which take long to compile, from the files that use it.
class GraphBuilder {
public:
  GraphBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}
  virtual ~GraphBuilder() = default;

  bool hasFailed() const { return failed; }
  /// As a failed operation does, without a report: the caller has made one.
  void setFailed() { failed = true; }
  /// Reports a failure, unless there was one before.
  void fail(const llvm::Twine &text);
  mlir::MLIRContext *getContext() const;
  mlir::Location getLoc() const { return loc; }
  /// Where further operations come from.
  void setLoc(mlir::Location newLoc) { loc = newLoc; }

  //===--- Types: of a null value a scalar of f32, so that callers need no check
  //--------------------------===//

  static int64_t rank(Value v);
  static Dims dims(Value v);
  AffineExpr dim(Value v, int64_t i) const;
  Type elementType(Value v) const;
  bool isFloat(Value v) const;
  bool isInteger(Value v) const; ///< An integer of any sign, no boolean.
  bool isBool(Value v) const;
  Type f32() const;
  Type f64() const;
  Type i1() const;
  Type ui8() const;
  Type i32() const;
  Type i64() const;
  AffineExpr constantDim(int64_t value) const { return getDimConstant(getContext(), value); }
  Dims constantDims(IntsRef values) const;

  //===--- Leaves
  //-----------------------------------------------------------------------------------------===//

  Value weight(mlir::ElementsAttr value, llvm::StringRef name = "");
  /// A constant of rank 0.
  Value scalar(double value, Type type);
  /// The same, of the element type that `like` has.
  Value scalarLike(double value, Value like) { return scalar(value, elementType(like)); }
  Value constantInts(IntsRef values);
  Value constantInts(IntsRef values, IntsRef shape, Type type);
  Value constantFloats(llvm::ArrayRef<double> values, IntsRef shape, Type type);
  /// Integers that depend on symbols alone, of rank 1; a weight where all are constants.
  Value sizes(llvm::ArrayRef<AffineExpr> values, Type type);
  /// One such integer, of rank 0.
  Value size(AffineExpr value, Type type);
  Value iota(llvm::ArrayRef<AffineExpr> shape, int64_t axis, Type type);

  //===--- Elementwise
  //------------------------------------------------------------------------------------===//

#define TENON_UNARY(NAME) Value NAME(Value x);
  TENON_UNARY(abs)
  TENON_UNARY(neg)
  TENON_UNARY(sign)
  TENON_UNARY(ceil)
  TENON_UNARY(floor)
  TENON_UNARY(round)
  TENON_UNARY(sqrt)
  TENON_UNARY(rsqrt)
  TENON_UNARY(reciprocal)
  TENON_UNARY(exp)
  TENON_UNARY(log)
  TENON_UNARY(log1p)
  TENON_UNARY(sin)
  TENON_UNARY(cos)
  TENON_UNARY(tan)
  TENON_UNARY(asin)
  TENON_UNARY(acos)
  TENON_UNARY(atan)
  TENON_UNARY(sinh)
  TENON_UNARY(cosh)
  TENON_UNARY(tanh)
  TENON_UNARY(asinh)
  TENON_UNARY(acosh)
  TENON_UNARY(atanh)
  TENON_UNARY(erf)
  TENON_UNARY(bitNot)
  TENON_UNARY(isNaN)
  TENON_UNARY(isInf)
  TENON_UNARY(sigmoid)
  TENON_UNARY(relu)
#undef TENON_UNARY
#define TENON_BINARY(NAME) Value NAME(Value x, Value y);
  TENON_BINARY(add)
  TENON_BINARY(sub)
  TENON_BINARY(mul)
  TENON_BINARY(div)
  TENON_BINARY(rem)
  TENON_BINARY(mod)
  TENON_BINARY(pow)
  TENON_BINARY(max)
  TENON_BINARY(min)
  TENON_BINARY(bitAnd)
  TENON_BINARY(bitOr)
  TENON_BINARY(bitXor)
  TENON_BINARY(shiftLeft)
  TENON_BINARY(shiftRight)
  TENON_BINARY(equal)
  TENON_BINARY(notEqual)
  TENON_BINARY(less)
  TENON_BINARY(lessOrEqual)
  TENON_BINARY(greater)
  TENON_BINARY(greaterOrEqual)
#undef TENON_BINARY
  Value select(Value condition, Value x, Value y);
  Value gelu(Value x, bool tanh);
  /// The value itself where it has that type.
  /// `rounding` is nearest, up or down; only f8E8M0FNU knows the last two.
  Value cast(Value x, Type type, bool saturate = true, llvm::StringRef rounding = "nearest");
  Value bitcast(Value x, Type type);
  /// (x - zero) * scale, where blocks along an axis have one scale and one zero point, which may be null.
  Value dequantize(Value x, Value scale, Value zero, int64_t axis, int64_t block, Type resultType = {});

  //===--- Contractions, windows, reductions
  //--------------------------------------------------------------===//

  Value contract(Value x, Value y, IntsRef xDims, IntsRef yDims, IntsRef resultDims, Type resultType = {});
  /// x @ y as numpy has it, batch dimensions broadcast.
  Value matmul(Value x, Value y, Type resultType = {});
  Value convolve(Value x, Value filter, const Window &window, int64_t groups, Type resultType = {});
  Value poolMax(Value x, const Window &window, bool ceil = false);
  Value poolSum(Value x, const Window &window, bool ceil = false);
  Value poolAverage(Value x, const Window &window, bool ceil, bool countPadding);
  Value argMax(Value x, int64_t axis, bool keepdims = true, bool last = false);
  Value argMin(Value x, int64_t axis, bool keepdims = true, bool last = false);
  Value cumulativeSum(Value x, int64_t axis, bool exclusive = false, bool reverse = false);
  Value cumulativeProd(Value x, int64_t axis, bool exclusive = false, bool reverse = false);
  Value reduceProd(Value x, IntsRef axes, bool keepdims = true);
  Value reduceSum(Value x, IntsRef axes, bool keepdims = true);
  Value reduceMax(Value x, IntsRef axes, bool keepdims = true);
  Value reduceMin(Value x, IntsRef axes, bool keepdims = true);
  Value reduceMean(Value x, IntsRef axes, bool keepdims = true);

  //===--- Shapes
  //-----------------------------------------------------------------------------------------===//

  /// The value itself where it has that shape.
  Value reshape(Value x, llvm::ArrayRef<AffineExpr> shape);
  Value reshape(Value x, IntsRef shape) { return reshape(x, constantDims(shape)); }
  Value transpose(Value x, IntsRef permutation);
  Value broadcast(Value x, llvm::ArrayRef<AffineExpr> shape);
  Value slice(Value x, llvm::ArrayRef<AffineExpr> starts, IntsRef steps, llvm::ArrayRef<AffineExpr> shape);
  /// Elements [start, start + extent) of one dimension.
  Value sliceAxis(Value x, int64_t axis, AffineExpr start, AffineExpr extent);
  Value reverseAxes(Value x, IntsRef axes);
  /// `mode` as the dialect writes it: constant, edge, reflect or wrap.
  Value pad(llvm::StringRef mode, Value x, Value value, llvm::ArrayRef<AffineExpr> low, IntsRef interior,
            llvm::ArrayRef<AffineExpr> shape);
  Value concat(llvm::ArrayRef<Value> values, int64_t axis);
  /// Inserts dimensions of 1 so that they lie at `axes` (sorted) of the result.
  Value unsqueeze(Value x, IntsRef axes);
  /// Drops dimensions of 1.
  Value squeeze(Value x, IntsRef axes);
  /// Each element `times` times in place along an axis.
  Value repeat(Value x, int64_t axis, AffineExpr times);
  /// The same along all axes at once.
  Value repeat(Value x, const Dims &times);
  /// A vector as [1, n, 1...], so that it lies along dimension `axis` of a tensor of `rank`.
  Value alongAxis(Value vector, int64_t axis, int64_t rank);

  //===--- Indices
  //----------------------------------------------------------------------------------------===//

  Value gather(Value x, Value indices, int64_t axis);
  Value gatherElements(Value x, Value indices, int64_t axis);
  Value gatherND(Value x, Value indices, int64_t batchDims);
  /// `kind` as the dialect writes it: assign, add, mul, max or min.
  Value scatterElements(llvm::StringRef kind, Value x, Value indices, Value updates, int64_t axis);
  Value scatterND(llvm::StringRef kind, Value x, Value indices, Value updates);
  /// `x`, of which no element may be below `first` or above `last` when this runs.
  Value checkRange(Value x, AffineExpr first, AffineExpr last);
  /// Values and indices of the first k; all, sorted, where k is the extent.
  std::pair<Value, Value> topK(Value x, int64_t axis, AffineExpr k, bool largest);
  /// How many of the sorted `keys` come before each element.
  Value searchSorted(Value x, Value keys);
  /// The tables have an element a node: see the dialect's operation.
  struct TreeTables {
    Value features, thresholds, modes, ifTrue, ifFalse;
  };
  Value treeEnsemble(Value x, Value roots, const TreeTables &tables);
  /// The boxes taken, in a tensor of the scores' shape, and how many. `threshold` may be null.
  std::pair<Value, Value> nms(Value boxes, Value scores, Value limit, Value overlap, Value threshold, bool centers);
  struct RoiGrid {
    AffineExpr height, width;
    double scale, shift;
    int64_t samples;
  };
  /// `kind` as the dialect writes it: average or max.
  Value roiAlign(llvm::StringRef kind, Value x, Value rois, Value batches, const RoiGrid &grid);

  //===--- Random numbers and factors
  //---------------------------------------------------------------------===//

  /// The seed of a run: one for all that ask.
  Value runSeed();
  /// 32 random bits an element, of type ui32.
  Value randomBits(Value key, int64_t stream, llvm::ArrayRef<AffineExpr> shape);
  /// Both triangles of square matrices in one, and the sign of the exchange of rows.
  std::pair<Value, Value> lu(Value x);

  //===--- Sizes that data decides
  //--------------------------------------------------------------------------------===//

  /// Gives symbols the values that the elements of an i64 vector have when this runs; none below `min`, and none
  /// above its bound where there are `bounds`. An element without a name is passed over.
  void bind(Value values, llvm::ArrayRef<std::string> symbols, int64_t min, llvm::ArrayRef<AffineExpr> bounds = {});
  /// Ends the run with `text` where the expression is negative when this runs.
  void requireWhenRun(AffineExpr expr, llvm::StringRef text);

  //===--- The library
  //--------------------------------------------------------------------------------------------===//

  /// Computes lists of these lengths and element types by a kernel of `compiler/backend/llvm/library`.
  llvm::SmallVector<Value> call(llvm::StringRef kernel, llvm::ArrayRef<Value> inputs,
                                llvm::ArrayRef<std::pair<AffineExpr, Type>> results);

  //===--- Plug-ins
  //-----------------------------------------------------------------------------------------------===//

  /// A call of an operator of a plug-in. `present` has a boolean for each operand, those that were left out included;
  /// values of `parameters` are arrays of i64 or f64, or strings.
  struct HostCall {
    std::string plugin, domain, name;
    llvm::SmallVector<Value> inputs; ///< those that are present
    llvm::SmallVector<bool> present;
    mlir::DictionaryAttr parameters;
  };
  llvm::SmallVector<Value> callHost(const HostCall &call, llvm::ArrayRef<mlir::RankedTensorType> results);
  /// The extents of all results, one after the other, as the operator's shape function gives them when this runs.
  Value inferHostShapes(const HostCall &call, llvm::ArrayRef<mlir::RankedTensorType> results);

  //===--- Composites
  //-------------------------------------------------------------------------------------===//

  Value softmax(Value x, int64_t axis, bool log = false);
  Value layerNorm(Value x, Value scale, Value bias, int64_t axis, double epsilon);
  Value rmsNorm(Value x, Value scale, int64_t axis, double epsilon);

  /// Any operation of the dialect, for files that include EmitOp.h. Without `types` they are inferred; `operands` are
  /// all operands, none of which may be null, and `args` operands and attributes as the operation's builder takes them
  /// after the result types. A null operation after a failure.
  template <typename Op, typename... Args>
  Op emit(llvm::ArrayRef<Type> types, llvm::ArrayRef<Value> operands, Args &&...args);

protected:
  /// Called with operands that broadcast against each other, but for so many dimensions at the end, before they are
  /// used. Two different symbols that meet are taken for equal; a front end of which that is not true replaces operands
  /// here.
  virtual void alignExtents(llvm::MutableArrayRef<Value> operands, int64_t numTrailing) {}
  /// Two extents that an operation takes for equal because the model demands it.
  virtual void noteEqual(AffineExpr a, AffineExpr b) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool failed = false;

private:
  /// Nothing has failed, and no operand is null, which counts as a failure.
  bool hasAll(llvm::ArrayRef<Value> operands);
  /// Creates and verifies an operation; null, and a failure, if it is wrong or too large.
  mlir::Operation *finish(const mlir::OperationState &state);
  template <typename Op> Value emitSimple(llvm::ArrayRef<Value> operands);
  Value compare(ComparePredicate predicate, Value x, Value y);
  Value pool(PoolKind kind, Value x, const Window &window, bool ceil, bool countPadding);
  Value reduce(ReduceKind kind, Value x, IntsRef axes, bool keepdims);
  Value argReduce(ReduceKind kind, Value x, int64_t axis, bool keepdims, bool last);
  Value scan(ReduceKind kind, Value x, int64_t axis, bool exclusive, bool reverse);
};

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_GRAPHBUILDER_H
