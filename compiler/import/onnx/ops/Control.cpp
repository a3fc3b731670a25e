//===- Control.cpp - If, Loop and Scan ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Compound.h"
#include "compiler/import/onnx/ControlBuilder.h"
#include "compiler/import/onnx/OpTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

// A branch with a known condition is inlined, and a short loop with a known trip count is unrolled. All other control
// flow becomes operations with regions.

namespace {

/// A loop is unrolled if that creates at most this many nodes.
constexpr int64_t kMaxWrittenOut = 256;

/// Returns the only element if it is an expression of sizes, otherwise null.
AffineExpr getElement(const ShapeValue *value) {
  std::optional<Dims> integers = value ? value->getIntegers() : std::nullopt;
  return integers && integers->size() == 1 ? integers->front() : AffineExpr();
}

std::optional<int64_t> getConstantElement(const ShapeValue *value) {
  AffineExpr element = getElement(value);
  return element ? getConstant(element) : std::nullopt;
}

bool hasFailed(ArrayRef<ImportedValue *> values) {
  return llvm::any_of(values, [](ImportedValue *value) { return value->hasFailed(); });
}

LogicalResult bindOutputs(Node &n, MutableArrayRef<ImportedValue> values) {
  SmallVector<ImportedValue *> pointers;
  for (ImportedValue &value : values)
    pointers.push_back(&value);
  return n.importer.bindOutputs(n, pointers);
}

/// Reshapes a single-element boolean or number to rank 0.
Value toScalar(Node &n, Value value) { return n.reshape(value, IntsRef()); }

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

LogicalResult importInPlace(Node &n, const onnx::GraphProto &graph) {
  SmallVector<ImportedValue *> outputs;
  if (failed(n.importer.importSubgraph(n, graph, {}, outputs)))
    return failure();
  return n.importer.bindOutputs(n, outputs);
}

/// Returns the ranks of a branch's results; empty if it fails.
Ints getRanks(Node &n, const onnx::GraphProto &graph) {
  Ints ranks;
  attempt(n, [&] {
    SmallVector<ImportedValue *> outputs;
    if (succeeded(n.importer.importSubgraph(n, graph, {}, outputs)) && !hasFailed(outputs))
      for (ImportedValue *output : outputs)
        ranks.push_back(output->type ? output->type.getRank() : -1);
    return true;
  });
  return ranks;
}

/// The two graphs of an If, in order.
using Branches = std::array<const onnx::GraphProto *, 2>;

/// A branch that no sizes of these inputs let run.
struct DeadBranch {
  int number;
  std::string fault;                     ///< why
  SmallVector<RankedTensorType> results; ///< of the other one
};

/// Returns the types of a branch's result tensors; none if it fails, or if a result is not a tensor.
std::optional<SmallVector<RankedTensorType>> getTensorTypes(Node &n, const onnx::GraphProto &graph) {
  SmallVector<RankedTensorType> types;
  bool areTensors = attempt(n, [&] {
    SmallVector<ImportedValue *> outputs;
    if (failed(n.importer.importSubgraph(n, graph, {}, outputs)) || hasFailed(outputs))
      return false;
    for (ImportedValue *output : outputs)
      types.push_back(output->type);
    return !llvm::is_contained(types, RankedTensorType());
  });
  return areTensors ? std::optional(types) : std::nullopt;
}

/// Finds the dead branch if the import of one branch failed with `faults` and the other one can be imported.
std::optional<DeadBranch> findDeadBranch(Node &n, const Branches &graphs, const Importer::Faults &faults) {
  bool isInvalid = llvm::all_of(faults, [](const auto &fault) { return fault.kind == ImportFault::invalidModel; });
  // A nested If is handled by the outermost one; otherwise each level would try all nested ones again.
  bool isOutermost = isa_and_nonnull<func::FuncOp>(n.importer.getBuilder().getInsertionBlock()->getParentOp());
  if (!isInvalid || !isOutermost)
    return std::nullopt;
  for (int number : {0, 1}) {
    std::optional<SmallVector<RankedTensorType>> own = getTensorTypes(n, *graphs[number]);
    std::optional<SmallVector<RankedTensorType>> other = own ? std::nullopt : getTensorTypes(n, *graphs[1 - number]);
    if (other)
      return DeadBranch{number, faults.front().text, *other};
  }
  return std::nullopt;
}

/// Creates a branch that ends the run, and yields zeros of the other branch's shapes, as far as they are known outside
/// of it.
SmallVector<Value> makeDeadBranch(Node &n, const DeadBranch &dead, SmallVectorImpl<ImportedValue> &likes) {
  n.requireWhenRun(n.constantDim(-1), "takes a branch that these sizes do not fit: " + dead.fault);
  SmallVector<Value> values;
  for (RankedTensorType type : dead.results) {
    Dims dims = getDims(type);
    for (AffineExpr &dim : dims)
      if (isUnknownDim(dim) || n.importer.dependsOnData(dim))
        dim = n.constantDim(0);
    values.push_back(n.broadcast(n.scalar(0, type.getElementType()), dims));
    likes.push_back(toImported(n, values.back()));
  }
  return values;
}

LogicalResult importBranches(Node &n, const Branches &graphs, const std::optional<DeadBranch> &dead) {
  SmallVector<ImportedValue> likes;
  auto importBranch = [&](int i) -> std::optional<SmallVector<Value>> {
    SmallVector<ImportedValue> ignored;
    if (dead && dead->number == i)
      return makeDeadBranch(n, *dead, i == 0 ? likes : ignored);
    SmallVector<ImportedValue *> outputs;
    if (failed(n.importer.importSubgraph(n, *graphs[i], {}, outputs)) || hasFailed(outputs))
      return std::nullopt;
    SmallVector<Value> tensors;
    for (auto [k, output] : llvm::enumerate(outputs)) {
      if (i == 0)
        likes.push_back(*output);
      std::optional<SmallVector<Value>> parts = toTensorsLike(n, *output, likes[k]);
      if (!parts)
        return std::nullopt;
      tensors.append(*parts);
    }
    return tensors;
  };
  std::optional<SmallVector<Value>> results =
      buildIf(n, toScalar(n, n.input(0)), [&] { return importBranch(0); }, [&] { return importBranch(1); });
  if (!results)
    return failure();
  SmallVector<ImportedValue> values = fromTensorsLike(n, likes, *results);
  return bindOutputs(n, values);
}

LogicalResult importIf(Node &n) {
  std::optional<int64_t> condition = getConstantElement(n.known(0));
  Branches graphs = {n.getGraph("then_branch"), n.getGraph("else_branch")};
  if (!graphs[0] || !graphs[1])
    return failure();
  if (condition)
    return importInPlace(n, *graphs[*condition ? 0 : 1]);
  // Exporters write "squeeze this dimension if it is 1" this way. A rank cannot depend on sizes, so the dimension is
  // assumed to be 1.
  AffineExpr difference = getComparedSizes(n.input(0));
  if (difference && getRanks(n, *graphs[0]) != getRanks(n, *graphs[1])) {
    std::string text =
        "needs " + dimsToString(difference) + " to be 0, on which the rank of '" + n.getProto().output(0) + "' depends";
    n.require(difference, text);
    n.require(simplifyDim(-difference), text);
    return importInPlace(n, *graphs[0]);
  }
  if (graphs[0]->output_size() != graphs[1]->output_size())
    return n.invalid("has branches of " + Twine(graphs[0]->output_size()) + " and " + Twine(graphs[1]->output_size()) +
                     " outputs");
  Importer::Checkpoint before = n.importer.getCheckpoint();
  LogicalResult result = importBranches(n, graphs, std::nullopt);
  if (succeeded(result) || !n.importer.hasFaultsSince(before))
    return result;
  // A model may have a branch for other sizes, which is invalid for these.
  Importer::Faults faults = n.importer.rollBack(before, n);
  if (std::optional<DeadBranch> dead = findDeadBranch(n, graphs, faults))
    return importBranches(n, graphs, dead);
  n.importer.restore(std::move(faults));
  return failure();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// The tensors of each iteration for each scanned output, which are stacked along a new dimension.
using Slices = SmallVector<SmallVector<Value>>;

/// Appends the tensors of one iteration. Returns false after a reported error.
bool appendSlices(Node &n, Slices &slices, ArrayRef<ImportedValue *> values) {
  for (auto [list, value] : llvm::zip(slices, values)) {
    Value tensor = n.importer.materialize(*value);
    if (!tensor)
      return false;
    list.push_back(tensor);
  }
  return true;
}

Value stack(Node &n, ArrayRef<Value> slices, int64_t axis) {
  SmallVector<Value> parts;
  for (Value slice : slices)
    parts.push_back(n.unsqueeze(slice, axis));
  return n.concat(parts, axis);
}

/// The results of a loop: the state after the last iteration, then the stacked slices. None after an error.
using LoopResults = std::optional<SmallVector<ImportedValue>>;

LoopResults stackSlices(Node &n, ArrayRef<ImportedValue> state, Slices &slices, IntsRef axes) {
  SmallVector<ImportedValue> values(state);
  for (auto [list, axis] : llvm::zip(slices, axes)) {
    std::optional<int64_t> at = n.normalizeAxis(axis, n.rank(list.front()) + 1);
    Value stacked = at ? stack(n, list, *at) : Value();
    if (!stacked)
      return std::nullopt;
    values.push_back(toImported(n, stacked));
  }
  return values;
}

LogicalResult bindResults(Node &n, LoopResults results) { return results ? bindOutputs(n, *results) : failure(); }

/// A Loop node as it was read.
struct LoopNode {
  const onnx::GraphProto *body;
  Value trips;     ///< how often it runs at most, a scalar; null where nothing limits that
  Value condition; ///< whether it runs at all, a scalar; null where it does
  std::optional<int64_t> knownTrips;
  AffineExpr mostTrips; ///< the same as an expression of sizes; null where it is none
  std::optional<int64_t> knownCondition;
  SmallVector<ImportedValue> state;
  int64_t collected;
};

std::optional<LoopNode> readLoop(Node &n) {
  LoopNode loop{n.getGraph("body"), {}, {}, {}, {}, 1, {}, 0};
  if (!loop.body)
    return std::nullopt;
  if (n.hasInput(0)) {
    loop.mostTrips = getElement(n.known(0));
    loop.knownTrips = loop.mostTrips ? getConstant(loop.mostTrips) : std::nullopt;
    loop.trips = toScalar(n, n.input(0));
  }
  if (n.hasInput(1)) {
    loop.knownCondition = getConstantElement(n.known(1));
    loop.condition = toScalar(n, n.input(1));
  }
  for (int i = 2; i < n.getProto().input_size(); ++i)
    loop.state.push_back(*n.scope.find(n.inputName(i)));
  loop.collected = loop.body->output_size() - 1 - static_cast<int64_t>(loop.state.size());
  if (loop.collected < 0) {
    (void)n.invalid("its body has " + Twine(loop.body->output_size()) + " outputs for " + Twine(loop.state.size()) +
                    " values that it carries");
    return std::nullopt;
  }
  return loop;
}

/// What one time makes; null where it failed.
std::optional<SmallVector<ImportedValue *>> importIteration(Node &n, const LoopNode &loop, ImportedValue number,
                                                            ArrayRef<ImportedValue> state) {
  SmallVector<ImportedValue> inputs{std::move(number), makeConstant(n, 1, n.i1())};
  inputs.append(state.begin(), state.end());
  SmallVector<ImportedValue *> outputs;
  if (failed(n.importer.importSubgraph(n, *loop.body, inputs, outputs)) || hasFailed(outputs))
    return std::nullopt;
  return outputs;
}

/// True if it is known at compile time that the first iteration is not the last. The graph is imported for this, and
/// discarded.
bool isConditionKnown(Node &n, const LoopNode &loop) {
  return attempt(n, [&] {
    auto outputs = importIteration(n, loop, makeConstant(n, 0, n.i64()), loop.state);
    return outputs && getConstantElement(n.importer.getKnown(*outputs->front())).has_value();
  });
}

LogicalResult writeOutLoop(Node &n, LoopNode &loop) {
  Slices slices(loop.collected);
  int64_t goesOn = *loop.knownCondition;
  for (int64_t i = 0; i < *loop.knownTrips && goesOn; ++i) {
    auto outputs = importIteration(n, loop, makeConstant(n, i, n.i64()), loop.state);
    if (!outputs)
      return failure();
    std::optional<int64_t> next = getConstantElement(n.importer.getKnown(*outputs->front()));
    if (!next)
      return n.unsupported("whether it goes on is known for the first times only");
    goesOn = *next;
    ArrayRef<ImportedValue *> rest = ArrayRef(*outputs).drop_front();
    for (auto [value, output] : llvm::zip(loop.state, rest))
      value = *output;
    if (!appendSlices(n, slices, rest.drop_front(loop.state.size())))
      return failure();
  }
  return bindResults(n, stackSlices(n, loop.state, slices, Ints(loop.collected, 0)));
}

/// Determines the ranks of initially empty sequences from the body.
bool learnRanks(Node &n, LoopNode &loop) {
  auto isOpen = [](const ImportedValue &value) { return value.sequence && value.sequence->rank < 0; };
  if (llvm::none_of(loop.state, isOpen))
    return true;
  SmallVector<int64_t> ranks(loop.state.size(), -1);
  attempt(n, [&] {
    if (auto outputs = importIteration(n, loop, makeConstant(n, 0, n.i64()), loop.state))
      for (auto [rank, output] : llvm::zip(ranks, ArrayRef(*outputs).drop_front()))
        rank = output->sequence ? output->sequence->rank : -1;
    return true;
  });
  for (auto [value, rank] : llvm::zip(loop.state, ranks))
    if (isOpen(value) && rank >= 0) {
      Sequence sequence = *value.sequence;
      if (!setRank(n, sequence, rank))
        return false;
      value = toImported(n, sequence);
    }
  return true;
}

LogicalResult importLoop(Node &n) {
  std::optional<LoopNode> loop = readLoop(n);
  if (!loop)
    return failure();
  bool runsNever = loop->knownTrips.value_or(1) <= 0 || loop->knownCondition == 0;
  if (loop->knownTrips && loop->knownCondition && !(runsNever && loop->collected) &&
      *loop->knownTrips <= kMaxWrittenOut / std::max(loop->body->node_size(), 1) &&
      (runsNever || isConditionKnown(n, *loop)))
    return writeOutLoop(n, *loop);
  if (!learnRanks(n, *loop))
    return failure();
  Value zero = n.constantInts(0, {}, n.i64()), one = n.constantInts(1, {}, n.i64());
  SmallVector<Value> inits{zero};
  for (const ImportedValue &value : loop->state) {
    std::optional<SmallVector<Value>> tensors = toTensors(n, value);
    if (!tensors)
      return failure();
    inits.append(*tensors);
  }
  Value condition = loop->trips ? n.greater(n.cast(loop->trips, n.i64()), zero) : Value();
  if (loop->condition)
    condition = condition ? n.bitAnd(condition, loop->condition) : loop->condition;
  if (!condition)
    condition = n.scalar(1, n.i1());
  auto body = [&](ArrayRef<Value> arguments) -> std::optional<LoopBody> {
    SmallVector<ImportedValue> state = fromTensorsLike(n, loop->state, arguments.drop_front());
    auto outputs = importIteration(n, *loop, toImported(n, arguments.front()), state);
    if (!outputs)
      return std::nullopt;
    Value number = n.add(arguments.front(), one);
    LoopBody made{toScalar(n, n.importer.materialize(*outputs->front())), {number}, {}};
    if (loop->trips)
      made.goesOn = n.bitAnd(made.goesOn, n.less(number, n.cast(loop->trips, n.i64())));
    ArrayRef<ImportedValue *> rest = ArrayRef(*outputs).drop_front();
    for (auto [output, like] : llvm::zip(rest, loop->state)) {
      std::optional<SmallVector<Value>> tensors = toTensorsLike(n, *output, like);
      if (!tensors)
        return std::nullopt;
      made.next.append(*tensors);
    }
    for (ImportedValue *output : rest.drop_front(loop->state.size()))
      made.collected.push_back(n.importer.materialize(*output));
    return made;
  };
  std::optional<SmallVector<Value>> results = buildLoop(n, condition, loop->mostTrips, inits, body);
  if (!results)
    return failure();
  ArrayRef<Value> rest = ArrayRef(*results).drop_front();
  SmallVector<ImportedValue> values = fromTensorsLike(n, loop->state, rest);
  for (Value stacked : rest.take_back(loop->collected))
    values.push_back(toImported(n, stacked));
  return bindOutputs(n, values);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

struct ScanInput {
  Value value;
  int64_t axis;
  bool reverse;
};

/// A Scan node as it was read.
struct ScanNode {
  const onnx::GraphProto *body;
  SmallVector<ImportedValue> state;
  SmallVector<ScanInput> inputs;
  AffineExpr length;
  Ints axes, directions; ///< of what is collected
};

/// Reads the values that a scan runs over, and the number of their elements.
bool readScanInputs(Node &n, int64_t count, ScanNode &scan) {
  int64_t states = static_cast<int64_t>(n.getNumInputs()) - count;
  Ints axes = n.getInts("scan_input_axes").value_or(Ints(count, 0));
  Ints directions = n.getInts("scan_input_directions").value_or(Ints(count, 0));
  if (count < 1 || states < 0 || static_cast<int64_t>(axes.size()) != count ||
      static_cast<int64_t>(directions.size()) != count) {
    (void)n.invalid("'num_scan_inputs' is " + Twine(count) + ", which its inputs, axes or directions do not fit");
    return false;
  }
  for (int64_t i = 0; i < count; ++i) {
    Value value = n.input(states + i);
    std::optional<int64_t> axis = n.normalizeAxis(axes[i], n.rank(value));
    if (!axis)
      return false;
    AffineExpr size = n.dim(value, *axis);
    if (!scan.length || getConstant(size))
      scan.length = size;
    scan.inputs.push_back({value, *axis, directions[i] != 0});
  }
  for (const ScanInput &input : scan.inputs) {
    AffineExpr difference = subDims(n.dim(input.value, input.axis), scan.length);
    n.require(difference, "runs over inputs of different lengths");
    n.require(simplifyDim(-difference), "runs over inputs of different lengths");
  }
  return true;
}

std::optional<ScanNode> readScan(Node &n) {
  ScanNode scan{n.getGraph("body"), {}, {}, {}, {}, {}};
  int64_t count = n.getInt("num_scan_inputs", 1);
  if (!scan.body || !readScanInputs(n, count, scan))
    return std::nullopt;
  for (size_t i = 0; i + count < n.getNumInputs(); ++i)
    scan.state.push_back(*n.scope.find(n.inputName(i)));
  int64_t collected = scan.body->output_size() - static_cast<int64_t>(scan.state.size());
  scan.axes = n.getInts("scan_output_axes").value_or(Ints(std::max<int64_t>(collected, 0), 0));
  scan.directions = n.getInts("scan_output_directions").value_or(Ints(scan.axes.size(), 0));
  if (collected >= 0 && static_cast<int64_t>(scan.axes.size()) == collected &&
      scan.directions.size() == scan.axes.size())
    return scan;
  (void)n.invalid("its body has " + Twine(scan.body->output_size()) +
                  " outputs, which its states or output axes do not fit");
  return std::nullopt;
}

LoopResults writeOutScan(Node &n, ScanNode &scan, int64_t length) {
  Slices slices(scan.axes.size());
  for (int64_t t = 0; t < length; ++t) {
    SmallVector<ImportedValue> inputs(scan.state);
    for (const ScanInput &s : scan.inputs) {
      AffineExpr at = n.constantDim(s.reverse ? length - 1 - t : t);
      Value slice = n.squeeze(n.sliceAxis(s.value, s.axis, at, n.constantDim(1)), s.axis);
      if (!slice)
        return std::nullopt;
      inputs.push_back(toImported(n, slice));
    }
    SmallVector<ImportedValue *> outputs;
    if (failed(n.importer.importSubgraph(n, *scan.body, inputs, outputs)) || hasFailed(outputs))
      return std::nullopt;
    for (auto [value, output] : llvm::zip(scan.state, outputs))
      value = *output;
    if (!appendSlices(n, slices, ArrayRef(outputs).drop_front(scan.state.size())))
      return std::nullopt;
  }
  for (auto [list, direction] : llvm::zip(slices, scan.directions))
    if (direction != 0)
      std::reverse(list.begin(), list.end());
  return stackSlices(n, scan.state, slices, scan.axes);
}

/// Moves the collected slices, which are stacked along the first dimension, to the node's axis and direction.
Value placeCollected(Node &n, Value stacked, int64_t axis, bool reverse) {
  std::optional<int64_t> at = n.normalizeAxis(axis, n.rank(stacked));
  if (!at)
    return {};
  if (reverse)
    stacked = n.reverseAxes(stacked, 0);
  Ints order = rangeOf(1, n.rank(stacked));
  order.insert(order.begin() + *at, 0);
  return n.transpose(stacked, order);
}

LoopResults runScan(Node &n, ScanNode &node) {
  ScanNode *scan = &node;
  std::optional<int64_t> length = getConstant(scan->length);
  if (length && *length >= 1 && *length <= kMaxWrittenOut / std::max(scan->body->node_size(), 1))
    return writeOutScan(n, *scan, *length);
  SmallVector<Value> inits;
  for (const ImportedValue &value : scan->state) {
    std::optional<SmallVector<Value>> tensors = toTensors(n, value);
    if (!tensors)
      return std::nullopt;
    inits.append(*tensors);
  }
  size_t carried = inits.size();
  auto body = [&](Value number, ArrayRef<Value> arguments) -> std::optional<LoopBody> {
    SmallVector<ImportedValue> inputs = fromTensorsLike(n, scan->state, arguments);
    for (const ScanInput &s : scan->inputs) {
      Value at = number;
      if (s.reverse)
        at = n.sub(n.size(subDims(scan->length, n.constantDim(1)), n.i64()), number);
      Value slice = n.gather(s.value, at, s.axis);
      if (!slice)
        return std::nullopt;
      inputs.push_back(toImported(n, slice));
    }
    SmallVector<ImportedValue *> outputs;
    if (failed(n.importer.importSubgraph(n, *scan->body, inputs, outputs)) || hasFailed(outputs))
      return std::nullopt;
    LoopBody made;
    for (auto [output, like] : llvm::zip(outputs, scan->state)) {
      std::optional<SmallVector<Value>> tensors = toTensorsLike(n, *output, like);
      if (!tensors)
        return std::nullopt;
      made.next.append(*tensors);
    }
    for (ImportedValue *output : ArrayRef(outputs).drop_front(scan->state.size()))
      made.collected.push_back(n.importer.materialize(*output));
    return made;
  };
  std::optional<SmallVector<Value>> results = buildCountedLoop(n, scan->length, inits, body);
  if (!results)
    return std::nullopt;
  SmallVector<ImportedValue> values = fromTensorsLike(n, scan->state, *results);
  for (auto [stacked, axis, direction] :
       llvm::zip(ArrayRef(*results).drop_front(carried), scan->axes, scan->directions)) {
    Value placed = placeCollected(n, stacked, axis, direction != 0);
    if (!placed)
      return std::nullopt;
    values.push_back(toImported(n, placed));
  }
  return values;
}

LogicalResult importScan(Node &n) {
  std::optional<ScanNode> scan = readScan(n);
  return scan ? bindResults(n, runScan(n, *scan)) : failure();
}

/// Up to opset 8, all values have a leading batch dimension, and each sequence of the batch is scanned separately.
LogicalResult importBatchedScan(Node &n) {
  const onnx::GraphProto *body = n.getGraph("body");
  int64_t count = n.getInt("num_scan_inputs", 1), given = static_cast<int64_t>(n.getNumInputs()) - 1;
  Ints directions = n.getInts("directions").value_or(Ints(count, 0));
  if (!body)
    return failure();
  if (n.hasInput(0))
    return n.unsupported("has sequences of different lengths, which is supported from opset 9 on");
  if (count < 1 || count > given || static_cast<int64_t>(directions.size()) != count ||
      body->output_size() < given - count)
    return n.invalid("'num_scan_inputs' is " + Twine(count) + ", which its inputs, directions or body do not fit");
  SmallVector<Value> values;
  for (int64_t i = 0; i < given; ++i) {
    values.push_back(n.input(i + 1));
    if (n.rank(values.back()) < (i < given - count ? 1 : 2))
      return n.invalid("input '" + n.inputName(i + 1) + "' lacks the dimensions of batch and sequence");
  }
  auto scanOne = [&](Value number, ArrayRef<Value>) -> std::optional<LoopBody> {
    ScanNode scan{body, {}, {}, n.dim(values.back(), 1), {}, {}};
    for (auto [i, value] : llvm::enumerate(values)) {
      Value one = n.gather(value, number, 0);
      int64_t number = static_cast<int64_t>(i) - (given - count);
      if (number < 0)
        scan.state.push_back(toImported(n, one));
      else
        scan.inputs.push_back({one, 0, directions[number] != 0});
    }
    scan.axes = scan.directions = Ints(body->output_size() - (given - count), 0);
    LoopResults results = runScan(n, scan);
    if (!results)
      return std::nullopt;
    LoopBody made;
    for (ImportedValue &result : *results)
      made.collected.push_back(n.importer.materialize(result));
    return made;
  };
  AffineExpr batch = n.dim(values.back(), 0);
  std::optional<SmallVector<Value>> results = buildCountedLoop(n, batch, {}, scanOne);
  if (!results)
    return failure();
  SmallVector<ImportedValue> outputs;
  for (Value result : *results) {
    // The extent is the batch size, which the loop's type does not contain.
    Dims shape = n.dims(result);
    shape[0] = batch;
    outputs.push_back(toImported(n, n.reshape(result, shape)));
  }
  return bindOutputs(n, outputs);
}

} // namespace

ArrayRef<OpEntry> onnx_import::getControlOps() {
  static const OpEntry ops[] = {
      {"If", importIf},
      {"Loop", importLoop},
      {"Scan", importScan, 9},
      {"Scan", importBatchedScan, 8, 8},
  };
  return ops;
}
