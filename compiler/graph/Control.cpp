//===- Control.cpp - branches and loops of a graph ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Apply.h"
#include "compiler/graph/GraphBuilder.h"
#include "compiler/graph/Regions.h"

#include <cassert>

using namespace mlir;
using namespace tenon;
using namespace tenon::graph;

/// As many empty tensors, after a failure.
static Tensors makeMissing(Graph &graph, size_t count) { return Tensors(count, graph.missing()); }

static std::string describeType(const Tensor &x) {
  std::string text;
  llvm::raw_string_ostream(text) << x.getValue().getType();
  return text;
}

/// Whether a tensor has rank 0 and elements of some kind; reports where it does not.
static bool checkScalar(Graph &graph, const Tensor &x, bool isBoolean, const Twine &what) {
  if (findGraph(x) != &graph)
    graph.fail(x.getGraph() ? "has operands of two graphs" : "has an empty tensor as an operand");
  if (graph.hasFailed() || !graph.checkVisible(x))
    return false;
  GraphBuilder &b = graph.getBuilder();
  bool fits = isBoolean ? b.isBool(x.getValue()) : b.isInteger(x.getValue());
  if (!fits || x.rank() != 0)
    graph.fail(what + " is one " + (isBoolean ? "boolean" : "integer") + " of rank 0, found " + describeType(x));
  return !graph.hasFailed();
}

/// Returns the values that a body yields; none if the body or something before it has failed.
static std::optional<SmallVector<Value>> getYielded(Graph &graph, ArrayRef<Tensor> tensors) {
  for (const Tensor &tensor : tensors)
    if (tensor.getGraph() != &graph)
      graph.fail(tensor.getGraph() ? "has operands of two graphs" : "has an empty tensor as an operand");
    else if (!graph.hasFailed())
      graph.checkVisible(tensor);
  if (graph.hasFailed())
    return std::nullopt;
  SmallVector<Value> values;
  for (const Tensor &tensor : tensors)
    values.push_back(tensor.getValue());
  return values;
}

static Tensors toTensors(Graph &graph, ArrayRef<Value> values) {
  Tensors tensors;
  for (Value value : values)
    tensors.push_back(Tensor(graph, value));
  return tensors;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Reports an error if the results of two branches have different types.
static void checkBranches(Graph &graph, ArrayRef<Tensor> first, ArrayRef<Tensor> second) {
  if (first.size() != second.size())
    return graph.fail("has branches of " + Twine(first.size()) + " and " + Twine(second.size()) + " results");
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(first, second))) {
    auto [x, y] = pair;
    if (x.getValue().getType() != y.getValue().getType())
      return graph.fail("has branches whose results " + Twine(i) + " differ in type: " + describeType(x) + " and " +
                        describeType(y));
  }
}

Tensors graph::cond(const Tensor &condition, llvm::function_ref<Tensors()> then,
                    llvm::function_ref<Tensors()> otherwise) {
  Graph *graph = condition.getGraph();
  if (!graph || !checkScalar(*graph, condition, /*isBoolean=*/true, "the condition of a branch")) {
    // The first branch determines the number of results.
    Tensors results = then();
    for (Tensor &result : results) {
      if (result.getGraph()) {
        result.getGraph()->fail("has an empty tensor as its condition");
        result = result.getGraph()->missing();
      }
    }
    return results;
  }
  OpBuilder &builder = graph->getOpBuilder();
  Location loc = graph->getBuilder().getLoc();
  std::optional<BodyBuilder> bodies[2];
  Tensors made[2];
  llvm::function_ref<Tensors()> makers[] = {then, otherwise};
  for (int i = 0; i < 2; ++i) {
    bodies[i].emplace(builder, loc);
    made[i] = makers[i]();
    if (std::optional<SmallVector<Value>> yielded = getYielded(*graph, made[i]))
      bodies[i]->finish(*yielded);
    else
      break;
  }
  if (!graph->hasFailed())
    checkBranches(*graph, made[0], made[1]);
  RegionResults results;
  if (!graph->hasFailed()) {
    SmallVector<Type> types;
    for (const Tensor &tensor : made[0])
      types.push_back(tensor.getValue().getType());
    results = createIf(builder, loc, condition.getValue(), types, {}, *bodies[0], *bodies[1]);
  }
  if (results)
    return toTensors(*graph, *results);
  for (std::optional<BodyBuilder> *body : {&bodies[1], &bodies[0]})
    if (*body)
      (*body)->abandon();
  return makeMissing(*graph, made[0].size());
}

/// Wraps a function that returns a tensor as one that returns a list.
static auto listOf(llvm::function_ref<Tensor()> make) {
  return [make]() -> Tensors { return {make()}; };
}

Tensor graph::cond(const Tensor &condition, llvm::function_ref<Tensor()> then, llvm::function_ref<Tensor()> otherwise) {
  auto thenList = listOf(then), otherwiseList = listOf(otherwise);
  return cond(condition, llvm::function_ref<Tensors()>(thenList), llvm::function_ref<Tensors()>(otherwiseList)).front();
}

/// Selects among the branches from `first` on for an index that is at least `first`, by binary search, to minimize
/// comparisons.
static Tensors matchFrom(const Tensor &index, int64_t first, ArrayRef<std::function<Tensors()>> branches) {
  assert(!branches.empty() && "halves of two and more branches have one");
  if (branches.size() == 1)
    return branches.front()();
  size_t half = branches.size() / 2;
  int64_t middle = first + static_cast<int64_t>(half);
  auto low = [&] { return matchFrom(index, first, branches.take_front(half)); };
  auto high = [&] { return matchFrom(index, middle, branches.drop_front(half)); };
  return cond(index < static_cast<double>(middle), llvm::function_ref<Tensors()>(low),
              llvm::function_ref<Tensors()>(high));
}

