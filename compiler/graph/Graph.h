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

/// An extent: a number, or an expression over symbols that are bound at run time.
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
  /// True if both are known to be equal for all values of the symbols.
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

/// Elements [begin, end) of a dimension, or every `step`th of them. Negative numbers count from the end; so does a
/// default `end`, which is the end itself.
struct Slice {
  Dim begin = 0;
  std::optional<Dim> end = std::nullopt;
  int64_t step = 1;
};

/// An index into a dimension: one element, which removes the dimension; a slice; or a tensor of indices, whose
/// dimensions replace it.
using Index = std::variant<Dim, Slice, Tensor>;

/// A value of a graph. It is cheap to copy, and must not outlive the graph. A default-constructed tensor belongs to no
/// graph, and is an error as an operand.
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

  /// Indexes the first dimensions in order: x[{Slice{}, 0, Slice{1, -1}}] is [:, 0, 1:-1] in numpy. Indices that are
  /// statically out of range are an error.
  Tensor operator[](std::initializer_list<Index> indices) const;

  Graph *getGraph() const { return graph; }
  mlir::Value getValue() const { return value; }

private:
  Graph *graph = nullptr;
  mlir::Value value;
};

using Tensors = llvm::SmallVector<Tensor, 4>;

/// A tensor that a session keeps between runs. Its rows are along the first dimension. It is read and written outside
/// of branches and loops.
class State {
public:
  State(Graph &graph, std::string name) : graph(&graph), name(std::move(name)) {}

  /// The first rows, as they are now.
  Tensor read(const Dim &rows) const;
  /// Writes the rows of `value` from row `at` on.
  void write(const Dim &at, const Tensor &value) const;
  /// Writes the rows of `value` after the `live` ones; the next run begins with both.
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
  /// `name` is the name of the module. Loads the required dialects into the context, which must outlive the graph.
  explicit Graph(mlir::MLIRContext *context, llvm::StringRef name = "");
  ~Graph();
  Graph(const Graph &) = delete;

  mlir::MLIRContext *getContext() const { return context; }

  /// During its lifetime, operations have its name, prefixed by the names of outer scopes: "layers.0.attention".
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

  /// Returns a dynamic dimension. Symbols of the same name are the same symbol.
  Dim symbol(llvm::StringRef name);
  /// Bounds a symbol of that name, both ends included.
  void setRange(llvm::StringRef symbol, int64_t min, int64_t max);
  /// Adds a requirement that is checked at run time: if the expression is negative, the run fails with the message
  /// `otherwise`. Reports an error at once if it is always negative.
  void require(const Dim &notNegative, const llvm::Twine &otherwise);

  //===--- Leaves

  /// Creates a state of zeros, all of whose rows are live. Names must be distinct. With a `sequence`, it is that
  /// sequence's state of a run of several sequences: the first one's has the same name and type, and is created before.
  graph::State state(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, DType type = DType::f32,
                     int64_t sequence = 0);
  /// Creates a state that grows: the symbol `live` is the number of its live rows, 0 at the beginning of a session.
  /// States that grow together share a symbol. That of another `sequence` has another symbol.
  graph::State growingState(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, llvm::StringRef live,
                            DType type = DType::f32, int64_t sequence = 0);
  /// Makes each run one of several sequences, each with states of its own.
  void setSequences(int64_t count);
  Tensor input(llvm::StringRef name, ShapeRef shape, DType type = DType::f32);
  /// Creates a weight from values, which are copied; there must be one for each element.
  Tensor weight(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values);
  /// The same with any elements, which are not copied if they are a resource.
  Tensor weight(llvm::StringRef name, mlir::ElementsAttr elements);
  /// A number as a tensor of rank 0.
  Tensor scalar(double value, DType type = DType::f32);
  /// Numbers, of shape [values.size()].
  Tensor vector(llvm::ArrayRef<double> values, DType type = DType::f32);
  /// The value of a dimension, of rank 0.
  Tensor size(const Dim &dim, DType type = DType::i64);
  /// Each element its own index along `axis`.
  Tensor iota(ShapeRef shape, int64_t axis, DType type = DType::i64);
  /// Returns booleans [queries, keys]: whether a query may attend to a key. The queries are the last of the keys'
  /// positions; a query sees the keys up to its own position and, if `window` is not 0, only the last `window` of
  /// these.
  Tensor causalMask(const Dim &queries, const Dim &keys, int64_t window = 0);

