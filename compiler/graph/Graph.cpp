//===- Graph.cpp - dimensions, tensors, and the graph that holds them -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Graph.h"
#include "compiler/graph/Apply.h"
#include "compiler/graph/Elements.h"
#include "compiler/graph/GraphBuilder.h"
#include "compiler/graph/RandomSource.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::graph;

Type graph::getType(MLIRContext *context, DType type) {
  Builder b(context);
  switch (type) {
  case DType::boolean:
    return b.getI1Type();
  case DType::i8:
    return b.getI8Type();
  case DType::i16:
    return b.getI16Type();
  case DType::i32:
    return b.getI32Type();
  case DType::i64:
    return b.getI64Type();
  case DType::u8:
    return b.getIntegerType(8, false);
  case DType::u16:
    return b.getIntegerType(16, false);
  case DType::u32:
    return b.getIntegerType(32, false);
  case DType::u64:
    return b.getIntegerType(64, false);
  case DType::f16:
    return b.getF16Type();
  case DType::bf16:
    return b.getBF16Type();
  case DType::f32:
    return b.getF32Type();
  case DType::f64:
    return b.getF64Type();
  }
  llvm_unreachable("every type has a case");
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

Dim::Dim(AffineExpr expr) : expr(expr) {
  if (std::optional<int64_t> constant = getConstant(expr)) {
    this->expr = {};
    number = *constant;
  }
}

AffineExpr Dim::getExpr(MLIRContext *context) const {
  assert((!expr || expr.getContext() == context) && "dimensions of one graph are of one context");
  return expr ? expr : getDimConstant(context, number);
}

std::string Dim::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (expr)
    printDim(os, expr);
  else
    os << number;
  return text;
}

namespace tenon::graph {

#define TENON_DIM_OPERATOR(OP, NUMBER, EXPR)                                                                           \
  Dim operator OP(const Dim &a, const Dim &b) {                                                                        \
    if (a.isNumber() && b.isNumber())                                                                                  \
      return NUMBER;                                                                                                   \
    MLIRContext *context = (a.expr ? a.expr : b.expr).getContext();                                                    \
    return Dim(EXPR(a.getExpr(context), b.getExpr(context)));                                                          \
  }
TENON_DIM_OPERATOR(+, a.number + b.number, addDims)
TENON_DIM_OPERATOR(-, a.number - b.number, subDims)
TENON_DIM_OPERATOR(*, (a.number * b.number), mulDims)
TENON_DIM_OPERATOR(/, llvm::divideFloorSigned(a.number, b.number), divDims)
TENON_DIM_OPERATOR(%, llvm::mod(a.number, b.number), modDims)
#undef TENON_DIM_OPERATOR

} // namespace tenon::graph

