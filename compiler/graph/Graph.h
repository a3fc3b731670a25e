//===- Graph.h - tensor graphs written as C++ expressions -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The public interface for making a model in C++. Expressions over tensors become operations of the tenon
// dialect; what comes out is a module as an importer makes it, to be compiled (CompileOptions::build).
//
//   Graph g(context, "classifier");
//   Dim batch = g.symbol("batch");
//   Tensor x = g.input("x", {batch, 4});
//   Tensor hidden = relu(linear(x, g.weight("w", {8, 4}, weights), g.weight("b", {8}, biases)));
//   g.output("probabilities", softmax(hidden * 2 - 1, -1));
//   mlir::OwningOpRef<mlir::ModuleOp> module = g.finish();
//
// Errors. The first operation that cannot be made is reported as an MLIR error on the context, at the place
// that Graph::Scope names; it says what was found and what was wanted. From then on every operation gives an
// empty tensor and says nothing, and finish() gives null: so nobody has to check before the end. Nothing is
// thrown.
//
// Element types are never converted on their own: an operation on two tensors wants one type, and a number
// that stands beside a tensor takes the tensor's. Shapes broadcast as numpy's do. Axes count from 0, or with
// negative numbers from the end.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_GRAPH_H
#define TENON_COMPILER_GRAPH_GRAPH_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace tenon {
class GraphBuilder;
}

namespace tenon::graph {

enum class DType { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

/// The MLIR type for it.
mlir::Type getType(mlir::MLIRContext *context, DType type);

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// An extent: a number, or an expression over symbols whose values a run brings along.
class Dim {
public:
  Dim(int64_t number = 1) : number(number) {}
  explicit Dim(mlir::AffineExpr expr);

  bool isNumber() const { return !expr; }
  /// The number; only where it is one.
  int64_t getNumber() const { return number; }
  mlir::AffineExpr getExpr(mlir::MLIRContext *context) const;
  /// "length * 2 + 1"
  std::string toString() const;

  friend Dim operator+(const Dim &a, const Dim &b);
  friend Dim operator-(const Dim &a, const Dim &b);
  friend Dim operator*(const Dim &a, const Dim &b);
  /// Rounded to minus infinity. b is no 0.
  friend Dim operator/(const Dim &a, const Dim &b);
  friend Dim operator%(const Dim &a, const Dim &b);
  /// Whether both are known to be equal, whatever the symbols are.
  friend bool operator==(const Dim &a, const Dim &b) { return a.expr == b.expr && a.number == b.number; }

private:
  mlir::AffineExpr expr; ///< null where it is a number
  int64_t number = 0;
};

using Shape = llvm::SmallVector<Dim, 4>;
using ShapeRef = llvm::ArrayRef<Dim>;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

class Graph;
class Tensor;

/// Elements [begin, end) of a dimension, or every `step`th of them. Numbers below 0 count from the end, which is also
/// what stands for an `end` that is left out.
struct Slice {
  Dim begin = 0;
  std::optional<Dim> end = std::nullopt;
  int64_t step = 1;
};

/// What is taken of a dimension: one element, and the dimension is gone; a slice; or those that integers say, whose
/// dimensions stand in its place.
using Index = std::variant<Dim, Slice, Tensor>;

/// A value of a graph: small, to be copied freely, and of no use after the graph is gone. One that was made
/// by default belongs to no graph, and is a fault as an operand.
class Tensor {
public:
  Tensor() = default;
  Tensor(Graph &graph, mlir::Value value) : graph(&graph), value(value) {}

  /// Whether there is a value: false after a failure.
  explicit operator bool() const { return static_cast<bool>(value); }
  /// 0 where there is no value.
  int64_t rank() const;
  /// 1 where there is no such axis, or no value.
  Dim dim(int64_t axis) const;
  Shape shape() const;

  /// Parts of the first dimensions, one after the other: x[{Slice{}, 0, Slice{1, -1}}] is [:, 0, 1:-1] of numpy. What
  /// lies out of range is a failure, as far as it is known now.
  Tensor operator[](std::initializer_list<Index> indices) const;