  // ===--- Random numbers: from the run's seed, different for each call and in each iteration of a loop; or, with
  // `seed`, from that seed, the same in each run and for each call with it. The type must be a floating-point type.

  /// Uniform in [low, high), or [low, high] if rounding reaches `high`.
  Tensor randomUniform(ShapeRef shape, double low = 0, double high = 1, DType type = DType::f32,
                       std::optional<int64_t> seed = std::nullopt);
  /// Uniform in [0, 1). The numbers follow from `key`, an i64 of rank 0, alone.
  Tensor randomUniform(ShapeRef shape, const Tensor &key, DType type = DType::f32);
  Tensor randomNormal(ShapeRef shape, double mean = 0, double deviation = 1, DType type = DType::f32,
                      std::optional<int64_t> seed = std::nullopt);

  //===--- The end

  /// The next result of the graph. Names differ.
  void output(llvm::StringRef name, const Tensor &value);
  /// The module, once; null where anything failed.
  mlir::OwningOpRef<mlir::ModuleOp> finish();

  bool hasFailed() const;
  /// Reports an error of the caller at the current place, unless something has failed before.
  void fail(const llvm::Twine &text);
  /// Returns an empty tensor after an error that the caller has reported. Results that depend on it are empty, too, and
  /// finish() returns null.
  Tensor missing();

