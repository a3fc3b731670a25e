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

/// Creates tenon operations with inferred types, and verifies each at once. The first operation that fails reports an
/// MLIR diagnostic; after that every call returns a null value and does nothing. So an expression of many calls needs
/// only one check at its end.
///
/// It hides the dialect's generated headers, which compile slowly, from its users.
class GraphBuilder {
public:
  GraphBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}
  virtual ~GraphBuilder() = default;

  bool hasFailed() const { return failed; }
  /// Sets the failed state without a report: the caller has reported an error.
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
  /// Creates a rank-1 tensor of integers that depend only on symbols; a weight if all are constants.
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
  /// Returns the value itself if it has that type. `rounding` is nearest, up or down; only f8E8M0FNU supports the last
  /// two.
  Value cast(Value x, Type type, bool saturate = true, llvm::StringRef rounding = "nearest");
  Value bitcast(Value x, Type type);
  /// (x - zero) * scale, where each block along an axis has one scale and one zero point, which may be null.
  Value dequantize(Value x, Value scale, Value zero, int64_t axis, int64_t block, Type resultType = {});

  //===--- Contractions, windows, reductions
  //--------------------------------------------------------------===//

  Value contract(Value x, Value y, IntsRef xDims, IntsRef yDims, IntsRef resultDims, Type resultType = {});
  /// Computes x @ y like numpy, with broadcast batch dimensions.
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
  /// Slices elements [start, start + extent) of one dimension.
  Value sliceAxis(Value x, int64_t axis, AffineExpr start, AffineExpr extent);
  Value reverseAxes(Value x, IntsRef axes);
  /// `mode` is written as in the dialect: constant, edge, reflect or wrap.
  Value pad(llvm::StringRef mode, Value x, Value value, llvm::ArrayRef<AffineExpr> low, IntsRef interior,
            llvm::ArrayRef<AffineExpr> shape);
  Value concat(llvm::ArrayRef<Value> values, int64_t axis);
  /// Inserts dimensions of 1 at the positions `axes` (sorted) of the result.
  Value unsqueeze(Value x, IntsRef axes);
  /// Drops dimensions of 1.
  Value squeeze(Value x, IntsRef axes);
  /// Repeats each element `times` times in place along an axis.
  Value repeat(Value x, int64_t axis, AffineExpr times);
  /// The same along all axes at once.
  Value repeat(Value x, const Dims &times);
  /// Reshapes a vector to [1, n, 1...], so that it runs along dimension `axis` of a tensor of `rank`.
  Value alongAxis(Value vector, int64_t axis, int64_t rank);

  //===--- Indices
  //----------------------------------------------------------------------------------------===//

  Value gather(Value x, Value indices, int64_t axis);
  Value gatherElements(Value x, Value indices, int64_t axis);
  Value gatherND(Value x, Value indices, int64_t batchDims);
  /// `kind` is written as in the dialect: assign, add, mul, max or min.
  Value scatterElements(llvm::StringRef kind, Value x, Value indices, Value updates, int64_t axis);
  Value scatterND(llvm::StringRef kind, Value x, Value indices, Value updates);
  /// Returns `x`, whose elements are checked at run time to be within `first` and `last`.
  Value checkRange(Value x, AffineExpr first, AffineExpr last);
  /// Returns the values and indices of the first k elements; if k is the extent, all of them, sorted.
  std::pair<Value, Value> topK(Value x, int64_t axis, AffineExpr k, bool largest);
  Value sample(Value weights, Value filters, Value uniform);
  /// Returns, for each element, the number of sorted `keys` before it.
  Value searchSorted(Value x, Value keys);
  /// The tables have an element for each node: see the dialect's operation.
  struct TreeTables {
    Value features, thresholds, modes, ifTrue, ifFalse;
  };
  Value treeEnsemble(Value x, Value roots, const TreeTables &tables);
  /// Returns the selected boxes, in a tensor of the scores' shape, and their number. `threshold` may be null.
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
  /// Returns both triangular factors of square matrices in one tensor, and the sign of the row permutation.
  std::pair<Value, Value> lu(Value x);

  //===--- Sizes that data decides
  //--------------------------------------------------------------------------------===//

  /// Binds symbols at run time to the elements of an i64 vector, which must be at least `min` and at most their bounds,
  /// if there are `bounds`. An element with an empty name is skipped.
  void bind(Value values, llvm::ArrayRef<std::string> symbols, int64_t min, llvm::ArrayRef<AffineExpr> bounds = {});
  /// Ends the run with the message `text` if the expression is negative at run time.
  void requireWhenRun(AffineExpr expr, llvm::StringRef text);

  //===--- The library
  //--------------------------------------------------------------------------------------------===//

  /// Computes lists of these lengths and element types by a kernel of `compiler/backend/llvm/library`.
  llvm::SmallVector<Value> call(llvm::StringRef kernel, llvm::ArrayRef<Value> inputs,
                                llvm::ArrayRef<std::pair<AffineExpr, Type>> results);

  //===--- Plug-ins
  //-----------------------------------------------------------------------------------------------===//

  /// A call of a plug-in's operator. `present` has a boolean for each operand, including those that were omitted;
  /// values of `parameters` are arrays of i64 or f64, or strings.
  struct HostCall {
    std::string plugin, domain, name;
    llvm::SmallVector<Value> inputs; ///< those that are present
    llvm::SmallVector<bool> present;
    mlir::DictionaryAttr parameters;
  };
  llvm::SmallVector<Value> callHost(const HostCall &call, llvm::ArrayRef<mlir::RankedTensorType> results);
  /// Returns the concatenated extents of all results, which the operator's shape function computes at run time.
  Value inferHostShapes(const HostCall &call, llvm::ArrayRef<mlir::RankedTensorType> results);

  //===--- Composites
  //-------------------------------------------------------------------------------------===//

  Value softmax(Value x, int64_t axis, bool log = false);
  Value layerNorm(Value x, Value scale, Value bias, int64_t axis, double epsilon);
  Value rmsNorm(Value x, Value scale, int64_t axis, double epsilon);

  /// Creates any operation of the dialect, for files that include EmitOp.h. Without `types` they are inferred;
  /// `operands` has all operands, none of which may be null, and `args` the operands and attributes that the
  /// operation's builder takes after the result types. Returns null after a failure.
  template <typename Op, typename... Args>
  Op emit(llvm::ArrayRef<Type> types, llvm::ArrayRef<Value> operands, Args &&...args);

protected:
  /// Called before use with operands that broadcast against each other except in the last `numTrailing` dimensions. Two
  /// different symbols that meet are assumed to be equal; a front end whose language does not guarantee this replaces
  /// operands here.
  virtual void alignExtents(llvm::MutableArrayRef<Value> operands, int64_t numTrailing) {}
  /// Called with two extents that an operation requires to be equal.
  virtual void noteEqual(AffineExpr a, AffineExpr b) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool failed = false;

private:
  /// True if nothing has failed and no operand is null; a null operand counts as a failure.
  bool hasAll(llvm::ArrayRef<Value> operands);
  /// Creates and verifies an operation; returns null, after a failure, if it is invalid or too large.
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
