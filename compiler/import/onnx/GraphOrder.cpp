//===- GraphOrder.cpp - checks that nodes form a graph, and orders them ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/GraphOrder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <onnx/onnx_pb.h>
#include <queue>

using namespace llvm;
using namespace tenon;
using onnx::GraphProto;
using onnx::NodeProto;

namespace {

using NameSet = SetVector<StringRef>;

void collectOuterNames(const GraphProto &graph, NameSet &names, int depth);

/// Collects the names that a node reads, including those that its subgraphs read.
void collectReads(const NodeProto &node, NameSet &names, int depth) {
  for (const std::string &name : node.input())
    if (!name.empty())
      names.insert(name);
  for (const auto &attr : node.attribute()) {
    if (attr.has_g())
      collectOuterNames(attr.g(), names, depth + 1);
    for (const GraphProto &graph : attr.graphs())
      collectOuterNames(graph, names, depth + 1);
  }
}

/// Collects the names that a graph reads and does not define.
void collectOuterNames(const GraphProto &graph, NameSet &names, int depth) {
  StringSet<> own;
  for (const auto &input : graph.input())
    own.insert(input.name());
  for (const auto &tensor : graph.initializer())
    own.insert(tensor.name());
  for (const NodeProto &node : graph.node())
    for (const std::string &name : node.output())
      own.insert(name);
  NameSet reads;
  for (const NodeProto &node : graph.node())
    collectReads(node, reads, depth);
  for (const auto &output : graph.output())
    reads.insert(output.name());
  for (StringRef name : reads)
    if (!own.contains(name))
      names.insert(name);
}

std::string getShownName(const NodeProto &node) {
  return "'" + (node.name().empty() && node.output_size() ? node.output(0) : node.name()) + "'";
}

class Orderer {
public:
  /// `isTaken` says which of the defined names no node may define again.
  Orderer(const google::protobuf::RepeatedPtrField<NodeProto> &nodes, function_ref<bool(StringRef)> isDefined,
          function_ref<bool(StringRef)> isTaken, function_ref<void(int, const std::string &)> onError)
      : nodes(nodes), isDefined(isDefined), isTaken(isTaken), onError(onError) {}

  SmallVector<int> run() {
    findMakers();
    readers.resize(nodes.size());
    missing.resize(nodes.size());
    for (int i = 0; i < nodes.size(); ++i)
      link(i);
    SmallVector<int> order = sort();
    if (order.size() < static_cast<size_t>(nodes.size()))
      reportCycle();
    return order;
  }

private:
  void findMakers() {
    for (int i = 0; i < nodes.size(); ++i)
      for (const std::string &name : nodes[i].output()) {
        if (name.empty())
          continue;
        if (isTaken(name))
          onError(i, "makes '" + name + "', which is an input or an initializer already; a name is made once");
        else if (!makers.try_emplace(name, i).second)
          onError(i, "makes '" + name + "', which node " + describe(makers[name]) + " makes already");
      }
  }

  /// Makes node i wait for the nodes that it reads from.
  void link(int i) {
    NameSet reads;
    collectReads(nodes[i], reads, 0);
    SmallDenseSet<int> waitsFor;
    for (StringRef name : reads) {
      auto it = makers.find(name);
      if (it != makers.end()) {
        if (waitsFor.insert(it->second).second) {
          readers[it->second].push_back(i);
          ++missing[i];
        }
      } else if (!isDefined(name)) {
        onError(i, "reads '" + name.str() + "', which no node, input or initializer makes");
      }
    }
  }

  SmallVector<int> sort() {
    // The ready node with the lowest index comes first, so that a sorted list is unchanged.
    std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
    for (int i = 0; i < nodes.size(); ++i)
      if (missing[i] == 0)
        ready.push(i);
    SmallVector<int> order;
    while (!ready.empty()) {
      int i = ready.top();
      ready.pop();
      order.push_back(i);
      for (int reader : readers[i])
        if (--missing[reader] == 0)
          ready.push(reader);
    }
    return order;
  }

  /// Follows nodes that wait for one another until one repeats.
  void reportCycle() {
    int node = 0;
    while (missing[node] == 0)
      ++node;
    SmallVector<int> path;
    std::vector<bool> seen(nodes.size());
    while (!seen[node]) {
      seen[node] = true;
      path.push_back(node);
      NameSet reads;
      collectReads(nodes[node], reads, 0);
      for (StringRef name : reads) {
        auto it = makers.find(name);
        if (it != makers.end() && missing[it->second] > 0) {
          node = it->second;
          break;
        }
      }
    }
    std::string text = "is part of a cycle: " + describe(node);
    for (auto *it = std::prev(path.end());; --it) {
      text += " -> " + describe(*it);
      if (*it == node)
        break;
    }
    onError(node, text);
  }

  std::string describe(int i) { return getShownName(nodes[i]); }

  const google::protobuf::RepeatedPtrField<NodeProto> &nodes;
  function_ref<bool(StringRef)> isDefined, isTaken;
  function_ref<void(int, const std::string &)> onError;
  StringMap<int> makers;
  std::vector<SmallVector<int, 2>> readers;
  std::vector<int> missing;
};

} // namespace

SmallVector<StringRef> onnx_import::listReads(const NodeProto &node) {
  NameSet names;
  collectReads(node, names, 0);
  return names.takeVector();
}

SmallVector<int> onnx_import::orderNodes(const google::protobuf::RepeatedPtrField<NodeProto> &nodes,
                                         function_ref<bool(StringRef)> isDefined,
                                         function_ref<void(int, const std::string &)> onError) {
  return Orderer(nodes, isDefined, isDefined, onError).run();
}

static void checkGraph(const GraphProto &graph, function_ref<bool(StringRef)> isDefined,
                       function_ref<void(const std::string &)> onError) {
  StringSet<> given, made;
  for (const auto &input : graph.input())
    given.insert(input.name());
  for (const auto &tensor : graph.initializer())
    given.insert(tensor.name());
  for (const NodeProto &node : graph.node())
    for (const std::string &name : node.output())
      made.insert(name);
  auto isGiven = [&](StringRef name) { return given.contains(name); };
  auto isDefinedHere = [&](StringRef name) { return given.contains(name) || isDefined(name); };
  auto isVisible = [&](StringRef name) { return made.contains(name) || isDefinedHere(name); };
  Orderer(graph.node(), isDefinedHere, isGiven, [&](int i, const std::string &error) {
    onError("node " + getShownName(graph.node(i)) + " of its graph '" + graph.name() + "' " + error);
  }).run();
  for (const auto &output : graph.output())
    if (!isVisible(output.name()))
      onError("output '" + output.name() + "' of its graph '" + graph.name() + "' has no producer");
  for (const NodeProto &node : graph.node())
    onnx_import::checkNestedGraphs(node, isVisible, onError);
}

void onnx_import::checkNestedGraphs(const NodeProto &node, function_ref<bool(StringRef)> isDefined,
                                    function_ref<void(const std::string &)> onError) {
  for (const auto &attr : node.attribute()) {
    if (attr.has_g())
      checkGraph(attr.g(), isDefined, onError);
    for (const GraphProto &graph : attr.graphs())
      checkGraph(graph, isDefined, onError);
  }
}