  /// Returns the builder of operations, for those without a function here.
  GraphBuilder &getBuilder() { return *builder; }
  /// Where they are made.
  mlir::OpBuilder &getOpBuilder();
  /// Reports an error if a tensor was created in a branch or a loop that has ended: only the results of those are
  /// visible outside.
  bool checkVisible(const Tensor &tensor);

private:
  friend class graph::State;
  Tensor makeRandom(ShapeRef shape, DType type, std::optional<int64_t> seed, bool isNormal);
  void moveTo(llvm::StringRef place);
  graph::State declareState(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, DType type, llvm::StringRef live,
                            int64_t sequence = 0);

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
// Comparisons return a boolean for each element, so `if (x == y)` intentionally does not compile.
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
Tensor operator^(const Tensor &x, const Tensor &y);
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
/// Booleans: whether each element is NaN.
Tensor isNaN(const Tensor &x);
Tensor sigmoid(const Tensor &x);
Tensor relu(const Tensor &x);
/// x * sigmoid(x)
Tensor silu(const Tensor &x);
/// x / 2 * (1 + erf(x / sqrt(2))), or its tanh approximation.
Tensor gelu(const Tensor &x, bool tanh = false);
Tensor pow(const Tensor &x, const Tensor &y);
Tensor minimum(const Tensor &x, const Tensor &y);
Tensor maximum(const Tensor &x, const Tensor &y);
/// x where the condition is true, y elsewhere.
Tensor where(const Tensor &condition, const Tensor &x, const Tensor &y);
Tensor where(const Tensor &condition, const Tensor &x, double y);
/// Converts to another type; floats are truncated towards zero when converted to integers.
Tensor cast(const Tensor &x, DType type);

//===----------------------------------------------------------------------===//
// Contractions and reductions
//===----------------------------------------------------------------------===//

/// Computes [..., m, k] @ [..., k, n] -> [..., m, n], and products with vectors, like numpy's matmul.
Tensor matmul(const Tensor &x, const Tensor &y);
/// x @ transpose(weight) + bias: [..., in], [out, in], [out] -> [..., out]. The bias is optional.
Tensor linear(const Tensor &x, const Tensor &weight, const Tensor &bias = {});
/// Takes two operands and a letter for each dimension: einsum("bik,bjk->bij", x, y). A letter occurs at most once in an
/// operand; letters that the result lacks are summed over.
Tensor einsum(llvm::StringRef equation, const Tensor &x, const Tensor &y);
Tensor sum(const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims = false);
Tensor mean(const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims = false);
/// The largest, the smallest along axes.
Tensor amax(const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims = false);
Tensor amin(const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims = false);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Reshapes to the same number of elements, in row-major order.
Tensor reshape(const Tensor &x, ShapeRef shape);
/// Dimension i of the result is dimension permutation[i] of x.
Tensor transpose(const Tensor &x, llvm::ArrayRef<int64_t> permutation);
Tensor broadcast(const Tensor &x, ShapeRef shape);
/// Elements [start, start + extent) along an axis.
Tensor slice(const Tensor &x, int64_t axis, const Dim &start, const Dim &extent);
/// Splits into equal parts along an axis, whose extent must be static and a multiple of `count`.
llvm::SmallVector<Tensor, 4> split(const Tensor &x, int64_t axis, int64_t count);
/// Concatenates along an axis; the other dimensions must be equal.
Tensor concat(llvm::ArrayRef<Tensor> values, int64_t axis);
/// Inserts a dimension of 1 as dimension `axis` of the result.
Tensor unsqueeze(const Tensor &x, int64_t axis);

/// Returns the index of the largest element along an axis, which is removed; the first one among equals. The result is
/// i64.
Tensor argMax(const Tensor &x, int64_t axis);
Tensor argMin(const Tensor &x, int64_t axis);
/// Returns the `count` largest elements along an axis, the largest first, and their i64 indices.
std::pair<Tensor, Tensor> topK(const Tensor &x, const Dim &count, int64_t axis = -1);
/// Draws an i64 index of each line of `weights`, [lines..., elements], by numbers `uniform` in [0, 1), [lines...], from
/// what the `filters`, [lines..., 3], leave: how many of the largest elements, which share of their sum, and which
/// fraction of the largest one; 0: all (tenon.sample).
Tensor sample(const Tensor &weights, const Tensor &filters, const Tensor &uniform);
/// Returns the inclusive prefix sums along an axis.
Tensor cumulativeSum(const Tensor &x, int64_t axis);

/// Selects parts of x along an axis by integer indices, whose dimensions replace the axis.
Tensor gather(const Tensor &x, const Tensor &indices, int64_t axis);
/// Returns x with `updates` in place of the elements at `indices` along an axis; all three have the same rank, and the
/// last two one shape.
Tensor scatter(const Tensor &x, const Tensor &indices, const Tensor &updates, int64_t axis);
/// [count, width], [...] -> [..., width]
Tensor embedding(const Tensor &table, const Tensor &ids);

//===----------------------------------------------------------------------===//
// Windows: x is [batch, channels, spatial...]
//===----------------------------------------------------------------------===//

/// The steps of a window along the spatial dimensions: one number for each, or none for the default. `low` and `high`
/// are the padding before and after; without `high` it equals `low`.
struct Steps {
  llvm::SmallVector<int64_t, 3> strides = {}, dilations = {}, low = {}, high = {};
};

/// The filter is [filters, channels / groups, sizes...]; the optional bias is [filters].
Tensor convolve(const Tensor &x, const Tensor &filter, const Tensor &bias = {}, const Steps &steps = {},
                int64_t groups = 1);
Tensor maxPool(const Tensor &x, llvm::ArrayRef<int64_t> sizes, const Steps &steps = {});
/// Padding does not count, unless `countsPadding`.
Tensor averagePool(const Tensor &x, llvm::ArrayRef<int64_t> sizes, const Steps &steps = {}, bool countsPadding = false);
/// (x - mean) / sqrt(variance + epsilon) * scale + bias, each with one number per channel.
Tensor batchNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, const Tensor &mean, const Tensor &variance,
                 double epsilon);
/// The same with the mean and variance of equal groups of channels in each image; with one channel per group it is an
/// instance norm.
Tensor groupNorm(const Tensor &x, int64_t groups, const Tensor &scale, const Tensor &bias, double epsilon);

//===----------------------------------------------------------------------===//
// Parts of networks
//===----------------------------------------------------------------------===//