static Dims toDims(MLIRContext *context, ShapeRef shape) {
  Dims dims;
  for (const Dim &dim : shape)
    dims.push_back(dim.getExpr(context));
  return dims;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

int64_t Tensor::rank() const { return GraphBuilder::rank(value); }

Dim Tensor::dim(int64_t axis) const {
  axis += axis < 0 ? rank() : 0;
  return axis >= 0 && axis < rank() ? Dim(getDim(value, axis)) : Dim(1);
}

Shape Tensor::shape() const {
  Shape shape;
  for (AffineExpr dim : GraphBuilder::dims(value))
    shape.push_back(Dim(dim));
  return shape;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

struct Graph::Parts {
  explicit Parts(MLIRContext *context) : builder(context) {}

  OpBuilder builder;
  func::FuncOp function;
  std::string place; ///< the names of the scopes, joined
  llvm::SmallVector<StringAttr> inputs, outputs;
  llvm::SmallVector<Value> results;
  llvm::MapVector<StringAttr, std::pair<int64_t, int64_t>> ranges;
  llvm::MapVector<AffineExpr, std::string> requirements;
  int64_t randomStreams = 0; ///< those of the run's seed that are taken
};

Graph::Graph(MLIRContext *context, StringRef name) : context(context) {
  context->getOrLoadDialect<TenonDialect>();
  context->getOrLoadDialect<func::FuncDialect>();
  parts = std::make_unique<Parts>(context);
  Location loc = NameLoc::get(StringAttr::get(context, name));
  module = ModuleOp::create(loc);
  module.get()->setAttr(kModelAttr, StringAttr::get(context, name));
  OpBuilder &b = parts->builder;
  b.setInsertionPointToStart(module->getBody());
  parts->function = func::FuncOp::create(b, loc, "main", b.getFunctionType({}, {}));
  b.setInsertionPointToStart(parts->function.addEntryBlock());
  builder = std::make_unique<GraphBuilder>(b, loc);
}

Graph::~Graph() = default;

void Graph::moveTo(StringRef place) {
  parts->place = place.str();
  builder->setLoc(place.empty() ? parts->function.getLoc() : NameLoc::get(StringAttr::get(context, place)));
}

Graph::Scope::Scope(Graph &graph, const Twine &name) : graph(graph), before(graph.parts->place) {
  graph.moveTo(before.empty() ? name.str() : (before + "." + name).str());
}
Graph::Scope::~Scope() { graph.moveTo(before); }

bool Graph::hasFailed() const { return builder->hasFailed(); }
void Graph::fail(const Twine &text) { builder->fail(text); }

Tensor Graph::missing() {
  builder->setFailed();
  return Tensor(*this, {});
}

OpBuilder &Graph::getOpBuilder() { return parts->builder; }

bool Graph::checkVisible(const Tensor &tensor) {
  if (!tensor.getValue())
    return true;
  bool isVisible = tensor.getValue().getParentRegion()->isAncestor(parts->builder.getInsertionBlock()->getParent());
  if (!isVisible)
    fail("uses a tensor of a branch or a loop outside of it; only its results are there");
  return isVisible;
}

//===----------------------------------------------------------------------===//
// Dimensions of a graph
//===----------------------------------------------------------------------===//

Dim Graph::symbol(StringRef name) { return Dim(getDimSymbol(context, name)); }

void Graph::setRange(StringRef symbol, int64_t min, int64_t max) {
  if (min < 0 || max < min)
    return fail("symbol '" + symbol + "' cannot have the range " + Twine(min) + ".." + Twine(max));
  parts->ranges[StringAttr::get(context, symbol)] = {min, max};
}

void Graph::require(const Dim &notNegative, const Twine &otherwise) {
  if (!notNegative.isNumber())
    parts->requirements.try_emplace(notNegative.getExpr(context), otherwise.str());
  else if (notNegative.getNumber() < 0)
    fail(otherwise);
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

Tensor Graph::input(StringRef name, ShapeRef shape, DType type) {
  StringAttr nameAttr = StringAttr::get(context, name);
  if (llvm::is_contained(parts->inputs, nameAttr))
    fail("has two inputs named '" + name + "'");
  for (const Dim &dim : shape)
    if (dim.isNumber() && dim.getNumber() < 0)
      fail("input '" + name + "' has a dimension of " + Twine(dim.getNumber()));
  if (hasFailed())
    return missing();
  parts->inputs.push_back(nameAttr);
  RankedTensorType tensor = getTensorType(toDims(context, shape), getType(context, type));
  return Tensor(*this, parts->function.getBody().addArgument(tensor, NameLoc::get(nameAttr)));
}

Tensor Graph::weight(StringRef name, ArrayRef<int64_t> shape, ArrayRef<float> values) {
  int64_t count = 1;
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > kMaxElements) {
      fail("weight '" + name + "' has a negative dimension, or more than 2^40 elements");
      return missing();
    }
  if (static_cast<size_t>(count) != values.size()) {
    fail("weight '" + name + "' needs " + Twine(count) + " elements for its shape, found " + Twine(values.size()));
    return missing();
  }
  auto type = RankedTensorType::get(shape, Float32Type::get(context));
  // The copy is shared, so that it lives as long as the context's resource.
  auto copy = std::make_shared<std::vector<float>>(values.begin(), values.end());
  ArrayRef<char> bytes(reinterpret_cast<const char *>(copy->data()), copy->size() * sizeof(float));
  return weight(name, makeElements(type, bytes, copy, name));
}

Tensor Graph::weight(StringRef name, ElementsAttr elements) { return Tensor(*this, builder->weight(elements, name)); }

Tensor Graph::scalar(double value, DType type) { return Tensor(*this, builder->scalar(value, getType(context, type))); }
Tensor Graph::vector(ArrayRef<double> values, DType type) {
  return Tensor(*this, builder->constantFloats(values, static_cast<int64_t>(values.size()), getType(context, type)));
}
Tensor Graph::size(const Dim &dim, DType type) {
  return Tensor(*this, builder->size(dim.getExpr(context), getType(context, type)));
}
Tensor Graph::iota(ShapeRef shape, int64_t axis, DType type) {
  return Tensor(*this, builder->iota(toDims(context, shape), axis, getType(context, type)));
}

Tensor Graph::causalMask(const Dim &queries, const Dim &keys, int64_t window) {
  Tensor query = iota({queries, 1}, 0), key = iota({1, keys}, 1);
  if (!(queries == keys))
    query = query + size(keys - queries);
  Tensor sees = key <= query;
  return window == 0 ? sees : sees & (query - key < window);
}

void Graph::setSequences(int64_t count) {
  if (count < 2)
    return fail("cannot have runs of " + Twine(count) + " sequences; several are 2 or more");
  parts->function->setAttr(kSequencesAttr, parts->builder.getI64IntegerAttr(count));
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

Tensor Graph::makeRandom(ShapeRef shape, DType type, std::optional<int64_t> seed, bool isNormal) {
  Type element = getType(context, type);
  if (!isa<FloatType>(element))
    fail("random numbers are floats, not integers");
  if (hasFailed())
    return missing();
  Value key = seed ? builder->constantInts(*seed, {}, builder->i64()) : builder->runSeed();
  int64_t stream = seed ? 0 : std::exchange(parts->randomStreams, parts->randomStreams + RandomSource::kStreams);
  RandomSource source(*builder, key, stream);
  Dims dims = toDims(context, shape);
  return Tensor(*this, isNormal ? source.normal(dims, element) : source.uniform(dims, element));
}

Tensor Graph::randomUniform(ShapeRef shape, double low, double high, DType type, std::optional<int64_t> seed) {
  return makeRandom(shape, type, seed, /*isNormal=*/false) * (high - low) + low;
}

Tensor Graph::randomUniform(ShapeRef shape, const Tensor &key, DType type) {
  return apply(key, [&](GraphBuilder &b) {
    return RandomSource(b, key.getValue(), /*firstStream=*/0).uniform(toDims(context, shape), getType(context, type));
  });
}

Tensor Graph::randomNormal(ShapeRef shape, double mean, double deviation, DType type, std::optional<int64_t> seed) {
  return cast(makeRandom(shape, type, seed, /*isNormal=*/true) * deviation + mean, type);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Graph::output(StringRef name, const Tensor &value) {
  StringAttr nameAttr = StringAttr::get(context, name);
  if (value.getGraph() != this)
    fail("output '" + name + "' is a tensor of another graph, or of none");
  if (llvm::is_contained(parts->outputs, nameAttr))
    fail("has two outputs named '" + name + "'");
  if (hasFailed() || !checkVisible(value))
    return;
  parts->outputs.push_back(nameAttr);
  parts->results.push_back(value.getValue());
}

OwningOpRef<ModuleOp> Graph::finish() {
  if (parts->results.empty())
    fail("has no output");
  if (hasFailed())
    return {};
  func::FuncOp function = parts->function;
  OpBuilder &b = parts->builder;
  func::ReturnOp::create(b, function.getLoc(), parts->results);
  function.setFunctionType(
      b.getFunctionType(function.getBody().getArgumentTypes(), TypeRange(ValueRange(parts->results))));
  for (auto [i, name] : llvm::enumerate(parts->inputs))
    function.setArgAttr(i, kNameAttr, name);
  for (auto [i, name] : llvm::enumerate(parts->outputs))
    function.setResultAttr(i, kNameAttr, name);
  SmallVector<NamedAttribute> ranges;
  for (auto [symbol, range] : parts->ranges)
    ranges.push_back(b.getNamedAttr(symbol, b.getDenseI64ArrayAttr({range.first, range.second})));
  if (!ranges.empty())
    module.get()->setAttr(kRangesAttr, b.getDictionaryAttr(ranges));
  if (!parts->requirements.empty()) {
    Dims dims;
    SmallVector<StringRef> texts;
    for (const auto &[dim, text] : parts->requirements) {
      dims.push_back(dim);
      texts.push_back(text);
    }
    module.get()->setAttr(kRequiresAttr, ShapeAttr::get(context, dims));
    module.get()->setAttr(kRequiresTextAttr, b.getStrArrayAttr(texts));
  }
  builder->setFailed(); // Nothing may be added any more.
  return std::move(module);
}