  Graph *getGraph() const { return graph; }
  mlir::Value getValue() const { return value; }

private:
  Graph *graph = nullptr;
  mlir::Value value;
};

using Tensors = llvm::SmallVector<Tensor, 4>;

/// A tensor that a session keeps from run to run. Rows are along its first dimension. It is read and written outside of
/// branches and loops.
class State {
public:
  State(Graph &graph, std::string name) : graph(&graph), name(std::move(name)) {}

  /// The first rows, as they are now.
  Tensor read(const Dim &rows) const;
  /// Writes the rows of `value` from row `at` on.
  void write(const Dim &at, const Tensor &value) const;
  /// Writes the rows of `value` behind `live` ones, which the next run begins with together with these.
  void append(const Dim &live, const Tensor &value) const;

private:
  void update(const Dim &at, const Tensor &value, bool extends) const;

  Graph *graph;
  std::string name;
};

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

class Graph {
public:
  /// `name` becomes the module's. Loads the dialects that it needs into the context, which has to outlive it.
  explicit Graph(mlir::MLIRContext *context, llvm::StringRef name = "");
  ~Graph();
  Graph(const Graph &) = delete;

  mlir::MLIRContext *getContext() const { return context; }

  /// While it lives, operations bear its name, after the names of those around it: "layers.0.attention".
  class Scope {
  public:
    Scope(Graph &graph, const llvm::Twine &name);
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    Graph &graph;
    std::string before;
  };

  //===--- Dimensions

  /// An open dimension. Symbols of one name are one symbol.
  Dim symbol(llvm::StringRef name);
  /// Bounds a symbol of that name, both ends included.
  void setRange(llvm::StringRef symbol, int64_t min, int64_t max);
  /// A run is refused where this is negative, for the reason that `otherwise` gives. Fails at once where it always is.
  void require(const Dim &notNegative, const llvm::Twine &otherwise);

  //===--- Leaves

  /// A state of zeros, the whole of which counts. Names differ.
  graph::State state(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, DType type = DType::f32);
  /// A state that grows: as many rows count as `live` says, a symbol, which are none when a session begins. States that
  /// grow together have one symbol.
  graph::State growingState(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, llvm::StringRef live,
                            DType type = DType::f32);
  Tensor input(llvm::StringRef name, ShapeRef shape, DType type = DType::f32);
  /// Values that are known now and copied, as many as the shape has elements.
  Tensor weight(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values);
  /// The same with any elements, which are not copied where they are a resource.
  Tensor weight(llvm::StringRef name, mlir::ElementsAttr elements);
  /// A number as a tensor of rank 0.
  Tensor scalar(double value, DType type = DType::f32);
  /// Numbers, of shape [values.size()].
  Tensor vector(llvm::ArrayRef<double> values, DType type = DType::f32);
  /// The value of a dimension, of rank 0.
  Tensor size(const Dim &dim, DType type = DType::i64);
  /// Each element its own index along `axis`.
  Tensor iota(ShapeRef shape, int64_t axis, DType type = DType::i64);
  /// [queries, keys], booleans: whether a query sees a key. The queries are the last of the keys' positions;
  /// one sees the keys up to its own position and, where `window` is not 0, only the last `window` of these.
  Tensor causalMask(const Dim &queries, const Dim &keys, int64_t window = 0);

  //===--- Random numbers: of the run's seed, others for each call and in each time of a loop, or with `seed` those of
  // that seed, the same in each run and for each call with it. The type is one of floats.

  /// Uniform in [low, high); where rounding reaches it, `high` as well.
  Tensor randomUniform(ShapeRef shape, double low = 0, double high = 1, DType type = DType::f32,
                       std::optional<int64_t> seed = std::nullopt);
  Tensor randomNormal(ShapeRef shape, double mean = 0, double deviation = 1, DType type = DType::f32,
                      std::optional<int64_t> seed = std::nullopt);

  //===--- The end

  /// The next result of the graph. Names differ.
  void output(llvm::StringRef name, const Tensor &value);
  /// The module, once; null where anything failed.
  mlir::OwningOpRef<mlir::ModuleOp> finish();

