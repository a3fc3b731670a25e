//===- Recurrent.cpp - RNN, GRU and LSTM, written out step by step --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ControlBuilder.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

#include <cassert>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Longer sequences are not unrolled, but become a loop.
constexpr int64_t kMaxWrittenOut = 16;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

struct Activation {
  std::string name;
  double alpha = 0, beta = 0;
};

/// Returns an activation with its default parameters.
Activation makeActivation(StringRef name) {
  Activation a{name.lower()};
  if (a.name == "leakyrelu")
    a.alpha = 0.01;
  else if (a.name == "hardsigmoid")
    a = {a.name, 0.2, 0.5};
  else if (a.name == "elu" || a.name == "thresholdedrelu" || a.name == "affine")
    a.alpha = 1;
  return a;
}

Value apply(Node &n, const Activation &a, Value x) {
  auto number = [&](double value) { return n.scalarLike(value, x); };
  if (a.name == "tanh")
    return n.tanh(x);
  if (a.name == "sigmoid")
    return n.sigmoid(x);
  if (a.name == "relu")
    return n.relu(x);
  if (a.name == "affine")
    return n.add(n.mul(x, number(a.alpha)), number(a.beta));
  if (a.name == "leakyrelu")
    return n.select(n.less(x, number(0)), n.mul(x, number(a.alpha)), x);
  if (a.name == "thresholdedrelu")
    return n.select(n.greaterOrEqual(x, number(a.alpha)), x, number(0));
  if (a.name == "scaledtanh")
    return n.mul(n.tanh(n.mul(x, number(a.beta))), number(a.alpha));
  if (a.name == "hardsigmoid")
    return n.min(n.max(n.add(n.mul(x, number(a.alpha)), number(a.beta)), number(0)), number(1));
  if (a.name == "elu")
    return n.select(n.greater(x, number(0)), x, n.mul(n.sub(n.exp(x), number(1)), number(a.alpha)));
  if (a.name == "softsign")
    return n.div(x, n.add(n.abs(x), number(1)));
  if (a.name == "softplus")
    return n.add(n.relu(x), n.log1p(n.exp(n.neg(n.abs(x)))));
  (void)n.invalid("knows no activation '" + a.name + "'");
  return {};
}

//===----------------------------------------------------------------------===//
// A layer in one direction
//===----------------------------------------------------------------------===//

struct State {
  Value hidden, cell;
};

/// The operands of one direction, with stacked gates: weights [gates * hidden, in], biases [gates * hidden] or null.
struct Direction {
  Value weights, recurrence, inputBias, hiddenBias, peepholes;
  State initial;
  bool reverse = false;
  SmallVector<Activation> activations;
};

struct Layer {
  int64_t gates, hidden;
  AffineExpr steps, batch;
  double clip;
  bool linearBeforeReset, inputForget;
  Value lengths;
};

/// Returns gate i of [batch, gates * hidden] or of [gates * hidden].
Value takeGate(Node &n, const Layer &l, Value stacked, int64_t i) {
  assert(i >= 0 && i < l.gates && "a gate is one of the layer's");
  if (!stacked)
    return {};
  return n.sliceAxis(stacked, n.rank(stacked) - 1, n.constantDim(i * l.hidden), n.constantDim(l.hidden));
}

Value addIf(Node &n, Value x, Value y) { return y ? n.add(x, y) : x; }

Value clip(Node &n, const Layer &l, Value x) {
  if (l.clip <= 0)
    return x;
  return n.min(n.max(x, n.scalarLike(-l.clip, x)), n.scalarLike(l.clip, x));
}

/// [batch, rows] = hidden [batch, h] times transposed weights [rows, h].
Value project(Node &n, Value hidden, Value weights) { return n.contract(hidden, weights, {0, 2}, {1, 2}, {0, 1}); }

using Step = State (*)(Node &n, const Layer &l, const Direction &d, Value input, const State &before);

State stepRnn(Node &n, const Layer &l, const Direction &d, Value input, const State &before) {
  assert(!d.activations.empty() && "a direction has the activation of its state");
  Value sum = addIf(n, n.add(input, project(n, before.hidden, d.recurrence)), d.hiddenBias);
  return {apply(n, d.activations[0], clip(n, l, sum)), {}};
}