Tensor softmax(const Tensor &x, int64_t axis);
Tensor logSoftmax(const Tensor &x, int64_t axis);
/// Normalizes over the last dimension. The bias is optional.
Tensor layerNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, double epsilon);
Tensor rmsNorm(const Tensor &x, const Tensor &scale, double epsilon);
/// Rotates pairs of features by angles: x is [..., length, size], where features i and i + size / 2 form a pair;
/// cosines and sines are [length, size / 2].
Tensor rope(const Tensor &x, const Tensor &cosines, const Tensor &sines);
/// Dequantizes integers: (x - zero) * scale in f32. Scale and the optional zero point have x's dimensions or 1; along
/// `axis` each of their elements applies to `block` neighbours.
Tensor dequantize(const Tensor &x, const Tensor &scale, const Tensor &zero, int64_t axis, int64_t block);
/// softmax(queries @ transpose(keys) * scale) @ values. Queries are [batch, heads, queries, size], keys and values
/// [batch, keyHeads, keys, size], where keyHeads divides heads: consecutive query heads share each of them. The
/// optional boolean `mask` is true for keys that a query attends to: [queries, keys], or [batch, 1, queries, keys] with
/// extents of 1 that broadcast. A query all of whose keys are masked gets the mean of all values. If `softcap` is not
/// 0, a score s becomes tanh(s / softcap) * softcap before it is masked.
Tensor attention(const Tensor &queries, const Tensor &keys, const Tensor &values, double scale, const Tensor &mask = {},
                 double softcap = 0);

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Each loss for itself, their mean, or their sum.
enum class Reduction { none, mean, sum };

/// -log(softmax(logits)) of the labelled class: logits are [batch, classes, ...], labels integers [batch, ...]. The
/// result has the labels' shape, or rank 0. Labels equal to `ignoredIndex` have a loss of 0 and do not count in the
/// mean, which is NaN if no label counts; a run with any other invalid label fails.
Tensor crossEntropyLoss(const Tensor &logits, const Tensor &labels, Reduction reduction = Reduction::mean,
                        std::optional<int64_t> ignoredIndex = std::nullopt);
/// (x - target)^2 of tensors of equal shape; the result has that shape, or rank 0.
Tensor mseLoss(const Tensor &x, const Tensor &target, Reduction reduction = Reduction::mean);

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//
//
// What a function makes that is passed here happens in one branch, or in each time of a loop. It may use all tensors
// from around it; of what it makes, there is only what it returns outside of it. A list of results is returned as such:
// [&]() -> Tensors { return {x, y}; }

/// Returns the results of `then` if the condition, a boolean of rank 0, is true, otherwise those of `otherwise`; only
/// one of both is computed. The results must have the same types.
Tensors cond(const Tensor &condition, llvm::function_ref<Tensors()> then, llvm::function_ref<Tensors()> otherwise);
Tensor cond(const Tensor &condition, llvm::function_ref<Tensor()> then, llvm::function_ref<Tensor()> otherwise);

/// Returns the results of branch `index`, an integer of rank 0, which is clamped to the range of branches. The results
/// of all branches must have the same types.
Tensors match(const Tensor &index, llvm::ArrayRef<std::function<Tensors()>> branches);
Tensor match(const Tensor &index, llvm::ArrayRef<std::function<Tensor()>> branches);

/// The trip count of a loop: a dimension, or an integer of rank 0. If it is not positive, the loop does not run.
using Trips = std::variant<Dim, Tensor>;
/// Returns the tensors that a loop carries to its next iteration, from those carried to this one, which have the same
/// types, and the number of the iteration, an i64 of rank 0 that starts at 0.
using LoopBody = llvm::function_ref<Tensors(const Tensor &number, llvm::ArrayRef<Tensor> carried)>;
/// Returns the condition for another iteration with these tensors: a boolean of rank 0. It is called outside of the
/// loop and inside it.
using LoopCondition = llvm::function_ref<Tensor(llvm::ArrayRef<Tensor> carried)>;

/// Runs the body `trips` times, or while the condition holds, or both. Returns the carried tensors after the last
/// iteration, or the initial ones if the loop does not run. There must be at least one.
Tensors loop(const Trips &trips, llvm::ArrayRef<Tensor> initial, LoopBody body);
Tensors loopWhile(LoopCondition condition, llvm::ArrayRef<Tensor> initial, LoopBody body);
Tensors loop(const Trips &trips, LoopCondition condition, llvm::ArrayRef<Tensor> initial, LoopBody body);

} // namespace tenon::graph

#endif // TENON_COMPILER_GRAPH_GRAPH_H
