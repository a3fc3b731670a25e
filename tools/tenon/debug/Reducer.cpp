//===- Reducer.cpp - the smallest part of a model that still fails --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Reducer.h"
#include "tools/tenon/debug/Search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace tenon;
using namespace tenon::debug;

//===----------------------------------------------------------------------===//
// The whole and its parts
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Reducer>> Reducer::create(DebugOptions options) {
  llvm::Expected<std::unique_ptr<Comparison>> comparison = Comparison::create(options);
  if (!comparison)
    return comparison.takeError();
  if (!(*comparison)->getReference().hasValues())
    return makeError(CompileStatus::misuse,
                     "--against: " + options.against +
                         " has only outputs, but reducing a model needs its intermediate values");
  llvm::Expected<OnnxGraph> graph = OnnxGraph::read(options.compile.input);
  if (!graph)
    return graph.takeError();
  if (llvm::Error error = graph->embedExternalData())
    return error;
  std::unique_ptr<Reducer> reducer(new Reducer(std::move(options), std::move(*graph)));
  reducer->inferTypes();
  reducer->comparison = std::move(*comparison);
  Comparison &whole = *reducer->comparison;
  if (whole.getReference().kind == Reference::Kind::model) {
    llvm::Expected<OnnxGraph> other = OnnxGraph::read(whole.getReference().path);
    if (!other)
      return other.takeError();
    if (llvm::Error error = other->embedExternalData())
      return error;
    reducer->other.emplace(std::move(*other));
  }
  if (StepEnd end = whole.compile(); !end) {
    reducer->whole = {Outcome::Stage::compile, end, {}};
    return reducer;
  }
  if (StepEnd end = whole.makeInputs(); !end)
    return toError(end);
  if (Captured got = whole.runPrepared(); !got.end) {
    reducer->whole = {Outcome::Stage::run, got.end, {}};
    reducer->data = whole.keepValues(whole.listValues(), /*ofReference=*/true);
    return reducer;
  }
  llvm::Expected<CompareResult> compared = compareValues(whole, /*outputsOnly=*/false);
  if (!compared)
    return compared.takeError();
  if (compared->diverges())
    reducer->whole = {Outcome::Stage::compare, {}, Outcome::findWorst(compared->outputs)};
  reducer->data = compared->want;
  reducer->compared = std::move(*compared);
  return reducer;
}

Outcome Reducer::tryPart(const GraphPart &part) {
  Workspace &workspace = comparison->getWorkspace();
  std::string model = workspace.makePath("part.onnx");
  if (!writeModel(graph, part, model))
    return {};
  DebugOptions partOptions = getPartOptions(model);
  if (other) {
    partOptions.against = workspace.makePath("reference.onnx");
    if (!writeModel(*other, part, partOptions.against))
      return {};
  }
  llvm::Expected<std::unique_ptr<Comparison>> trial = Comparison::create(std::move(partOptions));
  if (!trial) {
    llvm::consumeError(trial.takeError());
    return {};
  }
  if (StepEnd end = (*trial)->compile(); !end)
    return {Outcome::Stage::compile, end, {}};
  if (whole.stage == Outcome::Stage::compile)
    return {};
  std::string inputs = workspace.makeFolder("inputs");
  if (llvm::Error error = captureInputs(model, inputs)) {
    llvm::consumeError(std::move(error));
    return {};
  }
  if (!(*trial)->takeInputs(inputs))
    return {};
  Captured got = (*trial)->runPrepared();
  if (!got.end)
    return {Outcome::Stage::run, got.end, {}};
  Captured want = (*trial)->runReference();
  llvm::Expected<std::vector<ComparedValue>> outputs = (*trial)->compare(got, want, part.outputs);
  if (!outputs) {
    llvm::consumeError(outputs.takeError());
    return {};
  }
  std::optional<ComparedValue> worst = Outcome::findWorst(*outputs);
  return worst ? Outcome{Outcome::Stage::compare, {}, worst} : Outcome();
}

