//===- Forest.cpp - decision trees as tables ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/Forest.h"
#include "llvm/ADT/STLExtras.h"
#include <array>
#include <cassert>

using namespace tenon::onnx_import;

using Ints = llvm::SmallVector<int64_t>;

static std::array<int64_t, 2> getChildren(const Forest &f, int64_t node) { return {f.ifTrue[node], f.ifFalse[node]}; }

/// Detects cycles by repeatedly removing nodes without predecessors; a tree walk terminates only if there are no
/// cycles.
bool tenon::onnx_import::hasCycle(const Forest &f) {
  Ints incoming(f.features.size(), 0), free;
  for (size_t node = 0; node < f.features.size(); ++node)
    if (!f.isLeaf(node))
      for (int64_t child : getChildren(f, node))
        ++incoming[child];
  for (size_t node = 0; node < incoming.size(); ++node)
    if (incoming[node] == 0)
      free.push_back(node);
  size_t taken = 0;
  for (; taken < free.size(); ++taken)
    if (!f.isLeaf(free[taken]))
      for (int64_t child : getChildren(f, free[taken]))
        if (--incoming[child] == 0)
          free.push_back(child);
  return taken < incoming.size();
}

LeafTable tenon::onnx_import::makeLeafTable(const Forest &f) {
  LeafTable table;
  Ints counts(f.leafCount, 0);
  for (const LeafScore &score : f.scores)
    table.width = std::max(table.width, ++counts[score.leaf]);
  table.targets.assign(f.leafCount * table.width, -1);
  table.weights.assign(f.leafCount * table.width, 0);
  counts.assign(f.leafCount, 0);
  for (const LeafScore &score : f.scores) {
    int64_t place = score.leaf * table.width + counts[score.leaf]++;
    table.targets[place] = score.target;
    table.weights[place] = score.weight;
  }
  return table;
}

bool tenon::onnx_import::isDense(const Forest &f, int64_t targets) {
  int64_t entries;
  return !__builtin_mul_overflow(f.leafCount, targets, &entries) &&
         entries <= 4096 + 4 * static_cast<int64_t>(f.scores.size());
}

/// Adds a score to a weight that starts at 0, and replaces any other start value.
static void enter(double &weight, double start, double score) { weight = start == 0 ? weight + score : score; }

std::vector<double> tenon::onnx_import::makeDenseWeights(const Forest &f, int64_t targets, double start) {
  assert(targets > 0 && "a forest has a score");
  std::vector<double> weights(f.leafCount * targets, start);
  for (const LeafScore &score : f.scores)
    enter(weights[score.leaf * targets + score.target], start, score.weight);
  return weights;
}

//===----------------------------------------------------------------------===//
// Trees of one target
//===----------------------------------------------------------------------===//

/// The target of the leaves below a node, if there is none, or several, or if it is unknown.
static constexpr int64_t kNothing = -1, kSeveral = -2, kUnknown = -3;

static int64_t join(int64_t a, int64_t b) { return a == b || b == kNothing ? a : a == kNothing ? b : kSeveral; }

/// Returns the target of the leaves below each node that is reachable from a root.
static Ints findTargets(const Forest &f) {
  Ints ofLeaf(f.leafCount, kNothing), ofNode(f.features.size(), kUnknown), path;
  for (const LeafScore &score : f.scores)
    ofLeaf[score.leaf] = join(ofLeaf[score.leaf], score.target);
  for (int64_t root : f.roots) {
    // Sets create chains of nodes that are too long for recursion.
    path.assign(1, root);
    while (!path.empty()) {
      int64_t node = path.back();
      if (f.isLeaf(node)) {
        ofNode[node] = ofLeaf[f.leafOf[node]];
      } else {
        auto [yes, no] = getChildren(f, node);
        if (int64_t next = ofNode[yes] == kUnknown ? yes : no; ofNode[next] == kUnknown) {
          path.push_back(next);
          continue;
        }
        ofNode[node] = join(ofNode[yes], ofNode[no]);
      }
      path.pop_back();
    }
  }
  return ofNode;
}

std::optional<TreesByTarget> tenon::onnx_import::groupByTarget(Forest &f, int64_t targets, double start) {
  assert(targets > 0 && !f.roots.empty() && "checkForest refuses forests without trees");
  Ints targetOf = findTargets(f);
  if (targets > static_cast<int64_t>(f.roots.size()) ||
      llvm::any_of(f.roots, [&](int64_t root) { return targetOf[root] == kSeveral; }))
    return std::nullopt;
  std::vector<Ints> trees(targets);
  size_t places = 1;
  for (int64_t root : f.roots)
    if (targetOf[root] != kNothing) {
      trees[targetOf[root]].push_back(root);
      places = std::max(places, trees[targetOf[root]].size());
    }
  if (places * targets > 2 * f.roots.size())
    return std::nullopt;
  bool hasGaps = llvm::any_of(trees, [&](const Ints &list) { return list.size() < places; });
  int64_t nothing = hasGaps ? f.addLeaf() : 0;
  TreesByTarget grouped{targets, {}, std::vector<double>(f.features.size(), start)};
  for (size_t place = 0; place < places; ++place)
    for (const Ints &list : trees)
      grouped.roots.push_back(place < list.size() ? list[place] : nothing);
  Ints nodeOf(f.leafCount);
  assert(grouped.weights.size() == f.features.size() && grouped.roots.size() == places * targets &&
         "a node has a weight, and each target the same number of places");
  for (size_t node = 0; node < f.features.size(); ++node)
    if (f.isLeaf(node))
      nodeOf[f.leafOf[node]] = node;
  for (const LeafScore &score : f.scores)
    enter(grouped.weights[nodeOf[score.leaf]], start, score.weight);
  return grouped;
}