  bool hasFailed() const;
  /// Reports a failure of the caller's at the current place, unless something has failed before.
  void fail(const llvm::Twine &text);
  /// An empty tensor, for one that cannot be had: the caller has reported why. What depends on it is empty
  /// too, and finish() gives null.
  Tensor missing();

  /// What makes the operations, for those that have no function here.
  GraphBuilder &getBuilder() { return *builder; }
  /// Where they are made.
  mlir::OpBuilder &getOpBuilder();
  /// Reports where a tensor was made in a branch or a loop that has ended: only its results are there outside of it.
  bool checkVisible(const Tensor &tensor);

private:
  friend class graph::State;
  Tensor makeRandom(ShapeRef shape, DType type, std::optional<int64_t> seed, bool isNormal);
  void moveTo(llvm::StringRef place);
  graph::State declareState(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, DType type, llvm::StringRef live);

  mlir::MLIRContext *context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  struct Parts;
  std::unique_ptr<Parts> parts;
  std::unique_ptr<GraphBuilder> builder;
};

//===----------------------------------------------------------------------===//
// Elementwise: operands broadcast
//===----------------------------------------------------------------------===//

#define TENON_GRAPH_OPERATOR(OP)                                                                                       \
  Tensor operator OP(const Tensor &x, const Tensor &y);                                                                \
  Tensor operator OP(const Tensor &x, double y);                                                                       \
  Tensor operator OP(double x, const Tensor &y);
TENON_GRAPH_OPERATOR(+)
TENON_GRAPH_OPERATOR(-)
TENON_GRAPH_OPERATOR(*)
TENON_GRAPH_OPERATOR(/)
// Comparisons give booleans for each element: `if (x == y)` does not compile on purpose.
TENON_GRAPH_OPERATOR(==)
TENON_GRAPH_OPERATOR(!=)
TENON_GRAPH_OPERATOR(<)
TENON_GRAPH_OPERATOR(<=)
TENON_GRAPH_OPERATOR(>)
TENON_GRAPH_OPERATOR(>=)
#undef TENON_GRAPH_OPERATOR
Tensor operator-(const Tensor &x);
/// Of booleans, and bitwise of integers.
Tensor operator&(const Tensor &x, const Tensor &y);
Tensor operator|(const Tensor &x, const Tensor &y);
Tensor operator!(const Tensor &x);

Tensor abs(const Tensor &x);
Tensor exp(const Tensor &x);
Tensor log(const Tensor &x);
Tensor sqrt(const Tensor &x);
Tensor rsqrt(const Tensor &x);
Tensor sin(const Tensor &x);
Tensor cos(const Tensor &x);
Tensor tanh(const Tensor &x);
Tensor erf(const Tensor &x);
Tensor sigmoid(const Tensor &x);
Tensor relu(const Tensor &x);
/// x * sigmoid(x)
Tensor silu(const Tensor &x);
/// x / 2 * (1 + erf(x / sqrt(2))), or its approximation with tanh.
Tensor gelu(const Tensor &x, bool tanh = false);
Tensor pow(const Tensor &x, const Tensor &y);
Tensor minimum(const Tensor &x, const Tensor &y);
Tensor maximum(const Tensor &x, const Tensor &y);
/// x where the condition is true, y elsewhere.
Tensor where(const Tensor &condition, const Tensor &x, const Tensor &y);
Tensor where(const Tensor &condition, const Tensor &x, double y);
/// Numbers of another type; floats become integers towards zero.
Tensor cast(const Tensor &x, DType type);

//===----------------------------------------------------------------------===//
// Contractions and reductions
//===----------------------------------------------------------------------===//

/// [..., m, k] @ [..., k, n] -> [..., m, n], and vectors, as numpy's matmul.
Tensor matmul(const Tensor &x, const Tensor &y);
/// x @ transpose(weight) + bias: [..., in], [out, in], [out] -> [..., out]. The bias may be left out.
Tensor linear(const Tensor &x, const Tensor &weight, const Tensor &bias = {});
/// Two operands and a letter for each dimension: einsum("bik,bjk->bij", x, y). A letter stands at most once
/// in an operand; what the result lacks is summed.
Tensor einsum(llvm::StringRef equation, const Tensor &x, const Tensor &y);
Tensor sum(const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims = false);
Tensor mean(const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims = false);
/// The largest, the smallest along axes.
Tensor amax(const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims = false);
Tensor amin(const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims = false);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The same elements in row-major order. Both shapes have equally many.
Tensor reshape(const Tensor &x, ShapeRef shape);
/// Dimension i of the result is dimension permutation[i] of x.
Tensor transpose(const Tensor &x, llvm::ArrayRef<int64_t> permutation);
Tensor broadcast(const Tensor &x, ShapeRef shape);
/// Elements [start, start + extent) along an axis.
Tensor slice(const Tensor &x, int64_t axis, const Dim &start, const Dim &extent);
/// Equal parts along an axis, whose extent is a number that `count` divides.
llvm::SmallVector<Tensor, 4> split(const Tensor &x, int64_t axis, int64_t count);
/// One after another along an axis; the other dimensions are equal.
Tensor concat(llvm::ArrayRef<Tensor> values, int64_t axis);
/// A dimension of 1 that becomes dimension `axis` of the result.
Tensor unsqueeze(const Tensor &x, int64_t axis);

/// The index of the largest element along an axis, which is gone: the first of several. i64.
Tensor argMax(const Tensor &x, int64_t axis);
Tensor argMin(const Tensor &x, int64_t axis);
/// The `count` largest elements along an axis, the largest first, and their indices, i64.
std::pair<Tensor, Tensor> topK(const Tensor &x, const Dim &count, int64_t axis = -1);
/// Each element the sum of those up to it along an axis.
Tensor cumulativeSum(const Tensor &x, int64_t axis);

/// The parts of x along an axis that integers say: the indices' dimensions stand in place of it.
Tensor gather(const Tensor &x, const Tensor &indices, int64_t axis);
/// [count, width], [...] -> [..., width]
Tensor embedding(const Tensor &table, const Tensor &ids);

//===----------------------------------------------------------------------===//
// Windows: x is [batch, channels, spatial...]
//===----------------------------------------------------------------------===//

/// How a window moves over the spatial dimensions: a number for each, or none for the usual one. `low` and `high` are
/// the padding before and behind; without `high` it is the same.
struct Steps {
  llvm::SmallVector<int64_t, 3> strides = {}, dilations = {}, low = {}, high = {};
};

/// The filter is [filters, channels / groups, sizes...], the bias, which may be left out, [filters].
Tensor convolve(const Tensor &x, const Tensor &filter, const Tensor &bias = {}, const Steps &steps = {},
                int64_t groups = 1);
Tensor maxPool(const Tensor &x, llvm::ArrayRef<int64_t> sizes, const Steps &steps = {});
/// Padding does not count, unless `countsPadding`.
Tensor averagePool(const Tensor &x, llvm::ArrayRef<int64_t> sizes, const Steps &steps = {}, bool countsPadding = false);
/// (x - mean) / sqrt(variance + epsilon) * scale + bias, of which each has a number for each channel.
Tensor batchNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, const Tensor &mean, const Tensor &variance,
                 double epsilon);
/// The same with the mean and the variance of equal groups of channels of each image: of one channel it is an instance
/// norm.
Tensor groupNorm(const Tensor &x, int64_t groups, const Tensor &scale, const Tensor &bias, double epsilon);

//===----------------------------------------------------------------------===//
// Parts of networks
//===----------------------------------------------------------------------===//

Tensor softmax(const Tensor &x, int64_t axis);
Tensor logSoftmax(const Tensor &x, int64_t axis);
/// Over the last dimension. The bias may be left out.
Tensor layerNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, double epsilon);
Tensor rmsNorm(const Tensor &x, const Tensor &scale, double epsilon);
/// Rotates pairs of features by angles: x is [..., length, size], where features i and i + size / 2 are a
/// pair; cosines and sines are [length, size / 2].
Tensor rope(const Tensor &x, const Tensor &cosines, const Tensor &sines);
/// Integers as the floats that they stand for, (x - zero) * scale in f32. Scale and zero, which may be left out, have
/// x's dimensions or 1; along `axis` each of their elements is that of `block` neighbours.
Tensor dequantize(const Tensor &x, const Tensor &scale, const Tensor &zero, int64_t axis, int64_t block);
/// softmax(queries @ transpose(keys) * scale) @ values. Queries are [batch, heads, queries, size], keys and
/// values [batch, keyHeads, keys, size], where keyHeads divides heads: each is shared by as many heads in a
/// row. `mask`, which may be left out, says with booleans which keys are seen: [queries, keys], or [batch, 1,
/// queries, keys] with extents of 1 that broadcast. A query that sees no key takes the mean of all. Where `softcap` is
/// not 0, a score s becomes tanh(s / softcap) * softcap before it is masked.
Tensor attention(const Tensor &queries, const Tensor &keys, const Tensor &values, double scale, const Tensor &mask = {},
                 double softcap = 0);

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Each loss for itself, their mean, or their sum.
enum class Reduction { none, mean, sum };