bool Reducer::fails(const GraphPart &part) {
  std::string key = llvm::join(part.inputs, "\n") + "\n\n" + llvm::join(part.outputs, "\n");
  auto [it, isNew] = tried.try_emplace(key, false);
  if (!isNew)
    return it->second;
  Outcome outcome = tryPart(part);
  it->second = outcome.isLike(whole);
  if (it->second)
    last = std::move(outcome);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// Returns the values that the first `count` nodes define and do not read.
static std::vector<std::string> listLeaves(const OnnxGraph &graph, size_t count) {
  llvm::StringSet<> read;
  for (size_t node = 0; node < count; ++node)
    for (const std::string &name : graph.listReads(node))
      read.insert(name);
  std::vector<std::string> leaves;
  for (const GraphValue &value : graph.getValues())
    if (value.nodeIndex < count && !read.contains(value.name))
      leaves.push_back(value.name);
  return leaves;
}

/// The values that one node makes.
static std::vector<std::string> listResults(const OnnxGraph &graph, size_t node) {
  std::vector<std::string> results;
  for (const GraphValue &value : graph.getValues())
    if (value.nodeIndex == node)
      results.push_back(value.name);
  return results;
}

llvm::Expected<GraphPart> Reducer::findStart() {
  std::vector<size_t> all(graph.getNodeCount());
  std::iota(all.begin(), all.end(), 0);
  auto makeWhole = [&](std::vector<std::string> outputs) { return graph.makePart(all, std::move(outputs)); };
  std::vector<GraphPart> starts;
  if (whole.stage != Outcome::Stage::compare) {
    // Finds the first node with which the model fails, alone or together with everything that does not depend on it.
    size_t count =
        findFirstFailing(0, graph.getNodeCount(), [&](size_t n) { return fails(makeWhole(listLeaves(graph, n))); });
    starts = {makeWhole(listResults(graph, count - 1)), makeWhole(listLeaves(graph, count))};
  } else {
    // Adds the first wrong value, or else an output that is wrong if nothing else is captured.
    auto add = [&](const ComparedValue *value) {
      if (value && graph.findValue(value->value))
        starts.push_back(makeWhole({value->value}));
      else if (value && graph.findInnerValue(value->value))
        starts.push_back(makeWhole(listResults(graph, value->nodeIndex)));
    };
    add(compared->getFirst());
    add(compared->firstWrong ? &*compared->firstWrong : nullptr);
    add(whole.worst ? &*whole.worst : nullptr);
  }
  starts.push_back(makeWhole(graph.listOutputs()));
  for (GraphPart &start : starts)
    if (fails(start))
      return std::move(start);
  return makeError(CompileStatus::unsupported, options.compile.input +
                                                   ": it fails as a whole, but not as a model of its nodes with the "
                                                   "sizes of its inputs; it cannot be reduced");
}

GraphPart Reducer::cutInputs(const GraphPart &part) {
  std::vector<size_t> nodes = graph.listNodes(part);
  auto drop = [&](size_t n) { return graph.makePart(llvm::ArrayRef(nodes).drop_front(n), part.outputs); };
  // At least the node of the output is left.
  if (nodes.size() < 2)
    return part;
  if (GraphPart single = drop(nodes.size() - 1); fails(single))
    return single;
  size_t tooMany = findFirstFailing(0, nodes.size() - 1, [&](size_t n) { return !fails(drop(n)); });
  return drop(tooMany - 1);
}

GraphPart Reducer::dropNodes(const GraphPart &part) {
  std::vector<size_t> nodes = graph.listNodes(part);
  auto keep = [&](const std::vector<size_t> &kept) {
    std::vector<size_t> chosen;
    for (size_t i : kept)
      chosen.push_back(nodes[i]);
    return graph.makePart(chosen, part.outputs);
  };
  auto isFailing = [&](const std::vector<size_t> &kept) {
    GraphPart smaller = keep(kept);
    return !graph.listNodes(smaller).empty() && fails(smaller);
  };
  return keep(minimize(nodes.size(), isFailing));
}

llvm::Error Reducer::reduce() {
  llvm::Expected<GraphPart> start = findStart();
  if (!start)
    return start.takeError();
  smallest = dropNodes(cutInputs(*start));
  // `last` belongs to the part that failed last, which need not be this one.
  last = tryPart(smallest);
  return llvm::Error::success();
}
