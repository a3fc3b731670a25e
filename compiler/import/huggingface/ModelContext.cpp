//===- ModelContext.cpp - what the description of an architecture works with ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/ModelContext.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

ModelContext::Scope::Scope(ModelContext &model, const std::string &name)
    : model(model), before(model.prefix.size()), graphScope(model.graph, name) {
  model.prefix += name + ".";
}

//===----------------------------------------------------------------------===//
// Checks of the config
//===----------------------------------------------------------------------===//

void ModelContext::checkLayers(int64_t layers) {
  if (layers > static_cast<int64_t>(checkpoint.size()))
    refuse("config.json asks for " + Twine(layers) + " layers, but there are only " + Twine(checkpoint.size()) +
           " weights");
}

void ModelContext::checkHeads(int64_t hidden, int64_t heads) {
  if (hidden % heads != 0)
    refuse("config.json asks for " + Twine(heads) + " heads, which do not divide " + Twine(hidden) + " features");
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

SmallVector<Tensor, 4> ModelContext::inputs(ArrayRef<Input> declared) {
  for (const Input &input : declared)
    inputShapes.declare(input.name, input.shape);
  SmallVector<Tensor, 4> tensors;
  for (const Input &input : declared) {
    Shape shape;
    auto dims = *inputShapes.getDims(input.name);
    for (AffineExpr dim : dims)
      shape.push_back(Dim(dim));
    tensors.push_back(graph.input(input.name, shape, input.type));
  }
  inputShapes.checkOptions();
  return tensors;
}

SmallVector<Tensor, 4> ModelContext::tokenInputs(ArrayRef<std::string> names) {
  SmallVector<Input> declared;
  for (const std::string &name : names)
    declared.push_back(declareTokens(name));
  SmallVector<Tensor, 4> tensors = inputs(declared);
  requireTokens(tensors.front());
  return tensors;
}

ModelContext::Input ModelContext::declareTokens(const std::string &name) const {
  bool isSingle = numSequences > 1 || runs == Runs::single;
  return {name,
          {context ? DeclaredDim{"", numSequences} : DeclaredDim{"batch"},
           isSingle ? DeclaredDim{"", 1} : DeclaredDim{"length"}},
          DType::i64};
}

ModelContext::Input ModelContext::declareForFirstRun(const std::string &name, ArrayRef<int64_t> shape,
                                                     DType type) const {
  std::vector<DeclaredDim> dims;
  dims.push_back(!context ? DeclaredDim{"batch"} : DeclaredDim{"", runs == Runs::any ? 1 : 0});
  for (int64_t size : shape)
    dims.push_back({"", size});
  return {name, dims, type};
}

void ModelContext::requireTokens(const Tensor &ids) {
  if (context)
    graph.require(ids.dim(1) - 1, "there are no new tokens");
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Tensor ModelContext::storedWeight(const std::string &name, ArrayRef<int64_t> shape) {
  ElementsAttr elements = checkpoint.get(prefix + name, shape);
  return elements ? graph.weight(prefix + name, elements) : graph.missing();
}

Tensor ModelContext::weight(const std::string &name, ArrayRef<int64_t> shape) {
  Tensor stored = storedWeight(name, shape);
  return stored ? cast(stored, DType::f32) : stored;
}

Tensor ModelContext::linear(const Tensor &x, const std::string &name, int64_t in, int64_t out, bool hasBias) {
  Scope scope(*this, name);
  QuantizedMatrix read = matrix(in, out);
  Tensor ordered = read.order.getGraph() ? gather(x, read.order, -1) : x;
  return graph::linear(ordered, read.matrix, hasBias ? weight("bias", out) : Tensor());
}

Tensor ModelContext::layerNorm(const Tensor &x, const std::string &name, int64_t size, double epsilon) {
  Scope scope(*this, name);
  // Older files call them so.
  bool isOld = !hasWeight("weight") && hasWeight("gamma");
  Tensor scale = weight(isOld ? "gamma" : "weight", size);
  return graph::layerNorm(x, scale, weight(isOld ? "beta" : "bias", size), epsilon);
}

Tensor ModelContext::rmsNorm(const Tensor &x, const std::string &name, int64_t size, double epsilon) {
  Scope scope(*this, name);
  return graph::rmsNorm(x, weight("weight", size), epsilon);
}

Tensor ModelContext::gated(const Tensor &x, const std::string &name, int64_t hidden, int64_t intermediate,
                           Activation activation, bool hasBias) {
  Scope scope(*this, name);
  Tensor gates = activation(linear(x, "gate_proj", hidden, intermediate, hasBias));
  Tensor wide = gates * linear(x, "up_proj", hidden, intermediate, hasBias);
  return linear(wide, "down_proj", intermediate, hidden, hasBias);
}

Tensor ModelContext::embedding(const Tensor &ids, const std::string &name, int64_t count, int64_t width) {
  Scope scope(*this, name);
  return graph::embedding(weight("weight", {count, width}), ids);
}

Tensor ModelContext::positions(const Dim &length, const std::string &name, int64_t count, int64_t width) {
  Scope scope(*this, name);
  Tensor table = weight("weight", {count, width});
  if (context > count)
    refuse("a context of " + Twine(context) + " tokens is more than the " + Twine(count) + " positions of the model");
  SmallVector<Tensor> rows;
  forEachSequence([&] {
    requireLength(getPast() + length, name, count);
    rows.push_back(slice(table, 0, getPast(), length));
  });
  return numSequences == 1 ? rows.front() : reshape(concat(rows, 0), {numSequences, length, width});
}

void ModelContext::forEachSequence(llvm::function_ref<void()> body) {
  assert(sequence == 0 && "sequences are independent of each other");
  for (; sequence < numSequences; ++sequence)
    body();
  sequence = 0;
}

Tensor ModelContext::forSequences(ArrayRef<Tensor> batches, llvm::function_ref<Tensor(ArrayRef<Tensor> parts)> body) {
  if (numSequences == 1)
    return body(batches);
  SmallVector<Tensor> results;
  forEachSequence([&] {
    SmallVector<Tensor> parts;
    for (const Tensor &batch : batches)
      parts.push_back(slice(batch, 0, sequence, 1));
    results.push_back(body(parts));
  });
  return concat(results, 0);
}

Tensor ModelContext::keep(const Tensor &x, const std::string &name) {
  if (!context || !bool(x))
    return x;
  // A session has a slot for each sequence, and slots begin and end independently.
  int64_t heads = x.dim(1).getNumber(), size = x.dim(3).getNumber();
  State state =
      graph.growingState(prefix + name, {context, 1, heads, size}, withSequence("past"), contextType, sequence);
  state.append(getPast(), cast(transpose(x, {2, 0, 1, 3}), contextType));
  return cast(transpose(state.read(getPast() + x.dim(2)), {1, 2, 0, 3}), DType::f32);
}

Tensor ModelContext::keepOfFirstRun(const std::string &name, ArrayRef<int64_t> shape,
                                    llvm::function_ref<Tensor()> make) {
  if (!context)
    return make();
  State state = graph.state(prefix + name, shape, contextType, sequence);
  if (runs == Runs::any)
    state.write(0, cast(make(), contextType));
  return cast(state.read(shape.front()), DType::f32);
}

Tensor ModelContext::takeAsked(const Tensor &x) {
  if (!context)
    return x;
  return reshape(slice(x, 1, x.dim(1) - 1, 1), {x.dim(0), x.dim(2)});
}

void ModelContext::requireLength(const Dim &length, const std::string &name, int64_t count) {
  if (length.isNumber() && length.getNumber() > count)
    refuse("a length of " + length.toString() + " is more than the " + Twine(count) + " positions of the model");
  else
    graph.require(Dim(count) - length, "'" + name + "' has " + Twine(count) + " positions, the input is longer");
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

Tensor huggingface::takeFirst(const Tensor &x) { return reshape(slice(x, 1, 0, 1), {x.dim(0), x.dim(2)}); }

Tensor huggingface::splitHeads(const Tensor &x, int64_t heads) {
  return transpose(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

Tensor huggingface::mergeHeads(const Tensor &x) {
  return reshape(transpose(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

void huggingface::checkKeyHeads(const Config &config, int64_t heads, int64_t keyHeads, int64_t headSize) {
  Report &report = config.getReport();
  if (heads % keyHeads != 0)
    report.add(ImportFault::invalidModel, "config.json: 'num_attention_heads' is " + Twine(heads) +
                                              ", which 'num_key_value_heads', " + Twine(keyHeads) +
                                              ", does not divide");
  if (headSize % 2 != 0)
    report.add(ImportFault::invalidModel,
               "config.json: a head has " + Twine(headSize) + " features, but rotary positions need pairs");
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static Tensor geluTanh(const Tensor &x) { return gelu(x, /*tanh=*/true); }
static Tensor geluErf(const Tensor &x) { return gelu(x); }

static constexpr std::pair<const char *, Activation> kActivations[] = {
    {"gelu", geluErf},     {"gelu_fast", geluTanh}, {"gelu_new", geluTanh}, {"gelu_pytorch_tanh", geluTanh},
    {"relu", relu},        {"sigmoid", sigmoid},    {"silu", silu},         {"swish", silu},
    {"tanh", graph::tanh},
};

Activation huggingface::readActivation(const Config &config, const std::string &key, const std::string &otherwise) {
  std::string wanted = config.getString(key, otherwise), known;
  for (auto [name, activation] : kActivations) {
    if (wanted == name)
      return activation;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  config.reportUnsupported(key, wanted, known);
  return nullptr;
}