/// -log(softmax(logits)) of the class that is labelled: logits are [batch, classes, ...], labels integers [batch, ...].
/// The result has the labels' shape, or rank 0. Labels that are `ignoredIndex` have a loss of 0 and do not count in the
/// mean, which is NaN where none counts; a run with any other label that is no class is refused.
Tensor crossEntropyLoss(const Tensor &logits, const Tensor &labels, Reduction reduction = Reduction::mean,
                        std::optional<int64_t> ignoredIndex = std::nullopt);
/// (x - target)^2, which have one shape: that is the result's, or it has rank 0.
Tensor mseLoss(const Tensor &x, const Tensor &target, Reduction reduction = Reduction::mean);

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//
//
// What a function makes that is passed here happens in one branch, or in each time of a loop. It may use all tensors
// from around it; of what it makes, there is only what it returns outside of it. A list of results is returned as such:
// [&]() -> Tensors { return {x, y}; }

/// What `then` makes where the condition, a boolean of rank 0, is true, and what `otherwise` makes elsewhere: only one
/// of both is computed. Both make results of the same shapes and types.
Tensors cond(const Tensor &condition, llvm::function_ref<Tensors()> then, llvm::function_ref<Tensors()> otherwise);
Tensor cond(const Tensor &condition, llvm::function_ref<Tensor()> then, llvm::function_ref<Tensor()> otherwise);