/// The gates are ordered update, reset, hidden. Those that read the unmodified state share one matmul.
State stepGru(Node &n, const Layer &l, const Direction &d, Value input, const State &before) {
  assert(d.activations.size() > 1 && "a direction has the activations of its gates and of its state");
  auto multiply = [&](Value hidden, int64_t first, int64_t count) {
    AffineExpr start = n.constantDim(first * l.hidden), rows = n.constantDim(count * l.hidden);
    Value product = project(n, hidden, n.sliceAxis(d.recurrence, 0, start, rows));
    return addIf(n, product, d.hiddenBias ? n.sliceAxis(d.hiddenBias, 0, start, rows) : Value());
  };
  Value sums = multiply(before.hidden, 0, l.linearBeforeReset ? 3 : 2);
  auto gate = [&](int64_t i) {
    return apply(n, d.activations[0], clip(n, l, n.add(takeGate(n, l, input, i), takeGate(n, l, sums, i))));
  };
  Value update = gate(0), reset = gate(1);
  Value recurrent =
      l.linearBeforeReset ? n.mul(reset, takeGate(n, l, sums, 2)) : multiply(n.mul(reset, before.hidden), 2, 1);
  Value candidate = apply(n, d.activations[1], clip(n, l, n.add(takeGate(n, l, input, 2), recurrent)));
  Value one = n.scalarLike(1, update);
  return {n.add(n.mul(n.sub(one, update), candidate), n.mul(update, before.hidden)), {}};
}

/// The gates are ordered input, output, forget, cell; the peepholes input, output, forget.
State stepLstm(Node &n, const Layer &l, const Direction &d, Value input, const State &before) {
  assert(d.activations.size() > 2 && "a direction has the activations of its gates, its cell and its state");
  Value sums = addIf(n, n.add(input, project(n, before.hidden, d.recurrence)), d.hiddenBias);
  auto gate = [&](int64_t i, Value cell) {
    Value sum = takeGate(n, l, sums, i);
    if (d.peepholes)
      sum = n.add(sum, n.mul(takeGate(n, l, d.peepholes, i), cell));
    return apply(n, d.activations[0], clip(n, l, sum));
  };
  Value in = gate(0, before.cell);
  Value forget = l.inputForget ? n.sub(n.scalarLike(1, in), in) : gate(2, before.cell);
  Value candidate = apply(n, d.activations[1], clip(n, l, takeGate(n, l, sums, 3)));
  Value cell = n.add(n.mul(forget, before.cell), n.mul(in, candidate));
  return {n.mul(gate(1, cell), apply(n, d.activations[2], cell)), cell};
}

/// Computes one step at time `t`, a scalar: the output at that time, and the state after it.
std::pair<Value, State> runStep(Node &n, const Layer &l, const Direction &d, Step step, Value input, Value t,
                                const State &before) {
  State next = step(n, l, d, input, before);
  if (!l.lengths)
    return {next.hidden, next};
  // Beyond its end, a sequence keeps its state and outputs zeros.
  Value isInside = n.less(n.cast(t, n.elementType(l.lengths)), l.lengths);
  Value output = n.select(isInside, next.hidden, n.scalarLike(0, next.hidden));
  next.hidden = n.select(isInside, next.hidden, before.hidden);
  if (next.cell)
    next.cell = n.select(isInside, next.cell, before.cell);
  return {output, next};
}

/// The hidden states [steps, batch, hidden] in the order of time, and the last state.
struct Run {
  Value outputs;
  State last;
};

/// All steps one after the other.
Run writeOutSteps(Node &n, const Layer &l, const Direction &d, Value inputs, int64_t steps, Step step) {
  SmallVector<Value> outputs(steps);
  State state = d.initial;
  for (int64_t i = 0; i < steps; ++i) {
    int64_t t = d.reverse ? steps - 1 - i : i;
    Value input = n.squeeze(n.sliceAxis(inputs, 0, n.constantDim(t), n.constantDim(1)), 0);
    std::tie(outputs[t], state) = runStep(n, l, d, step, input, n.constantInts(t, {}, n.i64()), state);
    outputs[t] = n.unsqueeze(outputs[t], 0);
  }
  return {n.concat(outputs, 0), state};
}