Tensors graph::match(const Tensor &index, ArrayRef<std::function<Tensors()>> branches) {
  Graph *graph = index.getGraph();
  if (graph && branches.empty())
    graph->fail("has no branch to take");
  if (branches.empty())
    return {};
  if (graph)
    checkScalar(*graph, index, /*isBoolean=*/false, "what chooses a branch");
  return matchFrom(index, 0, branches);
}

Tensor graph::match(const Tensor &index, ArrayRef<std::function<Tensor()>> branches) {
  SmallVector<std::function<Tensors()>> lists;
  for (const std::function<Tensor()> &branch : branches)
    lists.push_back([&branch]() -> Tensors { return {branch()}; });
  Tensors results = match(index, lists);
  return results.empty() ? Tensor() : results.front();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// The end of a loop: a trip count, a condition, or both.
struct LoopEnd {
  Tensor trips;             ///< i64, or empty
  AffineExpr constantTrips; ///< the same where sizes decide it
  const LoopCondition *condition = nullptr;
};

} // namespace

/// Returns the condition under which a loop continues with iteration `number` and these carried tensors.
static Tensor checkGoesOn(Graph &graph, const LoopEnd &end, const Tensor &number, ArrayRef<Tensor> carried) {
  Tensor goesOn;
  if (end.trips)
    goesOn = number < end.trips;
  if (end.condition) {
    Tensor holds = (*end.condition)(carried);
    checkScalar(graph, holds, /*isBoolean=*/true, "the condition of a loop");
    goesOn = goesOn ? goesOn & holds : holds;
  }
  return goesOn;
}

/// Reports an error if a body returns tensors of other types than it received.
static void checkCarried(Graph &graph, ArrayRef<Tensor> given, ArrayRef<Tensor> next) {
  if (given.size() != next.size())
    return graph.fail("has a body that gives " + Twine(next.size()) + " tensors for the next iteration, expected " +
                      Twine(given.size()));
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(given, next))) {
    auto [before, after] = pair;
    if (before.getValue().getType() != after.getValue().getType())
      return graph.fail("carries tensor " + Twine(i) + " as " + describeType(before) + ", but its body gives " +
                        describeType(after));
  }
}

static Tensors makeLoop(Graph &graph, const LoopEnd &end, ArrayRef<Tensor> initial, LoopBody body) {
  Tensor zero = graph.scalar(0, DType::i64), runs = checkGoesOn(graph, end, zero, initial);
  std::optional<SmallVector<Value>> inits = getYielded(graph, initial);
  if (!inits)
    return makeMissing(graph, initial.size());
  inits->insert(inits->begin(), zero.getValue());
  OpBuilder &builder = graph.getOpBuilder();
  Location loc = graph.getBuilder().getLoc();
  BodyBuilder region(builder, loc);
  Tensors arguments;
  for (Value init : *inits)
    arguments.push_back(Tensor(graph, region.getBlock().addArgument(init.getType(), loc)));
  ArrayRef<Tensor> carried = ArrayRef(arguments).drop_front();
  Tensors next = body(arguments.front(), carried);
  if (getYielded(graph, next))
    checkCarried(graph, carried, next);
  RegionResults results;
  if (!graph.hasFailed()) {
    Tensor number = arguments.front() + 1;
    Tensors all{checkGoesOn(graph, end, number, next), number};
    all.append(next);
    if (std::optional<SmallVector<Value>> yielded = getYielded(graph, all)) {
      region.finish(*yielded);
      results = createLoop(builder, loc, runs.getValue(), end.constantTrips, *inits, {}, region);
    }
  }
  if (results)
    return toTensors(graph, ArrayRef(*results).drop_front());
  region.abandon();
  return makeMissing(graph, initial.size());
}

/// Returns the graph of the carried tensors; null, after an error if possible, if there is none.
static Graph *findLoopGraph(ArrayRef<Tensor> initial, const Tensor &trips) {
  SmallVector<Tensor> operands(initial);
  if (trips.getGraph())
    operands.push_back(trips);
  return findGraph(operands);
}

static Tensors runLoop(const Trips *trips, const LoopCondition *condition, ArrayRef<Tensor> initial, LoopBody body) {
  LoopEnd end{{}, {}, condition};
  const Tensor *given = trips ? std::get_if<Tensor>(trips) : nullptr;
  Graph *graph = findLoopGraph(initial, given ? *given : Tensor());
  if (!graph)
    return Tensors(initial.size(), Tensor());
  if (initial.empty())
    graph->fail("has a loop that carries no tensor");
  if (given && checkScalar(*graph, *given, /*isBoolean=*/false, "the number of trips of a loop"))
    end.trips = cast(*given, DType::i64);
  if (trips && !given) {
    const Dim &count = std::get<Dim>(*trips);
    end.trips = graph->size(count);
    end.constantTrips = count.getExpr(graph->getContext());
  }
  return graph->hasFailed() ? makeMissing(*graph, initial.size()) : makeLoop(*graph, end, initial, body);
}

Tensors graph::loop(const Trips &trips, ArrayRef<Tensor> initial, LoopBody body) {
  return runLoop(&trips, nullptr, initial, body);
}
Tensors graph::loopWhile(LoopCondition condition, ArrayRef<Tensor> initial, LoopBody body) {
  return runLoop(nullptr, &condition, initial, body);
}
Tensors graph::loop(const Trips &trips, LoopCondition condition, ArrayRef<Tensor> initial, LoopBody body) {
  return runLoop(&trips, &condition, initial, body);
}