/// What branch `index` makes, an integer of rank 0. An index below 0 takes the first branch, one that is too large the
/// last. All make results of the same shapes and types.
Tensors match(const Tensor &index, llvm::ArrayRef<std::function<Tensors()>> branches);
Tensor match(const Tensor &index, llvm::ArrayRef<std::function<Tensor()>> branches);

/// How often a loop runs: a dimension, or an integer of rank 0. Not at all where it is not positive.
using Trips = std::variant<Dim, Tensor>;
/// What a loop carries to its next time, of what it has carried to this one, which has the same shapes and types; and
/// the number of the time, an i64 of rank 0 that begins with 0.
using LoopBody = llvm::function_ref<Tensors(const Tensor &number, llvm::ArrayRef<Tensor> carried)>;
/// Whether a loop runs once more with these tensors: a boolean of rank 0. It is called outside of the loop and in it.
using LoopCondition = llvm::function_ref<Tensor(llvm::ArrayRef<Tensor> carried)>;

/// Runs the body as often as `trips` says, while the condition holds, or both. The results are what it carries in the
/// end: the initial tensors where it never runs. There is at least one.
Tensors loop(const Trips &trips, llvm::ArrayRef<Tensor> initial, LoopBody body);
Tensors loopWhile(LoopCondition condition, llvm::ArrayRef<Tensor> initial, LoopBody body);
Tensors loop(const Trips &trips, LoopCondition condition, llvm::ArrayRef<Tensor> initial, LoopBody body);

} // namespace tenon::graph

#endif // TENON_COMPILER_GRAPH_GRAPH_H