/// The same as a loop, for any number of steps.
std::optional<Run> loopOverSteps(Node &n, const Layer &l, const Direction &d, Value inputs, Step step) {
  SmallVector<Value> inits{d.initial.hidden};
  if (d.initial.cell)
    inits.push_back(d.initial.cell);
  auto body = [&](Value number, ArrayRef<Value> carried) -> std::optional<LoopBody> {
    Value t = d.reverse ? n.sub(n.size(subDims(l.steps, n.constantDim(1)), n.i64()), number) : number;
    State before{carried[0], carried.size() > 1 ? carried[1] : Value()};
    auto [output, next] = runStep(n, l, d, step, n.gather(inputs, t, 0), t, before);
    LoopBody made{{}, {next.hidden}, {output}};
    if (next.cell)
      made.next.push_back(next.cell);
    return made;
  };
  std::optional<SmallVector<Value>> results = buildCountedLoop(n, l.steps, inits, body);
  if (!results)
    return std::nullopt;
  // The number of outputs is the number of steps, which the loop's type does not contain.
  Dims shape = n.dims(inits[0]);
  shape.insert(shape.begin(), l.steps);
  Value outputs = n.reshape(results->back(), shape);
  Run run{d.reverse ? n.reverseAxes(outputs, 0) : outputs, {(*results)[0], {}}};
  if (d.initial.cell)
    run.last.cell = (*results)[1];
  return run;
}

std::optional<Run> runDirection(Node &n, const Layer &l, const Direction &d, Value x, Step step) {
  // The inputs of all steps are projected by one matmul: [steps, batch, gates * hidden].
  Value inputs = addIf(n, n.contract(x, d.weights, {0, 1, 3}, {2, 3}, {0, 1, 2}), d.inputBias);
  std::optional<int64_t> steps = getConstant(l.steps);
  if (steps && *steps >= 1 && *steps <= kMaxWrittenOut)
    return writeOutSteps(n, l, d, inputs, *steps, step);
  return loopOverSteps(n, l, d, inputs, step);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// What distinguishes the three operators.
struct Kind {
  int64_t gates;
  Step step;
  SmallVector<StringRef> activations;
  bool hasCell;
};

std::optional<SmallVector<Activation>> readActivations(Node &n, const Kind &kind, size_t directions) {
  std::optional<SmallVector<std::string>> names = n.getStrings("activations");
  SmallVector<double> alphas = n.getFloats("activation_alpha").value_or(SmallVector<double>());
  SmallVector<double> betas = n.getFloats("activation_beta").value_or(SmallVector<double>());
  SmallVector<Activation> result;
  for (size_t i = 0; i < directions * kind.activations.size(); ++i) {
    if (names && names->size() != directions * kind.activations.size()) {
      (void)n.invalid("has " + Twine(names->size()) + " activations, but needs " +
                      Twine(directions * kind.activations.size()));
      return std::nullopt;
    }
    Activation a = makeActivation(names ? StringRef((*names)[i]) : kind.activations[i % kind.activations.size()]);
    a.alpha = i < alphas.size() ? alphas[i] : a.alpha;
    a.beta = i < betas.size() ? betas[i] : a.beta;
    result.push_back(a);
  }
  return result;
}

/// Returns direction i of a stacked operand; null if it was omitted.
Value takeDirection(Node &n, Value stacked, int64_t i) {
  return stacked ? n.squeeze(n.sliceAxis(stacked, 0, n.constantDim(i), n.constantDim(1)), 0) : Value();
}

Value transposeState(Node &n, Value v, bool batchFirst) { return v && batchFirst ? n.transpose(v, {1, 0, 2}) : v; }

Direction readDirection(Node &n, const Kind &kind, const Layer &l, int64_t i, bool batchFirst) {
  Direction d;
  d.weights = takeDirection(n, n.input(1), i);
  d.recurrence = takeDirection(n, n.input(2), i);
  if (Value bias = takeDirection(n, n.optionalInput(3), i)) {
    AffineExpr half = n.constantDim(kind.gates * l.hidden);
    d.inputBias = n.sliceAxis(bias, 0, n.constantDim(0), half);
    d.hiddenBias = n.sliceAxis(bias, 0, half, half);
  }
  Value zeros = n.broadcast(n.scalarLike(0, d.weights), {l.batch, n.constantDim(l.hidden)});
  auto initial = [&](size_t input) {
    Value given = takeDirection(n, transposeState(n, n.optionalInput(input), batchFirst), i);
    return given ? given : zeros;
  };
  d.initial = {initial(5), kind.hasCell ? initial(6) : Value()};
  d.peepholes = kind.hasCell ? takeDirection(n, n.optionalInput(7), i) : Value();
  return d;
}

/// True if sequence_lens says that all steps count.
bool hasFullLengths(Node &n, AffineExpr steps) {
  const ShapeValue *known = n.known(4);
  std::optional<Dims> lengths = known ? known->getIntegers() : std::nullopt;
  return lengths && llvm::all_of(*lengths, [&](AffineExpr length) { return length == steps; });
}

std::optional<Layer> readLayer(Node &n, const Kind &kind, Value x) {
  Layer l{kind.gates,
          n.getInt("hidden_size", getConstant(n.dim(n.input(2), 2)).value_or(0)),
          n.dim(x, 0),
          n.dim(x, 1),
          n.getFloat("clip", 0),
          n.getBool("linear_before_reset", false),
          n.getBool("input_forget", false),
          {}};
  if (n.rank(x) != 3 || n.rank(n.input(1)) != 3 || n.rank(n.input(2)) != 3 || l.hidden < 1) {
    (void)n.invalid("needs an input, weights and recurrence weights of 3 dimensions, and a hidden size");
    return std::nullopt;
  }
  if (n.hasInput(4) && !hasFullLengths(n, l.steps))
    l.lengths = n.unsqueeze(n.checkRange(n.input(4), n.constantDim(0), l.steps), 1);
  return l;
}

LogicalResult importRecurrent(Node &n, const Kind &kind) {
  bool batchFirst = n.getBool("layout", false);
  Value x = batchFirst ? n.transpose(n.input(0), {1, 0, 2}) : n.input(0);
  std::string direction = n.getString("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return n.invalid("'direction' has to be forward, reverse or bidirectional, not '" + direction + "'");
  size_t directions = direction == "bidirectional" ? 2 : 1;
  std::optional<Layer> l = readLayer(n, kind, x);
  std::optional<SmallVector<Activation>> activations = readActivations(n, kind, directions);
  if (!l || !activations)
    return failure();
  SmallVector<Value> all, hidden, cells;
  for (size_t i = 0; i < directions; ++i) {
    Direction d = readDirection(n, kind, *l, i, batchFirst);
    d.reverse = direction == "reverse" || i == 1;
    d.activations.assign(activations->begin() + i * kind.activations.size(),
                         activations->begin() + (i + 1) * kind.activations.size());
    std::optional<Run> run = runDirection(n, *l, d, x, kind.step);
    if (!run)
      return failure();
    all.push_back(n.unsqueeze(run->outputs, 1));
    hidden.push_back(n.unsqueeze(run->last.hidden, 0));
    if (kind.hasCell)
      cells.push_back(n.unsqueeze(run->last.cell, 0));
  }
  Value y = n.concat(all, 1);
  if (batchFirst)
    y = n.transpose(y, {2, 0, 1, 3});
  bool isGood =
      succeeded(n.setOutput(0, y)) && succeeded(n.setOutput(1, transposeState(n, n.concat(hidden, 0), batchFirst)));
  if (kind.hasCell)
    isGood = isGood && succeeded(n.setOutput(2, transposeState(n, n.concat(cells, 0), batchFirst)));
  return success(isGood);
}

LogicalResult importRnn(Node &n) { return importRecurrent(n, {1, stepRnn, {"Tanh"}, false}); }
LogicalResult importGru(Node &n) { return importRecurrent(n, {3, stepGru, {"Sigmoid", "Tanh"}, false}); }
LogicalResult importLstm(Node &n) { return importRecurrent(n, {4, stepLstm, {"Sigmoid", "Tanh", "Tanh"}, true}); }

} // namespace

ArrayRef<OpEntry> onnx_import::getRecurrentOps() {
  static const OpEntry ops[] = {
      {"GRU", importGru, 3},
      {"LSTM", importLstm},
      {"RNN", importRnn},
  };
  return ops;
}
